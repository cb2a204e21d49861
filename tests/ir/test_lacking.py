"""Operators nobody declared are told all at once, with how many there are and where."""

import numpy as np
import pytest

import scull as paddle
from scull import static
from scull.errors import UnknownOpError
from scull.files.program import message_of, program_of
from scull.ir.lacking import lacking


def program_with(types):
    """A loaded Program in which some operators have other types, by the place they stand at."""
    paddle.enable_static()
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [2])
        for _ in range(4):
            x = paddle.exp(x)
        x = static.nn.cond(paddle.sum(x) > 0, lambda: paddle.exp(x), lambda: x * 2.0)
    paddle.disable_static()
    message = message_of(main)
    for (block, place), type in types.items():
        message.blocks[block].ops[place].type = type
        del message.blocks[block].ops[place].attrs[:]
    return message, x.name


FRAMES = [
    '  File "train.py", line 7, in main',
    "    net(x)",
    '  File "/usr/lib/python3/site-packages/paddle/base/framework.py", line 90, in append_op',
    "    op = Operator()",
]


def test_every_unknown_type_is_told_with_its_count_and_first_line():
    message, out = program_with({(0, 0): "warp", (0, 2): "crease", (1, 0): "crease"})
    stack = message.blocks[0].ops[2].attrs.add(name="op_callstack", type=5)
    stack.strings.extend(FRAMES)
    program = program_of(message.SerializeToString())
    with pytest.raises(UnknownOpError) as caught:
        static.Executor().run(program, feed={"x": np.ones(2, "float32")}, fetch_list=[out])
    assert str(caught.value).splitlines() == [
        "3 operators of 2 types cannot run",
        "no operator of type `crease` is declared: 2 operators, the first at train.py:7",
        "no operator of type `warp` is declared: 1 operator at block 0, operator 0",
    ]


def test_nothing_runs_before_they_are_told():
    message, out = program_with({(0, 3): "warp"})
    program = program_of(message.SerializeToString())
    with pytest.raises(UnknownOpError, match="1 operator at block 0, operator 3"):
        static.Executor().run(program, feed={"x": np.ones(2, "float32")}, fetch_list=[out])
    assert static.global_scope().find_var(out) is None


def test_frames_of_the_library_are_told_when_there_are_no_others():
    message, _ = program_with({(0, 0): "warp"})
    stack = message.blocks[0].ops[0].attrs.add(name="op_callstack", type=5)
    stack.strings.extend(FRAMES[2:])
    (found,) = lacking(program_of(message.SerializeToString()).global_block())
    assert (found.type, found.count) == ("warp", 1) and found.place.endswith("framework.py:90")


def test_a_program_with_known_operators_lacks_none():
    message, _ = program_with({})
    assert lacking(program_of(message.SerializeToString()).global_block()) == []


def test_what_stands_in_the_blocks_of_an_unknown_operator_is_told_too():
    message, _ = program_with({(1, 0): "warp"})
    (branch,) = [o for o in message.blocks[0].ops if any(a.block_idx == 1 for a in o.attrs)]
    branch.type = "ponder"
    found = lacking(program_of(message.SerializeToString()).global_block())
    assert [(one.type, one.count) for one in found] == [("ponder", 1), ("warp", 1)]
    assert found[1].place == "block 1, operator 0"


def test_what_computes_by_levels_of_detail_is_told_with_a_way_out():
    for types in ({(0, 0): "lstmp"}, {(0, 0): "sequence_topk_avg_pooling", (0, 1): "warp"}):
        message, out = program_with(types)
        program = program_of(message.SerializeToString())
        with pytest.raises(
            UnknownOpError, match=r"declared(.|\n)*`: networks .* step by step.*padded"
        ):
            static.Executor().run(program, feed={"x": np.ones(2, "float32")}, fetch_list=[out])
