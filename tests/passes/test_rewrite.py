"""Rewrites: where a pattern is found, what hinders it, and that the reason is told."""

import pytest

import scull as paddle
from scull.errors import ProgramError
from scull.ops.elementwise import add, multiply
from scull.ops.fused import fused_gemm_epilogue
from scull.ops.linear import matmul
from scull.ops.math import exp, relu, tanh
from scull.passes.fuse import FuseLinear
from scull.passes.identity import Identity
from scull.passes.rewrite import Rewrite, apply, require
from tests.passes.check import Recorded, check_rewrite, f32, types

SUM = Identity(lambda x, y: relu(add(x, y)), lambda x, y: multiply(x, y))


def reasons(rewrite, make, *arrays, **options):
    """Why a rewrite leaves a Program as it is."""
    graph = Recorded(make, *arrays, **options).graph()
    events = rewrite.apply(graph)
    assert not any(event.fired for event in events)
    return [event.what for event in events]


def test_matmul_then_row_bias_becomes_one_operator():
    told = check_rewrite(
        FuseLinear(), lambda x, w, b: x @ w + b, fused_gemm_epilogue, f32(2, 3), f32(3, 4), f32(4)
    )
    assert told == ["`elementwise_add` (tmp_1) becomes `fused_gemm_epilogue`"]


def test_a_matrix_bias_is_left_alone():
    def same(x, w, b):
        return x @ w + b

    told = check_rewrite(FuseLinear(), same, same, f32(2, 3), f32(3, 4), f32(2, 4))
    assert told == ["`elementwise_add` (tmp_1) stays: bias `x2` is float32[2, 4], not a row"]


def test_operands_of_a_sum_may_come_in_any_order():
    def other(x, w, b):
        return b + x @ w

    check_rewrite(FuseLinear(), other, fused_gemm_epilogue, f32(2, 3), f32(3, 4), f32(4))


def test_what_has_a_bias_where_it_is_broadcast_from_is_left_alone():
    def same(x, w, b):
        return b + x @ w

    (told,) = check_rewrite(FuseLinear(), same, same, f32(2, 3), f32(3, 4), f32(1, 4))
    assert "not a row" in told


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda x, y: (relu(s := x + y), s), "`tmp_0` is fetched"),
        (lambda x, y: relu(s := x + y) * tanh(s), "`tmp_0` is read by `tanh`"),
        (
            lambda x, y: (relu(s := x + y), paddle.increment(s))[0],
            "`tmp_0` is written over by `increment`",
        ),
    ],
)
def test_a_sum_that_somebody_needs_stays_apart(make, reason):
    assert reasons(SUM, make, f32(1), f32(1)) == [reason]


def test_a_sum_that_another_block_reads_stays_apart():
    def make(x, y):
        s = x + y
        return paddle.static.nn.cond(x.sum() > 0, lambda: relu(s), lambda: s * 2.0), relu(s)

    found = reasons(SUM, make, f32(2), f32(2))
    assert found in (
        ["`tmp_0` is read by `conditional_block`"],
        ["`tmp_0` is used in another block"],
    )


def test_a_sum_that_the_scope_keeps_stays_apart():
    def make(x, y):
        kept = x.block.create_var("kept", shape=[2], dtype="float32", persistable=True)
        paddle.assign(x, kept)
        x.block.append_op("elementwise_add", {"X": [x], "Y": [y]}, {"Out": [kept]}, {"axis": -1})
        return relu(kept)

    assert reasons(SUM, make, f32(2), f32(2)) == ["`kept` is persistable"]


def test_an_operand_that_changes_in_between_is_not_read_later():
    def make(x, y):
        moving = x * 1.0
        s = moving + y
        paddle.increment(moving)
        return relu(s), moving

    assert reasons(SUM, make, f32(1), f32(1)) == [
        "`tmp_0` is written over by `increment` in between"
    ]


def test_a_value_that_takes_the_place_of_another_must_last():
    one = Identity(lambda x: exp(x), lambda x: x)

    def make(x):
        moving = x * 1.0
        y = exp(moving)
        paddle.increment(moving)
        return y + 1.0

    assert reasons(one, make, f32(1)) == ["`tmp_0` is written over by `increment`"]
    assert reasons(one, lambda x: exp(x), f32(2)) == ["`exp_0.tmp_0` is fetched"]


def test_a_replacement_has_the_meta_of_what_it_stands_for():
    shorter = Identity(lambda x: exp(x), lambda x: x.sum())
    assert reasons(shorter, lambda x: exp(x), f32(2, 3)) == [
        "`exp_0.tmp_0` is float32[2, 3], not float32[]"
    ]


def test_an_attribute_that_is_named_once_is_the_same_everywhere():
    class Twice(Rewrite):
        def pattern(self, x, y, z, *, turned):
            return matmul(matmul(x, y, transpose_y=turned), z, transpose_y=turned)

        def replace(self, x, y, z, turned):
            return matmul(x, matmul(y, z), transpose_y=turned)

    def products(first, second):
        return lambda x: paddle.matmul(
            paddle.matmul(x, x, transpose_y=first), x, transpose_y=second
        )

    assert Twice().apply(Recorded(products(True, True), f32(2, 2)).graph())[0].fired
    assert Twice().apply(Recorded(products(True, False), f32(2, 2)).graph()) == []


def test_several_results_are_replaced_together():
    class Both(Rewrite):
        def pattern(self, x):
            y = exp(x)
            return tanh(y), y

        def replace(self, x):
            y = multiply(x, x)
            return add(y, y), y

    recorded = Recorded(lambda x: (tanh(y := exp(x)), y), f32(2))
    graph = recorded.graph()
    assert [event.fired for event in Both().apply(graph)] == [True]
    made = graph.to_program()
    assert types(made) == ["elementwise_mul", "elementwise_add"]
    double, square = recorded.run(made)[0]
    assert (double == square + square).all()


def test_rewrites_that_feed_each_other_are_an_error():
    there = Identity(lambda x: exp(x), lambda x: tanh(x))
    back = Identity(lambda x: tanh(x), lambda x: exp(x))
    with pytest.raises(ProgramError, match="go on for ever"):
        apply([there, back], Recorded(lambda x: exp(x) + 1.0, f32(2)).graph())


def test_what_a_rewrite_records_in_vain_leaves_no_trace():
    class Vain(Rewrite):
        def pattern(self, x):
            return exp(x)

        def replace(self, x):
            tanh(x)
            require(False, "no")

    recorded = Recorded(lambda x: exp(x) + 1.0, f32(2))
    graph = recorded.graph()
    assert [str(e) for e in Vain().apply(graph)] == ["`exp` (exp_0.tmp_0) stays: no"]
    assert str(graph.to_program()) == str(recorded.main.clone())


def test_new_variables_have_names_that_nobody_has_and_users_names_go_on():
    recorded = Recorded(lambda x: exp(x) + tanh(x), f32(2))
    more = Identity(lambda x: exp(x), lambda x: multiply(tanh(x), tanh(x)))
    with paddle.utils.unique_name.guard():
        graph = recorded.graph()
        more.apply(graph)
        assert paddle.utils.unique_name.generate("tanh") == "tanh_0"
    program = graph.to_program()
    assert types(program) == ["tanh", "tanh", "elementwise_mul", "tanh", "elementwise_add"]
    assert len({v.name for o in program.global_block().ops for v in o.results()}) == 5


def test_role_and_line_are_those_of_what_was_there():
    def trained(x):
        y = (paddle.static.nn.fc(x, 2) + x).mean()
        paddle.optimizer.SGD(0.1).minimize(y)
        return y

    recorded = Recorded(trained, f32(2, 2))
    graph = recorded.graph()
    old = next(n.operator for n in graph.operators() if n.name() == "elementwise_add")
    assert old.attrs["axis"] != -1
    Identity(lambda x, y: add(x, y), lambda x, y: multiply(x, y)).apply(graph)
    made = next(n.operator for n in graph.operators() if n.name() == "elementwise_mul")
    assert (made.role, made.line, made.namescope) == (old.role, old.line, old.namescope)
    assert made.line
