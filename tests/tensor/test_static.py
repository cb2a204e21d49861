"""Functions on Variables: a Program that runs gives what eager mode gives."""

import json
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.core import session
from tests.tensor.test_function import UNARY

RECORDS = json.loads(
    (Path(__file__).parents[1] / "data/reference/op_records.json").read_text(encoding="utf-8")
)
# Calls whose operators, slots, names and attributes are those of the reference.
CALLS = """
F.pad(x, [0, 1, 2, 0], value=1.5)
F.pad(x, [1, 0, 1, 2])
F.pad(x, [1, 1, 1, 1], mode='reflect')
paddle.add_n([x, y, z])
paddle.addmm(z, x, y, beta=0.5, alpha=2.0)
paddle.arange(0.0, 1.0, 0.25)
paddle.argmax(x, axis=-1, keepdim=True, dtype='int32')
paddle.argsort(x)
paddle.bmm(x, y)
paddle.broadcast_tensors([x, y])
paddle.concat([x, y], axis=1)
paddle.cross(x, y)
paddle.cross(x, y, axis=1)
paddle.cumsum(x)
paddle.diag(x)
paddle.diag(x, offset=1)
paddle.diag(x, padding_value=2)
paddle.diag_embed(x)
paddle.diag_embed(x, 1, 0, 2)
paddle.diagonal(x)
paddle.diagonal(x, 1, 1, 2)
paddle.dot(x, y)
paddle.expand(x, [2, 3])
paddle.eye(2, 3, 'int64')
paddle.fft.fft(x)
paddle.fft.fft(x, 6)
paddle.fft.fftshift(paddle.fft.fft(x))
paddle.fft.hfft(x, 5, 0, 'forward')
paddle.fft.ifftn(x, (2, 6), (1, 0), 'ortho')
paddle.fft.ifftshift(paddle.fft.ihfft(x), [0])
paddle.fft.irfft(x)
paddle.fft.rfftn(x, (2, 2))
paddle.flatten(x, 1)
paddle.flip(x, -1)
paddle.full([2, 3], 7, 'int64')
paddle.full_like(x, 2.5)
paddle.gather(x, i, axis=1)
paddle.gather_nd(x, i)
paddle.geometric.reindex_graph(i, j, k)
paddle.geometric.reindex_graph(i, j, k, a, b)
paddle.geometric.reindex_heter_graph(i, [j, m], [k, n])
paddle.geometric.sample_neighbors(i, j, k, 2)
paddle.geometric.sample_neighbors(i, j, k, 2, e, True, p)
paddle.geometric.weighted_sample_neighbors(i, j, w, k, 2)
paddle.geometric.weighted_sample_neighbors(i, j, w, k, 2, e, True)
paddle.incubate.graph_khop_sampler(i, j, k, [2, 3])
paddle.incubate.graph_khop_sampler(i, j, k, [2], e, True)
paddle.incubate.graph_reindex(i, j, k)
paddle.incubate.graph_sample_neighbors(i, j, k, sample_size=2)
paddle.index_add(x, i, 0, u)
paddle.index_sample(x, i)
paddle.index_select(x, i)
paddle.index_select(x, i, axis=1)
paddle.kron(x, y)
paddle.linalg.cholesky(x)
paddle.linalg.cholesky(x, upper=True)
paddle.linalg.det(x)
paddle.linalg.eigh(x)
paddle.linalg.inv(x)
paddle.linalg.matrix_power(x, 3)
paddle.linalg.qr(x)
paddle.linalg.solve(x, y)
paddle.linalg.svd(x)
paddle.linalg.triangular_solve(x, y, upper=False)
paddle.linspace(0, 10, 3, 'int32')
paddle.masked_select(x, c)
paddle.mean(x, axis=[0, -1], keepdim=True)
paddle.meshgrid([x, y, z])
paddle.meshgrid(x, y)
paddle.mm(x, y)
paddle.multinomial(x, 2)
paddle.multinomial(x, 5, replacement=True)
paddle.mv(x, y)
paddle.nonzero(c, as_tuple=True)
paddle.nonzero(x)
paddle.normal(0.0, 2.0, [2, 3])
paddle.numel(x)
paddle.put_along_axis(x, i, u, 1)
paddle.put_along_axis(x, i, u, 1, reduce='add')
paddle.rand([2, 3])
paddle.repeat_interleave(x, 2, axis=1)
paddle.reshape(x, [0, -1])
paddle.roll(x, 1)
paddle.roll(x, [1, 2], axis=[0, 1])
paddle.scatter_nd(i, u, [3, 4])
paddle.scatter_nd_add(x, i, u)
paddle.signal.frame(x, 3, 2)
paddle.signal.istft(x, 4)
paddle.signal.overlap_add(x, 2)
paddle.signal.stft(x, 4, pad_mode='constant')
paddle.sort(x, axis=0, descending=True)
paddle.split(x, [2, 3, -1], axis=1)
paddle.squeeze(x, axis=[1, -1])
paddle.stack([x, y], axis=-1)
paddle.strided_slice(x, [0], [0], [6], [2])
paddle.sum(x, axis=[0, -1], keepdim=True)
paddle.t(x)
paddle.take_along_axis(x, i, 1)
paddle.tanh(x)
paddle.topk(x, 2, axis=0, largest=False, sorted=False)
paddle.trace(x)
paddle.trace(x, 1, 1, 2)
paddle.transpose(x, [1, 0, 2])
paddle.unbind(x, axis=1)
paddle.unique(i)
paddle.unique(i, True, True, True)
paddle.unique(x, axis=0)
paddle.unsqueeze(x, axis=[0, -1])
paddle.unstack(x)
paddle.unstack(x, axis=1)
static.setitem(x, 0, 1.0)
static.setitem(x, slice(1, 3), 0)
static.setitem(x, 0, y)
i.astype('float32')
x.T
x.clone()
x.astype('int32')
x[0]
x[1:3]
x[::2]
x[::-1, 1:4:2]
x[i]
x[c]
i & j
~i
""".strip().splitlines()
HIDDEN = ("op_callstack", "use_mkldnn", "mkldnn_data_type", "use_cudnn", "use_quantizer")
HIDDEN += ("Scale_x", "Scale_y", "Scale_out")
SHARED = ("op_role", "op_role_var", "op_namescope", "op_device", "with_quant_attr")


@pytest.fixture
def program():
    """A Program that operators are recorded into, with fresh names."""
    made = paddle.static.Program()
    paddle.enable_static()
    try:
        with session.guarded(names=session.Names()), paddle.static.program_guard(made):
            yield made
    finally:
        paddle.disable_static()


@pytest.mark.parametrize("name", UNARY)
def test_a_program_gives_what_eager_mode_gives(name, program):
    function, _, array = UNARY[name]
    x = paddle.static.data("x", array.shape, str(array.dtype))
    out = function(x)
    (found,) = paddle.static.Executor().run(program, feed={"x": array}, fetch_list=[out])
    paddle.disable_static()
    eager = function(paddle.to_tensor(array)).numpy()
    np.testing.assert_allclose(found, eager, rtol=1e-6, atol=1e-12)


def variables(block, text):
    """The data variables a record names, such as `x=2,3 i=int64:4`."""
    for part in text.split():
        name, _, shape = part.partition("=")
        dtype, _, sizes = shape.rpartition(":")
        shape = [int(n) for n in sizes.split(",") if n]
        options = {"is_data": True, "stop_gradient": name.endswith("!")}
        name = name.removesuffix("!")
        yield name, block.create_var(name, shape=shape, dtype=dtype or "float32", **options)


def spelt(type_, inputs, outputs, attributes):
    """An operator without what stands everywhere and what means nothing here."""
    kept = {n: v for n, v in attributes.items() if n not in HIDDEN + SHARED}
    slots = [{s: names for s, names in each.items() if names} for each in (inputs, outputs)]
    return type_, *slots, {n: v for n, v in kept.items() if n != "data_format"}


def plain(attribute):
    """The value of a recorded attribute; of scalars without their kinds."""
    number, value = attribute
    return [v for _, v in value] if number == 17 else value


@pytest.mark.parametrize("call", CALLS)
def test_a_call_records_the_operators_of_the_reference(call, program):
    record = next(
        r for rows in RECORDS.values() if isinstance(rows, list) for r in rows if r["call"] == call
    )
    scope = dict(variables(program.global_block(), record["inputs"]))
    names = {"paddle": paddle, "F": paddle.nn.functional, "static": paddle.static}
    eval(call, names, scope)
    ours = [
        spelt(o.type, o.input_slots(), o.output_slots(), o.spelt())
        for o in program.global_block().ops
    ]
    theirs = [
        spelt(
            o["type"], o["inputs"], o["outputs"], {n: plain(v) for n, v in o["attributes"].items()}
        )
        for o in record["forward"]["operators"]
    ]
    assert ours == theirs


def test_sizes_may_be_variables(program):
    n = paddle.static.data("n", [1], "int32")
    x = paddle.static.data("x", [-1, 3], "float32")
    outs = [paddle.zeros([n, 2]), paddle.reshape(x, [n, -1]), x[0 : n[0]]]
    feed = {"n": np.array([2], "int32"), "x": np.ones((4, 3), "float32")}
    shapes = [v.shape for v in paddle.static.Executor().run(program, feed=feed, fetch_list=outs)]
    assert shapes == [(2, 2), (2, 6), (2, 3)]


WRITTEN = {
    "a number": ((0, slice(None, None, 2)), 2.0),
    "a tensor": ((slice(1, 3),), np.arange(5.0)),
    "an array": ((-1, slice(0, 2)), np.array([7.0, 8.0])),
    "backwards": ((slice(None, None, -1), 0), np.arange(4.0)),
    "new axes": ((0, None, slice(None), None), np.arange(5.0).reshape(1, 5, 1)),
    "places": (([0, 2],), -1.0),
    "places behind": ((slice(None), [4, 0]), np.arange(2.0)),
    "pairs": (([0, 1], [2, 3]), np.arange(2.0)),
    "a mask": (([True, False, True, False],), 3.0),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_an_item_is_set_as_in_eager_mode(name, program):
    index, value = WRITTEN[name]
    array = np.arange(20.0).reshape(4, 5)
    x = paddle.static.data("x", [4, 5], "float64")
    given, feed = value, {"x": array}
    if name != "an array" and isinstance(value, np.ndarray):
        given, feed["v"] = paddle.static.data("v", value.shape, "float64"), value
    out = paddle.static.setitem(x, index, given)
    (found,) = paddle.static.Executor().run(program, feed=feed, fetch_list=[out])
    expected = array.copy()
    expected[tuple(np.array(i) if isinstance(i, list) else i for i in index)] = value
    np.testing.assert_array_equal(found, expected)


def test_a_variable_takes_no_assignment(program):
    x = paddle.static.data("x", [4], "float32")
    with pytest.raises(RuntimeError, match=r"paddle\.static\.setitem"):
        x[0] = 1.0


PICKED = {
    "pairs": lambda i, m: (i, i),
    "a row": lambda i, m: (slice(None), i),
    "a mask and places": lambda i, m: (m, i),
    "a mask behind": lambda i, m: (slice(0, 4), slice(None), m),
}


@pytest.mark.parametrize("name", PICKED)
def test_items_are_picked_as_numpy_picks_them(name, program):
    array = np.arange(64.0).reshape(4, 4, 4)
    feed = {"x": array, "i": np.array([2, 0]), "m": np.array([True, False, False, True])}
    x, i, m = (paddle.static.data(n, v.shape, str(v.dtype)) for n, v in feed.items())
    out = x[PICKED[name](i, m)]
    (found,) = paddle.static.Executor().run(program, feed=feed, fetch_list=[out])
    np.testing.assert_array_equal(found, array[PICKED[name](feed["i"], feed["m"])])


LENGTHS = {
    "paddle.arange(5)": 5,
    "paddle.arange(0, 0.3, 0.1)": 3,
    "paddle.arange(0, 1, 0.1)": 10,
    "paddle.arange(2, -1, -1)": 3,
    "paddle.arange(0.0, 5.0, 2, 'int32')": 3,
    "paddle.linspace(0, 1, 5)": 5,
    "paddle.linspace(0, paddle.full([1], 1.0), 5)": 5,
    "paddle.linspace(0, 1, paddle.full([1], 5, 'int32'))": -1,
    "paddle.logspace(0, 1, 5)": 5,
    "paddle.arange(0, paddle.full([1], 5, 'int64'))": -1,
}


@pytest.mark.parametrize("call", LENGTHS)
def test_a_list_of_numbers_has_a_known_length_where_numbers_give_it(call):
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            found = eval(call, {"paddle": paddle})
        assert found.shape == (LENGTHS[call],)
        (value,) = paddle.static.Executor().run(program, fetch_list=[found])
    finally:
        paddle.disable_static()
    assert LENGTHS[call] in (-1, len(value))
    assert eval(call, {"paddle": paddle}).shape == [len(value)]


@pytest.mark.parametrize(
    ("mode", "place", "expected"),
    [("raise", 2, 2), ("clip", 9, 5), ("wrap", 9, 3), ("wrap", -1, 5)],
)
def test_elements_are_taken_of_as_many_as_the_run_tells(mode, place, expected, program):
    x = paddle.static.data("x", [-1, 3], "int64")
    y = paddle.take(x, paddle.assign(np.array([place])), mode=mode)
    (found,) = paddle.static.Executor().run(feed={"x": np.arange(6).reshape(2, 3)}, fetch_list=[y])
    assert found.tolist() == [expected]


def test_a_quotient_of_whole_numbers_is_whole_in_a_program_too(program):
    x = paddle.static.data("x", [2], "int64")
    y = paddle.divide(x, paddle.full([2], 2, "int64"))
    (found,) = paddle.static.Executor().run(feed={"x": np.array([-3, 7])}, fetch_list=[y])
    assert (found.dtype, found.tolist()) == (np.int64, [-1, 3])


@pytest.mark.parametrize(("stop", "gradient"), [(True, [2.0, 4.0]), (False, [4.0, 8.0])])
def test_a_copy_made_by_to_tensor_passes_gradients_on_as_it_is_told_to(stop, gradient, program):
    x = paddle.static.data("x", [2])
    x.stop_gradient = False
    copy = paddle.to_tensor(x * 2.0, stop_gradient=stop)
    assert copy.stop_gradient is stop
    assert paddle.to_tensor([1.0], stop_gradient=stop).stop_gradient is stop
    wanted = paddle.static.gradients(x * copy, x)
    feed = {"x": np.array([1.0, 2.0], "float32")}
    (found,) = paddle.static.Executor().run(program, feed=feed, fetch_list=wanted)
    assert found.tolist() == gradient


@pytest.mark.parametrize("least", [2, 6])
def test_counts_reach_a_length_that_is_told_by_a_variable(least, program):
    x, length = paddle.static.data("x", [3], "int64"), paddle.static.data("n", [1], "int32")
    out = paddle.bincount(x, minlength=length)
    assert out.shape == (-1,)
    feed = {"x": np.array([1, 2, 2]), "n": np.array([least], "int32")}
    (found,) = paddle.static.Executor().run(program, feed=feed, fetch_list=[out])
    np.testing.assert_array_equal(found, np.bincount(feed["x"], minlength=least))


@pytest.mark.parametrize(("rows", "columns"), [("n", None), ("n", 2), (4, "n"), ("n", "n")])
def test_the_sizes_of_an_eye_are_told_by_variables(rows, columns, program):
    told = {"n": paddle.static.data("n", [1], "int64")}
    out = paddle.eye(told.get(rows, rows), told.get(columns, columns))
    (found,) = paddle.static.Executor().run(program, {"n": np.array([3])}, [out])
    sizes = [3 if n == "n" else n for n in (rows, columns)]
    np.testing.assert_array_equal(found, np.eye(*sizes))


@pytest.mark.parametrize("mode", ["upscale_in_train", "downscale_in_infer"])
@pytest.mark.parametrize("chance", [0.0, 0.75, 1.0])
def test_the_chance_of_dropout_is_told_by_a_variable(chance, mode, program):
    x, p = paddle.static.data("x", [2000]), paddle.static.data("p", [1])
    x.stop_gradient = False
    trained = paddle.nn.functional.dropout(x, p, mode=mode)
    tested = paddle.nn.functional.dropout(x, p, training=False, mode=mode)
    wanted = [trained, tested, *paddle.static.gradients(trained, x)]
    feed = {"x": np.ones(2000, "float32"), "p": np.array([chance], "float32")}
    trained, tested, dx = paddle.static.Executor().run(program, feed, wanted)
    upscale = mode == "upscale_in_train"
    kept = 1 / (1 - chance) if upscale and chance < 1 else 1.0
    assert (trained > 0).mean() == pytest.approx(1 - chance, abs=0.05)
    assert set(trained.tolist()) <= {0.0, kept}
    np.testing.assert_array_equal(dx, trained)
    assert set(tested.tolist()) == {1.0 if upscale else 1 - chance}


def test_a_choice_between_operands_of_several_shapes_takes_elements_of_each():
    chosen = paddle.jit.to_static(lambda c, x, y: paddle.where(c, x, y), full_graph=True)
    picks, x, y = paddle.to_tensor([[True], [False]]), paddle.ones([2]), paddle.zeros([1, 2])
    assert chosen(picks, x, y).tolist() == [[1.0, 1.0], [0.0, 0.0]]
