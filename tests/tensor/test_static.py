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
paddle.add_n([x, y, z])
paddle.arange(0.0, 1.0, 0.25)
paddle.argmax(x, axis=-1, keepdim=True, dtype='int32')
paddle.argsort(x)
i.astype('float32')
paddle.concat([x, y], axis=1)
paddle.cumsum(x)
paddle.expand(x, [2, 3])
paddle.eye(2, 3, 'int64')
paddle.flatten(x, 1)
paddle.flip(x, -1)
paddle.full([2, 3], 7, 'int64')
paddle.full_like(x, 2.5)
paddle.gather(x, i, axis=1)
paddle.linspace(0, 10, 3, 'int32')
paddle.mean(x, axis=[0, -1], keepdim=True)
paddle.mm(x, y)
paddle.normal(0.0, 2.0, [2, 3])
paddle.rand([2, 3])
paddle.reshape(x, [0, -1])
paddle.sort(x, axis=0, descending=True)
paddle.split(x, [2, 3, -1], axis=1)
paddle.squeeze(x, axis=[1, -1])
paddle.stack([x, y], axis=-1)
paddle.strided_slice(x, [0], [0], [6], [2])
paddle.sum(x, axis=[0, -1], keepdim=True)
paddle.t(x)
paddle.tanh(x)
paddle.topk(x, 2, axis=0, largest=False, sorted=False)
paddle.transpose(x, [1, 0, 2])
paddle.unbind(x, axis=1)
paddle.unsqueeze(x, axis=[0, -1])
x.T
x.clone()
x.astype('int32')
x[0]
x[1:3]
x[::2]
x[::-1, 1:4:2]
x[c]
i & j
~i
""".strip().splitlines()
HIDDEN = ("op_callstack", "use_mkldnn", "mkldnn_data_type", "use_cudnn", "use_quantizer")
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


@pytest.mark.parametrize("call", CALLS)
def test_a_call_records_the_operators_of_the_reference(call, program):
    record = next(
        r for rows in RECORDS.values() if isinstance(rows, list) for r in rows if r["call"] == call
    )
    scope = dict(variables(program.global_block(), record["inputs"]))
    eval(call, {"paddle": paddle}, scope)
    ours = [
        spelt(o.type, o.input_slots(), o.output_slots(), o.spelt())
        for o in program.global_block().ops
    ]
    theirs = [
        spelt(o["type"], o["inputs"], o["outputs"], {n: v[1] for n, v in o["attributes"].items()})
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
