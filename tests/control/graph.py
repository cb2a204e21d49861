"""A tree as a Program: its branches and loops recorded by the functions of `static.nn`."""

from collections.abc import Callable
from functools import cache, partial
from types import CodeType
from typing import Any, NamedTuple

import scull as paddle
from scull.tensor import array_read, array_write, create_array
from tests.control.tree import (
    LIST,
    RESULTS,
    Append,
    Block,
    Both,
    Break,
    Continue,
    Denied,
    For,
    If,
    Leaf,
    Pop,
    Return,
    Set,
    Statement,
    Store,
    Test,
    Tree,
    While,
    blocks_of,
    has,
    jumps,
    raised,
    written,
)

nn = paddle.static.nn
Values = dict[str, Any]  # what the variables and flags are at a place of the program


class Items(NamedTuple):
    """The list: an array, of which so many tensors count."""

    array: Any
    length: Any

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int):
            index = whole(index) if index >= 0 else self.length + index
        return array_read(self.array, index)


def whole(value: Any) -> Any:
    """A whole number as a variable."""
    return paddle.full([], value, "int64") if isinstance(value, int) else value


def truth(value: Any) -> Any:
    """A truth value as a variable."""
    return paddle.full([], value, "bool") if isinstance(value, bool) else value


@cache
def compiled(text: str) -> CodeType:
    """An expression, ready to be computed."""
    return compile(text, text, "eval")


def computed(text: str, values: Values) -> Any:
    """What an expression is."""
    return eval(compiled(text), {"paddle": paddle, "len": lambda items: items.length}, values)


def holds(test: Test, values: Values) -> Any:
    """Whether a condition holds."""
    if isinstance(test, Leaf):
        return truth(computed(test.text, values))
    if isinstance(test, Denied):
        return paddle.logical_not(holds(test.test, values))
    join = paddle.logical_and if isinstance(test, Both) else paddle.logical_or
    return join(holds(test.left, values), holds(test.right, values))


class Recorded(NamedTuple):
    """A Program, its results, and the operands that may have gradients."""

    program: Any
    results: list[Any]
    operands: list[Any]


def program_of(tree: Tree, model_of: Callable[[Tree], Any]) -> Recorded:
    """The Program of a tree; static mode stays on."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        model = model_of(tree)()
        x = paddle.static.data("x", [3], "float64")
        y = paddle.static.data("y", [2, 3], "float64")
        x.stop_gradient = y.stop_gradient = False
        results = recorded(tree, model, x, y, paddle.static.data("n", [], "int64"))
        # A result nobody computes is an operand: each gets an operator of its own.
        results = [paddle.assign(v) for v in results]
        results.append(loss_of(results))
    return Recorded(main, results, [x, y, model.weight, model.scale])


def loss_of(results: Any) -> Any:
    """One number from the results, in which each has a weight of its own."""
    terms = [paddle.sum(v) * float(i + 1) for i, v in enumerate(results)]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def recorded(tree: Tree, model: Any, x: Any, y: Any, n: Any) -> list[Any]:
    """The results of a program, recorded where one is being written."""
    values = {"self": model, "x": x, "y": y, "n": n}
    if has(tree.body, Return):
        values["returned"] = truth(False)
    values = run(tree.start, values, "")
    values = run(tree.body, values, "")
    return [values[name] for name in RESULTS]


def run(block: Block, values: Values, loop: str) -> Values:
    """The variables after a block of the loop with the counter `loop`."""
    for i, statement in enumerate(block):
        values = values | STEPS[type(statement)](statement, values, loop)
        flags, rest = jumps(statement, loop), block[i + 1 :]
        if flags and rest:
            names = written(rest, loop)
            return values | chosen(
                [(none_of(flags, values), partial(run, rest, values, loop))],
                partial(dict, values),
                names,
                values,
            )
    return values


def none_of(flags: set[str], values: Values) -> Any:
    """That none of these flags is raised."""
    first, *others = (values[n] for n in sorted(flags))
    for flag in others:
        first = paddle.logical_or(first, flag)
    return paddle.logical_not(first)


def plain(value: Any) -> Any:
    """A value as the functions of `static.nn` know structures."""
    return list(value) if isinstance(value, Items) else value


def named(names: list[str], found: Any) -> Values:
    """What such functions gave, by names."""
    pairs = zip(names, found, strict=True)
    return {n: Items(*v) if isinstance(v, list) else v for n, v in pairs}


def chosen(
    pairs: list[tuple[Any, Callable[[], Values]]],
    otherwise: Callable[[], Values],
    names: list[str],
    values: Values,
) -> Values:
    """What the first branch whose condition holds makes of the variables with these names."""

    def results(branch: Callable[[], Values]) -> Any:
        after = branch()
        return [plain(after[n]) for n in names]

    rules = [(pred, partial(results, branch)) for pred, branch in pairs]
    last = partial(results, otherwise)
    if not names:
        return {}
    found = nn.case(rules, last) if len(rules) > 1 else nn.cond(*rules[0], last)
    return named(names, found)


def step_if(statement: If, values: Values, loop: str) -> Values:
    names = list(dict.fromkeys(n for b in blocks_of(statement) for n in written(b, loop)))
    if statement.form == "writes":
        return written_in_place(statement, values, loop, names)
    pairs = [
        (holds(test, values), partial(run, block, values, loop))
        for test, block in statement.branches
    ]
    return chosen(pairs, partial(run, statement.otherwise, values, loop), names, values)


def written_in_place(statement: If, values: Values, loop: str, names: list[str]) -> Values:
    """The same by blocks that write the variables around them."""
    kept = {n: copied(values[n]) for n in names}
    tests = [holds(test, values) for test, _ in statement.branches]
    with nn.control_flow.Switch() as switch:
        for test, (_, block) in zip(tests, statement.branches, strict=True):
            with switch.case(test):
                overwrite(kept, run(block, values | kept, loop))
        if statement.otherwise:
            with switch.default():
                overwrite(kept, run(statement.otherwise, values | kept, loop))
    return kept


def copied(value: Any) -> Any:
    """A variable that may be overwritten; an array is written in place anyway."""
    if isinstance(value, Items):
        return Items(value.array, paddle.assign(value.length))
    return paddle.assign(value)


def overwrite(kept: Values, after: Values) -> None:
    """Give the variables the values they have afterwards."""
    for name, held in kept.items():
        value = after[name]
        if isinstance(held, Items):
            if value.array is not held.array:
                paddle.assign(value.array, held.array)
            held, value = held.length, value.length
        if value is not held:
            paddle.assign(value, held)


def step_while(statement: While, values: Values, loop: str) -> Values:
    limit, counter = whole(statement.limit), statement.counter

    def goes_on(values: Values) -> Any:
        return paddle.logical_and(values[counter] < limit, holds(statement.test, values))

    def begun(values: Values) -> Values:
        return values | {counter: values[counter] + 1}

    return looped(statement, values, goes_on, begun, lambda before, after: after)


def step_for(statement: For, values: Values, loop: str) -> Values:
    counter, bound = statement.counter, whole(computed(statement.bound, values))
    limit = paddle.assign(bound)

    def goes_on(values: Values) -> Any:
        return values[counter] < limit

    def ended(before: Values, after: Values) -> Values:
        return after | {counter: before[counter] + 1}

    return looped(statement, values, goes_on, lambda values: values, ended)


def looped(
    statement: While | For,
    values: Values,
    goes_on: Callable[[Values], Any],
    begun: Callable[[Values], Values],
    ended: Callable[[Values, Values], Values],
) -> Values:
    """The variables after a loop: what it does as each round begins and ends is given."""
    counter, body = statement.counter, statement.body
    flags = raised(body, counter)
    stops = flags - {f"skipped_{counter}"}
    fresh = {f: truth(False) for f in sorted(stops - {"returned"})}
    names = [counter, *(n for n in written(body, counter) if n != f"skipped_{counter}")]
    values = values | fresh | {counter: whole(0)}

    def again(values: Values) -> Any:
        found = goes_on(values)
        return paddle.logical_and(found, none_of(stops, values)) if stops else found

    def one_round(values: Values) -> Values:
        inside = begun(values)
        if f"skipped_{counter}" in flags:
            inside = inside | {f"skipped_{counter}": truth(False)}
        return ended(values, run(body, inside, counter))

    kept = {n: copied(values[n]) for n in names}
    made = by_block if statement.form == "block" else by_function
    found = made(again, one_round, values, kept)
    return {n: v for n, v in found.items() if n != counter and not n.endswith(f"_{counter}")}


def by_block(again: Any, one_round: Any, values: Values, kept: Values) -> Values:
    """A loop as a block that overwrites what is carried."""
    condition = again(values | kept)
    with nn.control_flow.While(condition).block():
        overwrite(kept, one_round(values | kept))
        paddle.assign(again(values | kept), condition)
    return kept


def by_function(again: Any, one_round: Any, values: Values, kept: Values) -> Values:
    """A loop as functions of what is carried."""
    names = list(kept)

    def body(*carried: Any) -> Any:
        after = one_round(values | named(names, carried))
        return [plain(after[n]) for n in names]

    start = [plain(kept[n]) for n in names]
    found = nn.while_loop(lambda *carried: again(values | named(names, carried)), body, start)
    return named(names, found)


def step_set(statement: Set, values: Values, loop: str) -> Values:
    if statement.text.startswith("["):  # the list begins
        (first,) = computed(statement.text, values)
        array = array_write(first, whole(0), create_array("float64"))
        return {LIST: Items(array, whole(1))}
    return {statement.target: computed(statement.text, values)}


def step_append(statement: Append, values: Values, loop: str) -> Values:
    items, value = values[LIST], computed(statement.text, values)
    return {LIST: Items(array_write(value, items.length, items.array), items.length + 1)}


def step_store(statement: Store, values: Values, loop: str) -> Values:
    items, value = values[LIST], computed(statement.text, values)
    place = computed(statement.index, values)
    if isinstance(place, int):
        place = whole(place) if place >= 0 else items.length + place
    return {LIST: Items(array_write(value, place, items.array), items.length)}


def step_pop(statement: Pop, values: Values, loop: str) -> Values:
    items = values[LIST]
    shorter = paddle.maximum(items.length - 1, whole(1))
    return {statement.target: items[-1], LIST: Items(items.array, shorter)}


def flagged(flag: str) -> Callable[[Statement, Values, str], Values]:
    """A step that raises a flag of its loop."""
    return lambda statement, values, loop: {flag.format(loop): truth(True)}


STEPS: dict[type[Statement], Callable[..., Values]] = {
    Set: step_set,
    Append: step_append,
    Store: step_store,
    Pop: step_pop,
    Break: flagged("broke_{}"),
    Continue: flagged("skipped_{}"),
    Return: flagged("returned"),
    If: step_if,
    While: step_while,
    For: step_for,
}
