"""What cannot run: Programs that are not legal, scopes without values, unknown strategies."""

from importlib import import_module

import numpy as np
import pytest

import scull as paddle
from scull.errors import (
    ArgumentError,
    ProgramError,
    ScullError,
    UninitializedError,
    UnknownOpError,
    UnsupportedError,
)
from scull.executor.plan import make_plan
from scull.ir.operator import Operator
from scull.ir.verify import verify


def test_a_program_runs_in_each_scope_with_the_values_of_that_one(main):
    w = main.global_block().create_var("w", shape=[2], dtype="float32", persistable=True)
    out, executor = w * 2.0, paddle.static.Executor()
    scopes = [paddle.static.Scope() for _ in range(3)]
    for number, scope in enumerate(scopes):
        scope.var("w").value = np.full(2, number, "float32")
    for _ in range(2):
        for number, scope in enumerate(scopes):
            (found,) = executor.run(main, fetch_list=[out], scope=scope)
            assert found.tolist() == [2.0 * number] * 2


def test_a_scope_that_never_got_a_value_is_refused_with_its_name(main):
    w = main.global_block().create_var("w", shape=[2], dtype="float32", persistable=True)
    out, executor = w * 2.0, paddle.static.Executor()
    good, bare = paddle.static.Scope(), paddle.static.Scope()
    good.var("w").value = np.ones(2, "float32")
    executor.run(main, fetch_list=[out], scope=good)
    for _ in range(2):
        with pytest.raises(UninitializedError, match="`w` has no value in this scope; `scale`"):
            executor.run(main, fetch_list=[out], scope=bare)
    bare.var("w").value = np.zeros(2, "float32")
    assert executor.run(main, fetch_list=[out], scope=bare)[0].tolist() == [0.0, 0.0]


def test_a_value_of_a_scope_that_was_erased_is_missed(main):
    w = main.global_block().create_var("w", shape=[2], dtype="float32", persistable=True)
    out, executor, scope = w * 2.0, paddle.static.Executor(), paddle.static.Scope()
    scope.var("w").value = np.ones(2, "float32")
    executor.run(main, fetch_list=[out], scope=scope)
    scope.erase(["w"])
    with pytest.raises(UninitializedError, match="`w`"):
        executor.run(main, fetch_list=[out], scope=scope)


def circle(main):
    """Two operators that wait for each other."""
    block = main.global_block()
    a, b = (block.create_var(name, shape=[2], dtype="float32") for name in "ab")
    block.append_op("tanh", {"X": [b]}, {"Out": [a]}, {})
    block.append_op("exp", {"X": [a]}, {"Out": [b]}, {})
    return a, b


def test_a_circle_of_operators_is_refused_with_the_first_that_has_nothing_to_read(main):
    a, b = circle(main)
    with pytest.raises(ProgramError, match=r"operator 0 \(`tanh`\).*`b`"):
        verify(main)
    with pytest.raises(UninitializedError, match="`b` has no value in this scope; `tanh`"):
        paddle.static.Executor().run(main, fetch_list=[b])
    assert make_plan(main.global_block(), ("b",), (a.name,)).names[2] == "b"


def operator(type, inputs, outputs):
    """An operator made past all checks."""
    known = paddle.static.default_main_program().global_block()
    found = known.made(type, inputs, outputs, {})
    return Operator(known, found.op, found.inputs, found.outputs, found.attrs)


def test_an_operator_on_a_variable_of_another_program_is_refused_by_its_place(main):
    x = paddle.static.data("x", [2])
    paddle.exp(x)
    with paddle.static.program_guard(paddle.static.Program()):
        stranger = paddle.static.data("stranger", [2])
    out = main.global_block().create_var("out", shape=[2], dtype="float32")
    o = operator("tanh", {"X": [x]}, {"Out": [out]})
    o.inputs = (stranger,)
    main.global_block().append(o)
    with pytest.raises(ProgramError, match=r"block 0, operator 1 \(`tanh`\) uses `stranger`"):
        verify(main)


def test_an_operator_that_lacks_an_input_is_refused_by_its_place(main):
    x = paddle.static.data("x", [2])
    out = main.global_block().create_var("out", shape=[2], dtype="float32")
    o = operator("elementwise_add", {"X": [x], "Y": [x]}, {"Out": [out]})
    o.inputs = (x, None)
    main.global_block().append(o)
    with pytest.raises(ProgramError, match=r"operator 0 \(`elementwise_add`\) lacks its input `Y`"):
        verify(main)
    with pytest.raises(ScullError) as caught:
        paddle.static.Executor().run(main, feed={"x": np.ones(2, "float32")}, fetch_list=[out])
    assert "in add" in str(caught.value)


def test_operators_nobody_declared_are_refused_with_type_and_line(main):
    x = paddle.static.data("x", [2])
    out = paddle.exp(x)
    proto = main.desc.serialize_to_string().replace(b"\x03exp", b"\x03eyp")
    loaded = paddle.static.Program.parse_from_string(proto)
    with pytest.raises(UnknownOpError, match="no operator of type `eyp` is declared"):
        paddle.static.Executor().run(
            loaded, feed={"x": np.ones(2, "float32")}, fetch_list=[out.name]
        )


@pytest.mark.parametrize(
    ("strategy", "word"), [("BuildStrategy", "fuse_bn_act_opps"), ("ExecutionStrategy", "threds")]
)
def test_a_word_that_a_strategy_does_not_know_is_refused(strategy, word):
    with pytest.raises((AttributeError, ScullError), match=word):
        setattr(getattr(paddle.static, strategy)(), word, 2)


def test_a_device_that_is_not_there_is_refused():
    for place in (paddle.CUDAPlace(0), paddle.CustomPlace("other", 1)):
        with pytest.raises(UnsupportedError, match="there is no device"):
            paddle.static.Executor(place)


@pytest.mark.parametrize("limit", ["1M", -1, 2.5])
def test_a_limit_of_memory_that_is_no_number_of_bytes_is_refused(limit):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        out = paddle.full([2], 1.0)
    exe = paddle.static.Executor()
    exe.max_memory = limit
    with pytest.raises(ArgumentError, match="not a number of bytes"):
        exe.run(main, fetch_list=[out])


def test_a_setting_that_cannot_be_read_is_named(monkeypatch):
    settings = import_module("scull.flags")
    monkeypatch.delitem(settings._values, "HOST_THREADS", raising=False)
    monkeypatch.setenv("SCULL_HOST_THREADS", "many")
    with pytest.raises(ValueError, match="SCULL_HOST_THREADS is 'many', not a whole number"):
        settings.flag("HOST_THREADS")
