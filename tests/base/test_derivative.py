"""The gradient operators of one operator, described and put into a Program."""

import numpy as np
import pytest

import scull as paddle
from scull.base import core, framework


@pytest.fixture
def block():
    paddle.enable_static()
    program = paddle.static.Program()
    with paddle.static.program_guard(program, paddle.static.Program()):
        yield program.global_block()
    paddle.disable_static()


def test_an_operator_says_what_computes_its_gradients(block):
    x, y = paddle.static.data("x", [2, 3]), paddle.static.data("y", [3, 4])
    out = paddle.matmul(x, y)
    (made,), pairs = core.get_grad_op_desc(block.ops[-1].desc, set(), [])
    assert made.type() == "matmul_v2_grad"
    assert made.input("Out@GRAD") == [out.name + "@GRAD"] and made.input("X") == ["x"]
    assert made.output("X@GRAD") == ["x@GRAD"] and made.output("Y@GRAD") == ["y@GRAD"]
    assert pairs == {"x@GRAD": "x", "y@GRAD": "y"}
    assert len(block.ops) == 1


def test_gradients_that_are_not_wanted_are_left_out(block):
    x, y = paddle.static.data("x", [2, 3]), paddle.static.data("y", [3, 4])
    paddle.matmul(x, y)
    (made,), pairs = core.get_grad_op_desc(block.ops[-1].desc, {"y@GRAD"}, [])
    assert made.output("Y@GRAD") == [] and pairs == {"x@GRAD": "x"}


def test_only_gradients_that_a_rule_insists_on_are_read(block):
    x = paddle.static.data("x", [2, 3])
    paddle.nn.functional.layer_norm(x, 3)
    (made,), _ = core.get_grad_op_desc(block.ops[-1].desc, set(), [])
    read = [n for n in made.input_arg_names() if n.endswith("@GRAD")]
    assert len(read) == 1


def test_a_gradient_made_of_several_operators_is_described_whole(block):
    x = paddle.static.data("x", [2, 3])
    paddle.scale(x, 3.0)
    made, pairs = core.get_grad_op_desc(block.ops[-1].desc, set(), [])
    assert [m.type() for m in made] == ["scale"] and pairs == {"x@GRAD": "x"}


def test_an_operator_without_gradient_has_none(block):
    paddle.argmax(paddle.static.data("x", [2, 3]))
    assert core.get_grad_op_desc(block.ops[-1].desc, set(), []) == ([], {})


def test_a_described_operator_runs_in_the_program_it_is_copied_into(block):
    x, y = paddle.static.data("x", [2, 3]), paddle.static.data("y", [2, 3])
    out = paddle.multiply(x, y)
    (made,), _ = core.get_grad_op_desc(block.ops[-1].desc, set(), [])
    block.desc.append_op().copy_from(made)
    for name in made.output_arg_names():
        assert block.desc.find_var(name.encode()) is not None
    assert [o.type for o in block.ops] == ["elementwise_mul", "elementwise_mul_grad"]
    feed = {n: np.full((2, 3), v, "float32") for n, v in (("x", 2), ("y", 5))}
    feed[framework.grad_var_name(out.name)] = np.full((2, 3), 7, "float32")
    found = paddle.static.Executor().run(feed=feed, fetch_list=["x@GRAD", "y@GRAD"])
    assert [float(g[0, 0]) for g in found] == [35.0, 14.0]


def test_the_kind_of_an_attribute_is_told():
    assert core.get_attrtibute_type("matmul_v2", "trans_x") is core.AttrType.BOOL
    assert int(core.get_attrtibute_type("reshape2", "shape")) == 3
    assert core.get_attrtibute_type("batch_norm", "use_mkldnn") is core.AttrType.BOOL
    with pytest.raises(ValueError, match="has no attribute `nonsense`"):
        core.get_attrtibute_type("relu", "nonsense")


def test_switches_that_choose_kernels_by_measuring_are_accepted():
    core.set_autotune_range(0, 3)
    assert core.update_autotune_status() is core.enable_autotune() is core.disable_autotune()
