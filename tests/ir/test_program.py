"""Programs, blocks, operators and variables: what they hold, refuse and print."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ProgramError, ShapeError, SlotError, UnknownOpError
from scull.ir.verify import verify


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    with (
        paddle.utils.unique_name.guard(),
        paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()),
    ):
        yield
    paddle.disable_static()


def test_a_global_seed_is_that_of_programs_made_later_too():
    program = paddle.static.Program()
    try:
        program.global_seed(102)
        assert (program.random_seed, paddle.static.Program().random_seed) == (102, 102)
    finally:
        program.global_seed()
    assert (program.random_seed, paddle.static.Program().random_seed) == (0, 0)


def main():
    return paddle.static.default_main_program()


def test_a_variable_of_a_sub_block_shadows_the_outer_one():
    outer = main().global_block().create_var("v", shape=[2], dtype="float32")
    inner_block = main()._create_block()
    assert inner_block._find_var_recursive("v") is outer
    inner = inner_block.create_var("v", shape=[3], dtype="int64")
    assert inner_block._find_var_recursive("v") is inner
    main()._rollback()
    assert main().current_block()._find_var_recursive("v") is outer


def test_dunders_insert_operators_in_static_mode_and_compute_in_eager_mode():
    x = paddle.static.data("x", [2])
    y = x + 1
    assert [o.type for o in main().global_block().ops] == ["scale"]
    assert y.name == "tmp_0"
    paddle.disable_static()
    assert (paddle.ones([2]) + 1).tolist() == [2.0, 2.0]
    paddle.enable_static()


def test_an_operator_by_hand_reads_back_its_slots_and_attributes():
    block = main().global_block()
    x = paddle.static.data("x", [6, 4])
    outs = [block.create_var(f"o{i}", dtype="float32") for i in range(3)]
    op = block.append_op("split", {"X": x}, {"Out": outs}, {"num": 3, "axis": 0})
    assert op.input("X") == ["x"]
    assert op.output("Out") == ["o0", "o1", "o2"]
    assert (op.attr("num"), op.attr("axis"), op.has_attr("sections")) == (3, 0, True)
    assert outs[0].shape == (2, 4)
    op._set_attr("axis", 1)
    assert op.attr("axis") == 1


def test_an_unknown_slot_is_refused_with_those_that_exist():
    x = paddle.static.data("x", [2])
    with pytest.raises(SlotError, match="`relu` has no input 'Y'; it has X"):
        main().global_block().append_op("relu", {"X": x, "Y": x}, {"Out": x})


def test_a_missing_attribute_is_refused_with_its_name():
    block = main().global_block()
    x, out = paddle.static.data("x", [2]), block.create_var("out")
    with pytest.raises(SlotError, match="`transpose2` needs the attribute `axis`"):
        block.append_op("transpose2", {"X": x}, {"Out": out})


def test_an_attribute_of_the_wrong_kind_is_refused_with_its_value():
    block = main().global_block()
    x, out = paddle.static.data("x", [2]), block.create_var("out")
    with pytest.raises(TypeError, match="attribute `scale` takes FLOAT, not str 'much'"):
        block.append_op("scale", {"X": x}, {"Out": out}, {"scale": "much"})


def test_two_variables_in_a_slot_that_takes_one_are_refused():
    x, y = paddle.static.data("x", [2]), paddle.static.data("y", [2])
    with pytest.raises(SlotError, match="takes one variable, 2 were given"):
        main().global_block().append_op("relu", {"X": [x, y]}, {"Out": x})


def test_an_unknown_operator_type_is_refused():
    with pytest.raises(UnknownOpError, match="`rleu`"):
        main().global_block().append_op("rleu", {}, {})


def test_a_shape_mismatch_is_refused_when_recorded_with_law_values_operator_and_line():
    x, y = paddle.static.data("x", [2, 3]), paddle.static.data("y", [2, 3])
    before = len(main().global_block().ops)
    with pytest.raises(ShapeError, match="x has 3 columns and y has 2 rows") as caught:
        paddle.matmul(x, y)
    note = str(caught.value)
    assert note.splitlines()[1:4] == ["in matmul", "  x: float32[2, 3]", "  y: float32[2, 3]"]
    assert "test_program.py:" in note.splitlines()[4]
    assert len(main().global_block().ops) == before


def test_an_unknown_size_refuses_arithmetic_in_a_body_and_passes_through_operators():
    x = paddle.static.data("x", [None, 4])
    assert paddle.mean(x, axis=0).shape == (4,)
    assert paddle.reshape(x, [0, 2, 2]).shape == (-1, 2, 2)
    assert paddle.concat([x, x]).shape == (-1, 4)
    assert paddle.nn.functional.softmax(x).shape == (-1, 4)


def test_a_legal_program_passes_and_a_use_before_definition_is_named():
    block = main().global_block()
    x = paddle.static.data("x", [2])
    y = paddle.exp(x)
    paddle.tanh(y)
    verify(main())
    block.ops.reverse()
    with pytest.raises(ProgramError, match=r"block 0, operator 0 \(`tanh`\) reads `exp_0.tmp_0`"):
        verify(main())


def test_a_result_declared_with_another_shape_is_named():
    x = paddle.static.data("x", [2])
    y = paddle.exp(x)
    y.shape = (3,)
    with pytest.raises(ProgramError, match=r"writes `exp_0.tmp_0` as float32\[2\]"):
        verify(main())


def test_a_clone_is_equal_and_independent():
    x = paddle.static.data("x", [None, 4])
    paddle.optimizer.Adam().minimize(paddle.mean(paddle.nn.Linear(4, 2)(x)))
    clone = main().clone()
    types = [o.type for o in clone.global_block().ops]
    assert types == [o.type for o in main().global_block().ops]
    clone.global_block()._remove_op(0)
    assert len(main().global_block().ops) == len(types)
    assert all(v.block is clone.global_block() for v in clone.list_vars())


def test_operators_remember_the_line_that_made_them():
    x = paddle.static.data("x", [2])
    paddle.exp(x)
    stack = main().global_block().ops[-1].attr("op_callstack")
    assert "test_program.py" in stack[0]


def test_names_start_anew_under_a_guard_and_parameters_are_shared_by_name():
    def network():
        return paddle.nn.Linear(3, 2)(paddle.static.data("x", [None, 3]))

    startup = paddle.static.Program()
    programs = []
    for _ in range(2):
        program = paddle.static.Program()
        with paddle.utils.unique_name.guard(), paddle.static.program_guard(program, startup):
            network()
        programs.append(program)
    names = [[p.name for p in program.all_parameters()] for program in programs]
    assert names[0] == names[1] == ["linear_0.w_0", "linear_0.b_0"]
    assert len(startup.global_block().ops) == 2


def test_a_wrong_argument_of_a_guard_is_refused():
    with pytest.raises(TypeError, match="must be Program"), paddle.static.program_guard("main"):
        pass


def test_a_missing_input_is_refused_with_its_slot_and_the_users_line():
    block = main().global_block()
    x, out = paddle.static.data("x", [2]), block.create_var("out")
    with pytest.raises(SlotError, match="needs its input `Y`") as caught:
        block.append_op("elementwise_add", {"X": x}, {"Out": out})
    note = str(caught.value)
    assert "\nin elementwise_add\n  at " in note
    assert "test_program.py:" in note


def test_an_input_declared_again_is_the_same_and_with_another_shape_refused():
    x = paddle.static.data("x", [2])
    assert paddle.static.data("x", [2]) is x
    with pytest.raises(ValueError, match="has been created before"):
        paddle.static.data("x", [3])


def test_a_run_prints_what_print_is_given(capsys):
    x = paddle.static.data("x", [2])
    y = paddle.static.Print(x, message="here", first_n=1)
    for _ in range(2):
        feed = {"x": np.ones(2, "float32")}
        paddle.static.Executor().run(main(), feed=feed, fetch_list=[y])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["Variable: x", "  - message: here"]
    assert lines[-1] == "  - data: [1 1]"
    assert len(lines) == 8


def test_a_copy_for_testing_has_no_blocks_of_gradients():
    x = paddle.static.data("x", [2, 3])
    hidden = paddle.static.nn.fc(x, 2)
    loss = paddle.static.nn.cond(
        paddle.sum(x) > 0, lambda: paddle.mean(hidden), lambda: paddle.sum(hidden)
    )
    before = main().clone(for_test=True)
    paddle.optimizer.SGD(0.1).minimize(loss)
    after = main().clone(for_test=True)
    assert main().num_blocks == 5 and after.num_blocks == before.num_blocks == 3
    verify(after)
    shown = [[o.type for o in block.ops] for block in after.blocks]
    assert shown == [[o.type for o in block.ops] for block in before.blocks]
    assert [o.attr("sub_block") for o in after.global_block().ops if o.op.has_blocks] == [1, 2]


def test_what_a_copy_needs_is_told_by_variables_of_the_original():
    loss = paddle.mean(paddle.static.nn.fc(paddle.static.data("x", [2, 3]), 2))
    paddle.sum(loss)
    found = main().clone()._prune_with_input(["x"], [loss])
    assert [o.type for o in found.global_block().ops] == ["mul", "elementwise_add", "reduce_mean"]
    assert len(found.all_parameters()) == 2


@pytest.mark.parametrize(
    ("build", "types"),
    [
        (lambda x: paddle.assign(x * 2.0, x), ["scale", "assign"]),
        (lambda x: paddle.static.nn.cond(paddle.sum(x) > 0, lambda: assigned(x), None), None),
        (lambda x: paddle.static.nn.while_loop(below, doubled, [x]), None),
        (lambda x: paddle.increment(paddle.reshape(x, [1])), []),
    ],
    ids=["written over", "in a branch", "in a loop", "something else"],
)
def test_what_writes_over_what_is_fed_is_needed(build, types):
    x = paddle.static.data("x", [1])
    build(x)
    whole = [o.type for o in main().global_block().ops]
    for target, more in ((x + 1.0, ["scale"]), (x, [])):
        found = main()._prune_with_input(["x"], [target])
        assert [o.type for o in found.global_block().ops] == (
            whole if types is None else types
        ) + more


def below(x):
    return paddle.sum(x) < 9.0


def doubled(x):
    return [x * 2.0]


def assigned(x):
    paddle.assign(x * 2.0, x)


def test_who_makes_what_is_fed_is_not_needed_and_who_changes_it_is():
    made = paddle.tanh(paddle.static.data("x", [1]))
    paddle.assign(made * 3.0, made)
    found = main()._prune_with_input([made.name], [made + 1.0])
    assert [o.type for o in found.global_block().ops] == ["scale", "assign", "scale"]
