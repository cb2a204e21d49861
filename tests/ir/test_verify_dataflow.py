"""Which blocks of dataflow are legal: frames nest, one input of a merge is alive."""

import pytest

import scull as paddle
from scull.errors import ProgramError
from scull.ir.verify import verify
from scull.passes.dataflow import lowered
from scull.static.nn.control_flow import ConditionalBlock


@pytest.fixture(autouse=True)
def main():
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main):
        yield main
    paddle.disable_static()


SLOTS = {"switch": ("False", "True"), "merge": ("Out", "Index")}


def primitive(type, *operands, dtype="float32", **attrs):
    """The results of a primitive that the default Program gets."""
    block = paddle.static.default_main_program().global_block()
    kinds = (dtype, "int32" if type == "merge" else dtype)
    slots = SLOTS.get(type, ("Out",))
    outs = [block.create_var(shape=[-1], dtype=k) for _, k in zip(slots, kinds, strict=False)]
    names = {"switch": ("Data", "Pred"), "merge": ("X",), "loop_cond": ("Pred",)}
    ins = dict(zip(names.get(type, ("Data",)), operands, strict=True))
    block.append_op(type, ins, dict(zip(slots, outs, strict=True)), attrs)
    return outs if len(outs) > 1 else outs[0]


def inputs():
    x = paddle.static.data("x", [2])
    return x, paddle.sum(x) > 1.0, paddle.max(x) > 1.0


def test_sides_of_one_truth_value_may_meet(main):
    x, p, _ = inputs()
    no, yes = primitive("switch", x, p)
    primitive("merge", [paddle.tanh(no), yes])
    verify(main)


def test_sides_of_a_truth_value_and_of_its_denial_may_meet(main):
    x, p, _ = inputs()
    _, yes = primitive("switch", x, p)
    _, other = primitive("switch", x, paddle.logical_not(p))
    primitive("merge", [yes, other])
    verify(main)


def test_three_values_meet_where_one_truth_value_parts_each_two(main):
    x, p, q = inputs()
    no, yes = primitive("switch", x, p)
    a, b = primitive("switch", no, q)
    primitive("merge", [yes, a, b])
    verify(main)


def test_what_is_always_alive_meets_nothing(main):
    x, p, _ = inputs()
    _, yes = primitive("switch", x, p)
    primitive("merge", [x, yes])
    with pytest.raises(ProgramError, match=r"both be alive: `x` always, `\S+` when `\S+`") as error:
        verify(main)
    assert "`merge` at " in str(error.value) and "test_verify_dataflow.py:" in str(error.value)


def test_sides_of_two_truth_values_do_not_meet(main):
    x, p, q = inputs()
    no, _ = primitive("switch", x, p)
    _, yes = primitive("switch", x, q)
    primitive("merge", [no, yes])
    with pytest.raises(ProgramError, match="can both be alive"):
        verify(main)


def test_a_merged_value_is_alive_on_both_sides_again(main):
    x, p, _ = inputs()
    no, yes = primitive("switch", x, p)
    both, _ = primitive("merge", [no, yes])
    primitive("merge", [both, yes])
    with pytest.raises(ProgramError, match="can both be alive"):
        verify(main)


@pytest.mark.parametrize(
    ("type", "law"),
    [("exit", "leaves a frame without `enter`"), ("next_iteration", "is in no frame")],
)
def test_what_leaves_no_frame_is_refused(main, type, law):
    primitive(type, inputs()[0])
    with pytest.raises(ProgramError, match=law):
        verify(main)


def test_values_of_two_frames_do_not_meet(main):
    x, _, _ = inputs()
    inner = primitive("enter", x, frame_name="a")
    paddle.add(inner, x)
    with pytest.raises(ProgramError, match=r"several frames: `\S+` of `a`, `x` of no frame"):
        verify(main)


def test_a_name_is_of_one_frame(main):
    x, _, _ = inputs()
    inner = primitive("enter", x, frame_name="a")
    primitive("enter", inner, frame_name="b")
    primitive("enter", x, frame_name="b")
    with pytest.raises(ProgramError, match="the name `b` is of two frames"):
        verify(main)


def test_a_circle_needs_a_next_iteration(main):
    x, _, _ = inputs()
    a = paddle.tanh(x)
    b = paddle.exp(a)
    primitive("switch", b, paddle.sum(x) > 1.0)
    a.op.inputs = (b,)
    with pytest.raises(ProgramError, match="needs a value that needs its own result"):
        verify(main)


def test_only_a_merge_reads_the_round_before(main):
    inner = primitive("enter", inputs()[0], frame_name="a")
    paddle.tanh(primitive("next_iteration", inner))
    with pytest.raises(ProgramError, match=r"`tanh` at .* of the round before"):
        verify(main)


def test_a_merge_of_one_frame_does_not_read_the_rounds_of_another(main):
    x, _, _ = inputs()
    first, other = (primitive("enter", x, frame_name=n) for n in "ab")
    primitive("merge", [first, primitive("next_iteration", other)])
    with pytest.raises(ProgramError, match="of another frame"):
        verify(main)


def test_two_operators_do_not_write_one_variable(main):
    x, p, _ = inputs()
    no, _ = primitive("switch", x, p)
    paddle.assign(x, no)
    with pytest.raises(ProgramError, match=r"`assign` at .* writes `\S+`, `switch` at .* too"):
        verify(main)


def test_what_a_loop_makes_is_alive_where_what_enters_it_is(main):
    x, p, _ = inputs()
    y = x * 1.0
    i, limit = paddle.full([1], 0, "int64"), paddle.full([1], 2, "int64")

    def double(i, y):
        return [i + 1, y * 2.0]

    with ConditionalBlock([p], is_scalar_condition=True).block():
        _, found = paddle.static.nn.while_loop(lambda i, y: i < limit, double, [i * 1, y * 1.0])
        paddle.assign(found, y)
    verify(lowered(main))
