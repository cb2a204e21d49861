"""What looks like a mistake in a Program, and is none."""

import asyncio

import scull as paddle


def a_loop_that_widens_its_variable(x):
    while x.sum() < 10:
        x = paddle.concat([x, x])
    return x


def a_list_that_grows_by_differing_shapes(x):
    found, i = [], paddle.zeros([], "int64")
    while i < 3:
        found.append(x)
        x = paddle.concat([x, x])
        i += 1
    return paddle.concat(found)


def a_generator_that_a_tensor_stops(x):
    total = x.sum()
    for i in (j * 2 for j in range(5)):
        if total > 4:
            break
        total = total + i
    return total


def an_async_function(x):
    async def doubled():
        return x * 2

    return asyncio.run(doubled())


def a_value_asked_for(x):
    if x.sum().item() > 0:
        return x
    return -x


def a_name_set_by_one_branch_and_used_where_that_ran(x):
    if x.sum() > 0:
        y = x * 2
    if x.sum() > 0:
        x = y
    return x
