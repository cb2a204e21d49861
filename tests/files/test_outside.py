"""Operators of a loaded Program that reach outside of it are refused unless they are named."""

import io

import numpy as np
import pytest

import scull as paddle
from scull.core.op import by_type
from scull.errors import ArgumentTypeError, UnsafeFileError
from scull.files import proto
from scull.files.outside import EFFECTS, OUTSIDE
from scull.files.program import bytes_of, program_of
from scull.files.tensor_stream import write_combined
from scull.static import (
    deserialize_program,
    load_inference_model,
    save_inference_model,
    serialize_program,
)

ALLOWED = ["print"]


@pytest.fixture
def static():
    """A Program that prints its input on the way to its output, with both."""
    paddle.enable_static()
    main = paddle.static.Program()
    with (
        paddle.utils.unique_name.guard(),
        paddle.static.program_guard(main, paddle.static.Program()),
        paddle.static.scope_guard(paddle.static.Scope()),
    ):
        x = paddle.static.data("x", [2])
        w = paddle.static.global_scope()
        kept = main.global_block().create_var(name="w", shape=[2], persistable=True)
        w.var("w").value = np.ones(2, "float32")
        y = paddle.static.Print(x + kept, message="printed")
        yield x, y, main
    paddle.disable_static()


def through_files(static, tmp_path, **options):
    x, y, main = static
    prefix = str(tmp_path / "net")
    save_inference_model(prefix, [x], [y], None, program=main)
    return load_inference_model(prefix, None, **options)[0]


def through_names(static, tmp_path, **options):
    through_files(static, tmp_path, allow_ops=ALLOWED)
    names = {"model_filename": "net.pdmodel", "params_filename": "net.pdiparams"}
    return load_inference_model(str(tmp_path), None, **names, **options)[0]


def through_bytes(static, tmp_path, **options):
    x, y, main = static
    data, values = serialize_program([x], [y], program=main), io.BytesIO()
    write_combined(values, {"w": np.ones(2, "float32")})
    names = {"model_filename": data, "params_filename": values.getvalue()}
    return load_inference_model(None, None, **names, **options)[0]


def through_text(static, tmp_path, **options):
    return paddle.static.Program.parse_from_string(bytes_of(static[2]), **options)


def deserialized(static, tmp_path, **options):
    x, y, main = static
    return deserialize_program(serialize_program([x], [y], program=main), **options)


def loaded(static, tmp_path, **options):
    return paddle.load(io.BytesIO(bytes_of(static[2])), **options)


def as_layer(static, tmp_path, **options):
    through_files(static, tmp_path, allow_ops=ALLOWED)
    paddle.disable_static()
    return paddle.jit.load(str(tmp_path / "net"), **options)


def as_state(static, tmp_path, **options):
    through_files(static, tmp_path, allow_ops=ALLOWED)
    return paddle.load(str(tmp_path / "net"), **options)


def as_predictor(static, tmp_path, allow_ops=()):
    through_files(static, tmp_path, allow_ops=ALLOWED)
    prefix = str(tmp_path / "net")
    config = paddle.inference.Config(prefix + ".pdmodel", prefix + ".pdiparams")
    config.allow_ops(*allow_ops)
    return paddle.inference.create_predictor(config)


def distributed(static, tmp_path, **options):
    through_files(static, tmp_path, allow_ops=ALLOWED)
    load = paddle.distributed.io.load_inference_model_distributed
    return load(str(tmp_path), None, "net.pdmodel", "net.pdiparams", **options)[0]


DOORS = [through_files, through_names, through_bytes, through_text, deserialized, loaded]
DOORS += [as_layer, as_state, as_predictor, distributed]


@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_what_prints_and_says_how_it_is_allowed(door, static, tmp_path):
    with pytest.raises(UnsafeFileError, match=r'would print; .* `allow_ops=\["print"\]`'):
        door(static, tmp_path)
    assert door(static, tmp_path, allow_ops=ALLOWED) is not None


def test_what_is_allowed_runs(static, tmp_path, capsys):
    program = through_text(static, tmp_path, allow_ops=ALLOWED)
    feed = {"x": np.zeros(2, "float32")}
    paddle.static.Executor().run(program, feed=feed, fetch_list=[static[1].name])
    assert "printed" in capsys.readouterr().out


def with_operator(type: str) -> bytes:
    """A Program whose second block has an operator of a type, without anything."""
    message = proto.ProgramDesc()
    message.blocks.add(idx=0, parent_idx=-1)
    message.blocks.add(idx=1, parent_idx=0).ops.add(type=type)
    return message.SerializeToString()


@pytest.mark.parametrize("type", sorted(set(OUTSIDE) - set(by_type())))
def test_operators_that_scull_lacks_are_refused_where_they_reach_outside(type):
    with pytest.raises(UnsafeFileError, match=rf"block 1, operator 0 \(`{type}`\) would "):
        program_of(with_operator(type))
    with pytest.raises(UnsafeFileError):
        program_of(with_operator(type), ["print"])
    assert program_of(with_operator(type), ["print", type]).blocks[1].ops[0].type == type


def test_gradients_of_what_prints_are_refused(static):
    x, y, main = static
    x.stop_gradient = False
    paddle.static.gradients([y], [x])
    with pytest.raises(UnsafeFileError, match="would print"):
        program_of(bytes_of(main))
    assert program_of(bytes_of(main), ALLOWED)


def test_a_python_function_of_this_process_is_not_called_by_a_file():
    paddle.enable_static()
    called = []
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2])
        out = main.global_block().create_var(name="out", shape=[2], dtype="float32")
        paddle.static.py_func(lambda v: called.append(v), x, out)
    paddle.disable_static()
    with pytest.raises(UnsafeFileError, match="would call Python"):
        program_of(bytes_of(main))
    assert not called and program_of(bytes_of(main), ["py_func"])


def test_every_declared_operator_with_such_an_effect_is_among_them():
    found = {t for t, op in by_type().items() if op.effects & {"python", "communicates"}}
    assert found <= set(OUTSIDE)
    assert sum(len(types.split()) for types in EFFECTS.values()) == len(OUTSIDE)


@pytest.mark.parametrize("wrong", ["print", 3, [3], None])
def test_what_is_allowed_is_a_list_of_types(wrong, static):
    with pytest.raises(ArgumentTypeError, match="allow_ops is a list of types"):
        program_of(bytes_of(static[2]), wrong)
