"""Layers over sequences of several lengths: built, trained, saved and run by a predictor."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull import static
from scull.errors import ArgumentError, ArgumentTypeError, FeedError
from scull.flags import flags
from scull.inference import Config, create_predictor
from scull.nn.initializer import Constant
from scull.static import nn

PYTHON = os.environ.get("SCULL_PADDLE_PYTHON")
READ = """
import numpy as np, paddle
from paddle import static

paddle.enable_static()
exe = static.Executor()
program, (name,), fetches = static.load_inference_model("net", exe)
ids, places = np.arange(7).reshape(7, 1), paddle.CPUPlace()
feed = {name: paddle.base.create_lod_tensor(ids, [[3, 1, 3]], places)}
found = exe.run(program, feed=feed, fetch_list=fetches, return_numpy=False)
training = static.Program.parse_from_string(open("training.program", "rb").read())
gradient = training.all_parameters()[0].name + "@GRAD"
found += exe.run(training, feed=feed, fetch_list=[gradient], return_numpy=False)
values = {str(i): np.array(v) for i, v in enumerate(found)}
levels = [v.recursive_sequence_lengths() for v in found]
np.savez("found.npz", levels=repr(levels), **values)
"""
DATA = Path(__file__).resolve().parents[1] / "data" / "levels"
ROWS = np.arange(12, dtype="float32").reshape(6, 2)


@pytest.fixture(autouse=True)
def programs():
    """Default Programs and a scope of their own, in static mode."""
    paddle.enable_static()
    both = static.Program(), static.Program()
    scope = static.scope_guard(static.Scope())
    with paddle.utils.unique_name.guard(), scope, static.program_guard(*both):
        yield both
    paddle.disable_static()


def tensor(array, lengths):
    if not lengths:
        return array
    return paddle.base.create_lod_tensor(array, lengths, paddle.CPUPlace())


def data(name="x", shape=(-1, 2), dtype="float32", level=1):
    return static.data(name, list(shape), dtype, lod_level=level)


def run(results, feed, program=None):
    fetches = results if isinstance(results, list) else [results]
    return static.Executor().run(program, feed=feed, fetch_list=fetches, return_numpy=False)


CALLS = {
    **{
        f"pool_{kind}": lambda x, kind=kind: [nn.sequence_pool(x, kind, pad_value=0.5)]
        for kind in ("sum", "average", "sqrt", "max", "last", "first")
    },
    "softmax": lambda x: [nn.sequence_softmax(x)],
    "reverse": lambda x: [nn.sequence_reverse(x)],
    "concat": lambda x, y: [nn.sequence_concat([x, y])],
    "reshape": lambda x: [nn.sequence_reshape(x, 8)],
    "expand": lambda x, y: [nn.sequence_expand(x, y)],
    "expand_outer": lambda x, y: [nn.sequence_expand(x, y, 0)],
    "expand_as": lambda x, y: [nn.sequence_expand_as(x, y)],
    "pad": lambda x: list(nn.sequence_pad(x, paddle.full([1], 0.25))),
    "pad_to": lambda x: list(nn.sequence_pad(x, paddle.full([3], 0.25), maxlen=5)),
    "unpad": lambda x, n: [nn.sequence_unpad(x, n)],
    "slice": lambda x, begin, count: [nn.sequence_slice(x, begin, count)],
    "scatter": lambda x, ids, y: [nn.sequence_scatter(x, ids, y)],
    "enumerate": lambda ids: [nn.sequence_enumerate(ids, 3, pad_value=7)],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_gives_what_that_of_the_reference_gives(name):
    with np.load(DATA / f"{name}.npz") as held:
        said = json.loads(str(held["levels"]))
        arrays = {n: held[f"in {n}"] for n in said["fed"]}
        expected = [(held[f"out {n}"], v) for n, v in said["found"].items() if "@" not in n]
    given = []
    for n, array in arrays.items():
        given.append(data(n, (-1, *array.shape[1:]), str(array.dtype), len(said["fed"][n])))
    found = run(CALLS[name](*given), {n: tensor(v, said["fed"][n]) for n, v in arrays.items()})
    for value, (array, lengths) in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.array(value), array, 1e-5, 1e-6)
        assert value.recursive_sequence_lengths() == lengths


def test_a_convolution_makes_its_filter_and_bias():
    y = nn.sequence_conv(data(), 3, act="tanh")
    exe = static.Executor()
    exe.run(static.default_startup_program())
    (found,) = run(y, {"x": tensor(ROWS, [[2, 4]])})
    w, b = (
        np.array(static.global_scope().find_var(f"sequence_conv_0.{n}").get_tensor())
        for n in ("w_0", "b_0")
    )
    wide = np.zeros((6, 6), "float32")
    for begin, end in ((0, 2), (2, 6)):
        for i in range(begin, end):
            for j in range(max(i - 1, begin), min(i + 2, end)):
                wide[i, 2 * (j - i + 1) : 2 * (j - i + 2)] = ROWS[j]
    np.testing.assert_allclose(np.array(found), np.tanh(wide @ w + b), 1e-5, 1e-6)
    assert found.recursive_sequence_lengths() == [[2, 4]]


def test_mistakes_are_told_by_what_was_expected():
    x = data()
    for law, call in {
        "'input' in sequence_pool must be Variable": lambda: nn.sequence_pool(1, "sum"),
        "pooltype is 'MIDDLE', not AVERAGE": lambda: nn.sequence_pool(x, "middle"),
        "must be list": lambda: nn.sequence_concat(x),
        "joins two inputs or more, not 1": lambda: nn.sequence_concat([x]),
        "filter_stride is 2": lambda: nn.sequence_conv(x, 3, filter_stride=2),
    }.items():
        with pytest.raises((ArgumentError, ArgumentTypeError), match=law):
            call()
    y = nn.sequence_pool(x, "sum")
    with pytest.raises(ArgumentError, match=r"no levels of detail.*feed a LoDTensor"):
        run(y, {"x": ROWS})
    wrong = paddle.base.core.LoDTensor()
    wrong.set(ROWS)
    for levels, law in (
        ([[0, 2, 5]], r"level 0 of detail of the input `x` is \[0, 2, 5\].*number of rows, 6"),
        ([[0, 3, 2, 6]], "it rises from 0"),
        ([[0, 1], [0, 2, 6]], "number of sequences in the next level, 2"),
    ):
        wrong.set_lod(levels)
        with pytest.raises(FeedError, match=law):
            run(y, {"x": wrong})


def test_a_classifier_of_texts_learns():
    words, label = data("words", (-1, 1), "int64"), data("label", (-1, 1), "int64", 0)
    rows = paddle.reshape(nn.embedding(words, [20, 8]), [-1, 8])
    found = nn.fc(nn.sequence_pool(nn.sequence_conv(rows, 8, act="tanh"), "max"), 2)
    loss = paddle.mean(paddle.nn.functional.cross_entropy(found, label))
    paddle.optimizer.Adam(0.05).minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    random = np.random.default_rng(0)
    losses = []
    for _ in range(40):
        lengths = random.integers(1, 7, 16).tolist()
        ids = random.integers(1, 20, (sum(lengths), 1))
        ends = np.cumsum(lengths)
        truth = [[int((ids[e - n : e] < 4).any())] for e, n in zip(ends, lengths, strict=True)]
        feed = {"words": tensor(ids, [lengths]), "label": np.array(truth)}
        losses.append(float(exe.run(feed=feed, fetch_list=[loss])[0]))
    assert np.mean(losses[-5:]) < 0.4 * np.mean(losses[:5])


def test_a_saved_model_names_no_levels_and_a_predictor_takes_them(tmp_path, programs):
    x = data()
    y = nn.sequence_reverse(x)
    scale = static.create_parameter([2], "float32", default_initializer=Constant(2.0))
    outs = [nn.sequence_pool(y, "first"), y * scale]
    static.Executor().run(static.default_startup_program())
    static.save_inference_model(str(tmp_path / "net"), [x], outs, static.Executor())
    assert "@LOD" not in str(programs[0]) and b"@LOD" not in (tmp_path / "net.pdmodel").read_bytes()
    paddle.disable_static()
    fed = tensor(ROWS, [[2, 1, 3]])
    last, turned = [[2, 3], [4, 5], [10, 11]], [2, 0, 4, 10, 8, 6]
    with create_predictor(Config(str(tmp_path / "net"))) as predictor:
        first, rows = predictor(fed)
        assert first.tolist() == last and rows.lod() == [[0, 2, 3, 6]]
        assert np.array(rows)[:, 0].tolist() == [2 * n for n in turned]
        handle = predictor.get_input_handle("x")
        handle.copy_from_cpu(ROWS)
        handle.set_lod([[0, 2, 3, 6]])
        predictor.run()
        first, rows = map(predictor.get_output_handle, predictor.get_output_names())
        assert first.copy_to_cpu().tolist() == last and first.lod() == []
        assert rows.copy_to_cpu()[:, 0].tolist() == [2 * n for n in turned]
        assert rows.lod() == [[0, 2, 3, 6]] == handle.lod()
        handle.set_lod([[0, 7]])
        with pytest.raises(FeedError, match=r"level 0 of detail of the input `x` is \[0, 7\]"):
            predictor.run()
        handle.set_lod([])
        with pytest.raises(ArgumentError, match="no levels of detail"):
            predictor.run()
    paddle.enable_static()


@pytest.mark.parametrize("form", ["in-graph", "primitives", "unrolled"])
def test_levels_reach_into_branches_and_loops(form):
    x, n = data(), data("n", (1,), "int64", 0)
    start = paddle.zeros([2, 2])

    def again(i, total):
        more = nn.sequence_pool(nn.sequence_reverse(x) * 1.0, "last")
        return [i + 1, total + more]

    _, total = nn.while_loop(lambda i, _: i < n, again, [paddle.zeros([1], "int64"), start])
    chosen = nn.cond(paddle.sum(total) > 0, lambda: nn.sequence_pool(x, "sum"), lambda: total * 1.0)
    feed = {"x": tensor(ROWS, [[2, 4]]), "n": np.array([3])}
    with flags(CONTROL_FLOW=form):
        found = run([total, chosen], feed)
    assert np.array(found[0]).tolist() == [[0, 3], [12, 15]]
    assert np.array(found[1]).tolist() == [[2, 4], [28, 32]]


def test_what_a_loop_writes_has_no_levels():
    x, n = data(), data("n", (1,), "int64", 0)
    _, y = nn.while_loop(
        lambda i, _: i < n,
        lambda i, y: [i + 1, nn.sequence_concat([y, x])],
        [paddle.zeros([1], "int64"), x * 1.0],
    )
    with pytest.raises(ArgumentError, match="no levels of detail"):
        run(nn.sequence_pool(y, "sum"), {"x": tensor(ROWS, [[2, 4]]), "n": np.array([1])})


@pytest.mark.skipif(not PYTHON, reason="SCULL_PADDLE_PYTHON names no Python with PaddlePaddle")
def test_what_is_built_here_computes_the_same_in_paddle(tmp_path, programs):
    words = data("words", (-1, 1), "int64")
    rows = nn.sequence_conv(paddle.reshape(nn.embedding(words, [20, 8]), [-1, 8]), 6, act="tanh")
    padded, lengths = nn.sequence_pad(rows, paddle.zeros([1]))
    y = nn.fc(nn.sequence_pool(rows, "max"), 3)
    back = nn.sequence_concat([rows, nn.sequence_unpad(padded, lengths)])
    outs = [y, nn.sequence_reverse(rows), nn.sequence_expand_as(y, words), padded, back]
    outs.append(nn.sequence_softmax(rows[:, 0:1]))
    exe = static.Executor()
    exe.run(static.default_startup_program())
    static.save_inference_model(str(tmp_path / "net"), [words], outs, exe)
    losses = [paddle.mean(v * v) for v in outs if v.dtype == paddle.float32]
    pairs = static.append_backward(paddle.add_n(losses))
    gradient = next(g for p, g in pairs if p is programs[0].all_parameters()[0])
    (tmp_path / "training.program").write_bytes(programs[0].desc.serialize_to_string())
    feed = {"words": tensor(np.arange(7).reshape(7, 1), [[3, 1, 3]])}
    own = run([*outs, gradient], feed)
    subprocess.run([str(PYTHON), "-B", "-c", READ], cwd=tmp_path, check=True, capture_output=True)
    with np.load(tmp_path / "found.npz") as found:
        for i, v in enumerate(own):
            np.testing.assert_allclose(found[str(i)], np.array(v), 1e-5, 1e-6)
        levels = [v.recursive_sequence_lengths() for v in own[:-1]]
        assert str(found["levels"]).startswith(repr(levels)[:-1])


def test_rows_of_no_sequences_have_no_lengths():
    made = paddle.base.create_lod_tensor(np.ones([2, 4], "float32"), [], paddle.CPUPlace())
    assert (made.shape(), made.lod()) == ([2, 4], [])
