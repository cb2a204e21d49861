"""The loop that `recurrent` becomes: a network with a state, step by step, and its gradients."""

import numpy as np
import pytest

import scull as paddle
from scull import static
from scull.errors import FileError
from scull.files import proto
from scull.files.program import bytes_of, program_of

SHAPES = {"x": (4, 2, 3), "h0": (2, 3), "w": (3, 3)}
FEED = {n: np.sin(np.arange(np.prod(s)) + len(n)).reshape(s) for n, s in SHAPES.items()}


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    yield
    paddle.disable_static()


def variable(block, name, shape=None):
    """A variable of float32, or of no more than its name."""
    made = block.vars.add(name=name)
    made.type.type = proto.VarType.STEP_SCOPES if shape is None else proto.VarType.LOD_TENSOR
    if shape is not None:
        made.type.lod_tensor.tensor.data_type = proto.VarType.FP32
        made.type.lod_tensor.tensor.dims[:] = shape


def operator(block, type, inputs, outputs):
    """An operator with slots of one name each."""
    made = block.ops.add(type=type)
    for slots, filled in ((inputs, made.inputs), (outputs, made.outputs)):
        for slot, names in slots.items():
            filled.add(parameter=slot).arguments.extend(names.split())
    return made


def program(reverse, block=1, sequences="x"):
    """What 1.8 wrote of a StaticRNN: the block calls a step of `x` so, and what it gives `h`."""
    message = proto.ProgramDesc()
    message.version.version = 1_008_005
    outer, inner = message.blocks.add(idx=0, parent_idx=-1), message.blocks.add(idx=1, parent_idx=0)
    for name, shape in SHAPES.items():
        variable(outer, name, shape)
    variable(outer, "h", (4, 2, 3))
    variable(outer, "scopes")
    for name in ("x", "before", "h", "product", "along"):
        variable(inner, name, (2, 3))
    operator(inner, "mul", {"X": "before", "Y": "w"}, {"Out": "product"})
    operator(inner, "elementwise_add", {"X": "product", "Y": "x"}, {"Out": "along"})
    operator(inner, "tanh", {"X": "along"}, {"Out": "h"})
    inputs = {"inputs": sequences, "initial_states": "h0", "parameters": "w"}
    step = operator(outer, "recurrent", inputs, {"outputs": "h", "step_scopes": "scopes"})
    for name, value in (("ex_states", "before"), ("states", "h")):
        step.attrs.add(name=name, type=proto.STRINGS).strings.append(value)
    step.attrs.add(name="reverse", type=proto.BOOLEAN, b=reverse)
    if block:
        step.attrs.add(name="sub_block", type=proto.BLOCK, block_idx=block)
    return message.SerializeToString()


def states(x, h0, w, reverse):
    """The states of all steps."""
    found, h = np.zeros_like(x), h0
    for i in range(len(x))[:: -1 if reverse else 1]:
        found[i] = h = np.tanh(h @ w + x[i])
    return found


@pytest.mark.parametrize("reverse", [False, True])
def test_recurrent_goes_through_its_sequences_step_by_step(reverse):
    found = program_of(program(reverse))
    assert [o.type for o in found.global_block().ops].count("while") == 1
    feed = {n: v.astype("float32") for n, v in FEED.items()}
    (h,) = static.Executor().run(found, feed=feed, fetch_list=["h"])
    np.testing.assert_allclose(h, states(**FEED, reverse=reverse), 1e-5, 1e-6)
    assert bytes_of(program_of(bytes_of(found))) == bytes_of(found)


@pytest.mark.parametrize("reverse", [False, True])
def test_the_loop_of_recurrent_has_gradients(reverse):
    found = program_of(program(reverse))
    block = found.global_block()
    sources = [block.var(name) for name in SHAPES]
    for v in sources:
        v.stop_gradient = False
    with static.program_guard(found):
        made = static.gradients([paddle.sum(block.var("h") ** 2)], sources)
    feed = {n: v.astype("float32") for n, v in FEED.items()}
    gradients = static.Executor().run(found, feed=feed, fetch_list=made)
    for name, gradient in zip(SHAPES, gradients, strict=True):
        step = 1e-6 * np.cos(np.arange(FEED[name].size)).reshape(FEED[name].shape)
        ends = [
            (states(**{**FEED, name: FEED[name] + s}, reverse=reverse) ** 2).sum()
            for s in (step, -step)
        ]
        np.testing.assert_allclose((gradient * step).sum() * 2, ends[0] - ends[1], 1e-4)


@pytest.mark.parametrize(
    ("change", "law"),
    [({"block": None}, "there is no block None"), ({"sequences": ""}, "there are no sequences")],
)
def test_a_recurrent_without_a_block_or_sequences_is_no_file(change, law):
    with pytest.raises(FileError, match=law):
        program_of(program(False, **change))
