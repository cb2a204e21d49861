"""Blocks whose operators compute in fewer digits."""

import threading

import numpy as np
import pytest

import scull as paddle
from scull.core.interpreter import current, modes
from scull.errors import ArgumentError, ArgumentTypeError

F = paddle.nn.functional


def half(**options):
    return paddle.amp.auto_cast(dtype="bfloat16", **options)


def names(*tensors):
    return [t.dtype.name for t in tensors]


def trained(*shape):
    made = paddle.rand(shape)
    made.stop_gradient = False
    return made


def test_products_have_fewer_digits_and_sums_all_of_them():
    x, w = paddle.rand([2, 3]), paddle.rand([3, 2])
    with half():
        y = paddle.matmul(x, w)
        z = F.softmax(y)
        assert names(y, z, y.mean(), y + y, y + 1.0) == [
            "bfloat16", "float32", "float32", "bfloat16", "bfloat16"
        ]  # fmt: skip
    assert names(paddle.matmul(x, w)) == ["float32"]
    wanted = x.astype("bfloat16").numpy().astype("float32") @ w.astype("bfloat16").numpy().astype(
        "float32"
    )
    assert np.array_equal(y.numpy(), wanted.astype(y.numpy().dtype))


def test_operators_of_neither_list_take_the_wider_of_their_operands():
    x = paddle.rand([2, 2])
    with half():
        few = paddle.matmul(x, x)
        assert names(few + x, x * few, few - few) == ["float32", "float32", "bfloat16"]
        assert names(paddle.concat([few, x]), paddle.concat([few, few])) == ["float32", "bfloat16"]


def test_factors_of_differing_digits_meet():
    x, few = paddle.rand([2, 2]), paddle.rand([2, 2]).astype("bfloat16")
    with half():
        assert names(paddle.matmul(few, x), paddle.matmul(x, few), paddle.mm(x, few)) == [
            "bfloat16", "bfloat16", "bfloat16"
        ]  # fmt: skip


def test_whole_numbers_and_float64_are_left_alone():
    wide, whole = paddle.rand([2, 2]).astype("float64"), paddle.ones([2, 2], "int64")
    with half():
        assert names(paddle.matmul(wide, wide), F.softmax(wide), whole + whole) == [
            "float64", "float64", "int64"
        ]  # fmt: skip


def test_a_layer_with_a_bias_rounds_its_product_alone():
    x, w, b = paddle.rand([2, 3]), paddle.rand([3, 2]), paddle.rand([2])
    with half():
        found = F.linear(x, w, b)
        assert names(found, F.linear(x, w)) == ["float32", "bfloat16"]
        assert np.array_equal(found.numpy(), (paddle.matmul(x, w) + b).numpy())
    with paddle.no_grad(), half():
        assert np.array_equal(found.numpy(), F.linear(x, w, b).numpy())


LEVELS = {
    ("O0", True): ["float32", "float32", "float32"],
    ("O1", True): ["bfloat16", "float32", "bfloat16"],
    ("O2", True): ["bfloat16", "bfloat16", "bfloat16"],
    ("OD", True): ["bfloat16", "float32", "float32"],
    ("o2", False): ["bfloat16", "bfloat16", "bfloat16"],
}


@pytest.mark.parametrize("level, promotes", LEVELS)
def test_the_level_decides_who_computes_in_what(level, promotes):
    x = paddle.rand([2, 2])
    with half(level=level, use_promote=promotes):
        y = paddle.matmul(x, x)
        assert names(y, F.softmax(y), F.relu(y)) == LEVELS[level, promotes]


def test_without_promotion_all_but_the_black_list_have_fewer_digits():
    x, table = paddle.rand([2, 2]), paddle.rand([3, 2])
    with half(level="O2", use_promote=False):
        assert names(x + x, F.embedding(paddle.to_tensor([1]), table)) == ["bfloat16", "float32"]
    with half(level="O1", use_promote=False):
        assert names(x + x) == ["float32"]


def test_lists_of_the_user_come_first():
    x = paddle.rand([2, 2])
    with half(custom_white_list={"softmax"}, custom_black_list=["matmul_v2"]):
        assert names(F.softmax(x), paddle.matmul(x, x)) == ["bfloat16", "float32"]
    with half(custom_white_list=("elementwise_add",)):
        assert names(x + x, x - x) == ["bfloat16", "float32"]


def test_gradients_have_the_digits_of_what_they_belong_to():
    x, w = trained(4, 3), trained(3, 2)
    with half():
        loss = F.linear(x, w).mean()
    loss.backward()
    assert names(loss, x.grad, w.grad) == ["float32"] * 3
    wide = paddle.full([4, 2], 1 / 8).astype("bfloat16")
    wanted = paddle.matmul(x.detach().astype("bfloat16"), wide, transpose_x=True)
    assert np.array_equal(w.grad.numpy(), wanted.astype("float32").numpy())


def test_the_backward_pass_casts_nothing_of_its_own():
    x = trained(2, 2)

    def second(block):
        y = (paddle.matmul(x, x) ** 3).sum()
        with block:
            (dx,) = paddle.grad(y, x, create_graph=True)
        (found,) = paddle.grad(dx.sum(), x)
        return [dx.numpy(), found.numpy()]

    plain, within = second(paddle.enable_grad()), second(half())
    assert all(np.array_equal(a, b) for a, b in zip(plain, within, strict=True))


def test_normalisations_keep_the_digits_of_their_statistics():
    x, batch, layer = paddle.rand([4, 3]), paddle.nn.BatchNorm1D(3), paddle.nn.LayerNorm(3)
    mean = batch._mean
    with half(level="O2"):
        few = F.relu(paddle.matmul(x, paddle.eye(3)))
        assert names(few, batch(few), layer(few), layer(x)) == [
            "bfloat16", "bfloat16", "bfloat16", "float32"
        ]  # fmt: skip
    with half():
        assert names(layer(few), batch(few)) == ["float32", "bfloat16"]
    assert batch._mean is mean and names(mean, batch._variance) == ["float32", "float32"]
    assert np.allclose(mean.numpy(), 0.19 * few.astype("float32").numpy().mean(0), rtol=1e-2)


def test_what_changes_in_place_keeps_its_element_type():
    x, few = paddle.zeros([2, 2]), paddle.ones([2, 2]).astype("bfloat16")
    with half(level="O2", use_promote=False):
        x.add_(paddle.ones([2, 2]))
        x[0] = few[0]
        few[1] = x[1]
    assert names(x, few) == ["float32", "bfloat16"]
    assert x.tolist() == few.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_blocks_nest_and_one_may_switch_it_off():
    x = paddle.rand([2, 2])
    with half():
        with paddle.amp.auto_cast(enable=False):
            assert names(paddle.matmul(x, x)) == ["float32"]
        with half(custom_black_list={"matmul_v2"}):
            assert names(paddle.matmul(x, x)) == ["float32"]
        assert names(paddle.matmul(x, x)) == ["bfloat16"]


def test_gradients_are_switched_off_and_on_within():
    w = trained(2, 2)
    with paddle.no_grad(), half():
        assert paddle.matmul(w, w).stop_gradient
        with paddle.enable_grad():
            found = paddle.matmul(w, w)
    assert not found.stop_gradient and names(found) == ["bfloat16"]


def test_a_decorated_function_casts_each_time_it_is_called():
    @paddle.amp.amp_guard(dtype="bfloat16")
    def product(x):
        return paddle.matmul(x, x)

    x = paddle.rand([2, 2])
    assert names(product(x), product(x), paddle.matmul(x, x)) == ["bfloat16", "bfloat16", "float32"]


def test_an_error_leaves_the_block_and_names_the_operator():
    x, before = paddle.rand([2, 3]), current()
    with pytest.raises(ValueError, match="in matmul"), half():
        paddle.matmul(x, x)
    assert current() is before and not modes


def test_other_threads_compute_as_before():
    found, x = [], paddle.rand([2, 2])

    def work():
        found.extend(names(paddle.matmul(x, x)))

    with half():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found == ["float32"]


def test_forward_of_a_pylayer_casts_too():
    class Product(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return paddle.matmul(x, x)

        @staticmethod
        def backward(ctx, g):
            return g.astype("float32")

    with half():
        assert names(Product.apply(trained(2, 2))) == ["bfloat16"]


def test_a_pylayer_gets_a_gradient_of_few_digits():
    class Same(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x.astype("bfloat16")

        @staticmethod
        def backward(ctx, g):
            assert g.dtype.name == "bfloat16"
            return g.astype("float32")

    x = trained(2, 2)
    Same.apply(x).sum().backward()
    assert x.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_a_program_records_the_casts():
    program = paddle.static.Program()
    paddle.enable_static()
    try:
        with paddle.static.program_guard(program), half():
            x = paddle.static.data("x", [2, 2])
            y = F.softmax(paddle.matmul(x, x))
    finally:
        paddle.disable_static()
    kinds = [o.type for o in program.global_block().ops]
    assert kinds == ["cast", "cast", "matmul_v2", "cast", "softmax"] and names(y) == ["float32"]
    array = np.random.rand(2, 2).astype("float32")
    (found,) = paddle.static.Executor().run(program, feed={"x": array}, fetch_list=[y])
    with half():
        wanted = F.softmax(paddle.matmul(paddle.to_tensor(array), paddle.to_tensor(array)))
    assert np.array_equal(found, wanted.numpy())


def test_float16_is_not_supported_by_the_cpu_and_a_warning_says_so():
    x, before = paddle.rand([2, 2]), current()
    with pytest.warns(UserWarning, match="so it makes no effect"), paddle.amp.auto_cast():
        assert current() is before and names(paddle.matmul(x, x)) == ["float32"]
    assert not paddle.amp.is_float16_supported() and not paddle.amp.is_float16_supported("cpu")
    assert paddle.amp.is_bfloat16_supported(paddle.CPUPlace())


def test_outside_of_blocks_nothing_stands_in_the_way():
    with half():
        assert modes
    assert not modes


@pytest.mark.parametrize(
    "options, kind, law",
    [
        ({"level": "O3"}, ArgumentError, "level should be O0, OD, O1 or O2"),
        ({"level": 1}, ArgumentTypeError, "`level` is a text, not int"),
        ({"dtype": "int8"}, ArgumentError, "dtype should be 'float16' or 'bfloat16'"),
        ({"dtype": 16}, ArgumentTypeError, "`dtype` is a text, not int"),
        ({"custom_white_list": 3}, ArgumentTypeError, "custom_white_list is a set of operators"),
        (
            {"custom_white_list": {"exp"}, "custom_black_list": {"exp"}},
            ArgumentError,
            "Custom white list overlap custom black list: exp",
        ),
    ],
)
def test_bad_arguments_are_told(options, kind, law):
    with pytest.raises(kind, match=law), paddle.amp.auto_cast(**{"dtype": "bfloat16"} | options):
        pass


def test_a_supported_place_is_asked_for_by_its_name():
    with pytest.raises(ArgumentError, match="gpu:0"):
        paddle.amp.is_bfloat16_supported("gpu:0")


def test_the_lists_are_given_as_copies():
    paddle.amp.white_list()["bfloat16"]["O1"].clear()
    assert "conv2d" in paddle.amp.white_list()["bfloat16"]["O1"]
    assert paddle.amp.black_list()["float16"]["OD"] == set()


def test_gradients_with_some_rows_pass_through():
    table = paddle.nn.Embedding(5, 2, sparse=True)
    with half(custom_white_list={"lookup_table_v2"}):
        loss = paddle.matmul(table(paddle.to_tensor([1, 3])), paddle.eye(2)).sum()
    loss.backward()
    assert table.weight.grad.dtype.name == "float32"
    assert paddle.optimizer.SGD(0.5, parameters=table.parameters()).step() is None


def test_lists_of_tensors_in_programs_are_left_alone():
    def read(x):
        with half():
            found = [paddle.matmul(x, x)]
            for i in range(paddle.full([], 2, "int64")):
                found.append(found[i] + x)
            return paddle.concat(found)

    x = paddle.rand([2, 2])
    with half():
        few = paddle.matmul(x, x)
        wanted = paddle.concat([few, few + x, few + x + x])
    found = paddle.jit.to_static(read, full_graph=True)(x)
    assert np.allclose(found.astype("float32").numpy(), wanted.numpy(), atol=0.1)


def test_singular_values_are_found_with_all_digits():
    layer = paddle.nn.utils.spectral_norm(paddle.nn.Linear(3, 3, bias_attr=False))
    twin = paddle.nn.utils.spectral_norm(paddle.nn.Linear(3, 3, bias_attr=False))
    twin.set_state_dict(layer.state_dict())
    x = paddle.rand([2, 3])
    with half():
        assert names(layer(x)) == ["bfloat16"]
    twin(x)
    assert np.array_equal(layer.weight.numpy(), twin.weight.numpy())
