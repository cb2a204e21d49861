"""Paddle's older names of conversion, for code that looks there."""

import ast
import inspect
import operator
import textwrap

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentTypeError
from scull.jit import dy2static
from scull.jit.dy2static import convert_call_func, logging_utils, utils, utils_helper
from scull.jit.dy2static.function_spec import FunctionSpec
from scull.jit.dy2static.logical_transformer import cmpop_node_to_str
from scull.jit.dy2static.loop_transformer import NameVisitor
from scull.jit.dy2static.origin_info import (
    ORIGI_INFO,
    attach_origin_info,
    create_and_update_origin_info_map,
)
from scull.jit.dy2static.partial_program import partial_program_from
from scull.jit.dy2static.program_translator import ProgramTranslator, StaticFunction
from scull.jit.dy2static.variable_trans_func import create_fill_constant_node
from scull.static import InputSpec
from scull.utils import gast


def chosen(x, by=2):
    if by > 1:
        y = x * by
    else:
        y = x
    return y


def counted(n, x):
    total = 0
    for i in range(n):
        total = total + x * i
        last = i
    return total + last


def test_every_name_is_there():
    for name in dy2static.__all__:
        assert getattr(dy2static, name) is not None
    with pytest.raises(AttributeError):
        _ = dy2static.nothing


def test_a_tree_becomes_a_function_again():
    root = gast.parse(textwrap.dedent(inspect.getsource(chosen)))
    function, file = utils.ast_to_func(root, chosen)
    assert (function(3), function(3, by=1), file) == (6, 3, chosen.__code__.co_filename)
    converted = dy2static.DygraphToStaticAst().get_static_ast(root)
    assert "_jst.if_else" in utils.ast_to_source_code(converted)
    for wrong in (utils.ast_to_func, lambda tree, _: utils.ast_to_source_code(tree)):
        with pytest.raises(ArgumentTypeError, match=r"should be gast.AST or ast.AST"):
            wrong("x = 1", chosen)


def test_sources_are_those_within_decorators():
    assert utils.func_to_source_code(paddle.jit.to_static(chosen)).startswith("def chosen(x")
    with pytest.raises(ArgumentTypeError, match="should be a function or method"):
        utils.func_to_source_code(3)


def test_functions_and_calls_are_told_apart():
    assert utils.is_paddle_func(paddle.add) and not utils.is_paddle_func(chosen)
    calls = ["base.dygraph.to_variable(x)", "paddle.abs(x)", "abs(x)"]
    nodes = [ast.parse(call, mode="eval").body for call in calls]
    assert [utils_helper.is_dygraph_api(node) for node in nodes] == [True, False, False]
    assert [utils_helper.is_paddle_api(node) for node in nodes] == [False, True, False]
    assert (utils_helper.index_in_list([3, 4], 4), utils_helper.index_in_list([3], 4)) == (1, -1)


def test_the_operators_are_those_of_converted_code():
    assert dy2static.convert_logical_and(lambda: 0, lambda: 1 / 0) == 0
    assert dy2static.convert_logical_or(lambda: 2, lambda: 1 / 0) == 2
    assert dy2static.convert_logical_not(0) is True
    assert dy2static.convert_shape_compare(1, "<", 2, "in", [1, 2]) is True
    assert dy2static.convert_shape_compare(1, ">", 2, "<", lambda: 1 / 0) is False
    x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 3.0])
    compared = paddle.jit.to_static(
        lambda x, y: [
            dy2static.convert_shape_compare(x, "==", y),
            dy2static.convert_shape_compare(x, "!=", y),
            dy2static.convert_shape_compare(x, "<=", y, "!=", x),
        ]
    )
    assert [v.item() for v in compared(x, y)] == [False, True, True]
    assert dy2static.convert_var_dtype("3", "int") == 3
    assert dy2static.convert_pop([1, 2]) == 2 and dy2static.indexable(iter("ab")) == ["a", "b"]
    assert dy2static.convert_attr(np.ones(3), "size") == 3
    with pytest.raises(AssertionError, match="why"):
        dy2static.convert_assert(False, "why")


def test_branches_and_loops_take_getters_and_setters():
    values = {"a": 1, "b": 2}

    def get():
        return tuple(values.values())

    def put(found):
        values.update(zip(values, found, strict=True))

    def grow():
        values["a"] += values["b"]

    assert dy2static.convert_ifelse(True, grow, lambda: None, get, put, ["a", "b"]) == (3, 2)
    dy2static.convert_while_loop(lambda: values["a"] < 9, grow, get, put, ["a", "b"])
    assert values == {"a": 9, "b": 2}


def test_the_state_of_a_recorded_branch_is_that_of_its_getter():
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            held = [paddle.static.data("x", [2])]

            def double():
                held[0] = held[0] * 2

            found = dy2static.convert_ifelse(
                held[0].sum() > 0, double, lambda: None, lambda: tuple(held), held.__init__, ["x"]
            )
            run = paddle.static.Executor().run
            for sign in (1, -1):
                feed = {"x": sign * np.ones(2, "float32")}
                np.testing.assert_array_equal(
                    run(program, feed=feed, fetch_list=found)[0], [max(sign * 2, sign)] * 2
                )
    finally:
        paddle.disable_static()


def test_the_names_of_a_loop():
    root = ast.parse(textwrap.dedent(inspect.getsource(counted)))
    visitor = NameVisitor(root)
    (loop,) = [node for node in ast.walk(root) if isinstance(node, ast.For)]
    assert visitor.is_control_flow_loop(loop)
    assert visitor.get_loop_var_names(loop) == ({"n", "i", "total", "last"}, {"last"})


def test_origins_name_the_line_of_the_file():
    root = ast.parse(textwrap.dedent(inspect.getsource(chosen)))
    root = attach_origin_info(root, chosen)
    info = getattr(root.body[0].body[0], ORIGI_INFO)
    line = inspect.getsourcelines(chosen)[1] + 1
    assert info.as_frame() == (__file__, line, "chosen", "if by > 1:")
    assert f'File "{__file__}", line {line}, in chosen' in info.formated_message()
    assert str(info.location) == f"location: {__file__}:{line}:4"
    assert create_and_update_origin_info_map(root, chosen)[__file__, line].source_code


def test_numbers_become_statements_and_tensors():
    assert ast.unparse(create_fill_constant_node("a", 1)).startswith("a = paddle.full(shape=[1]")
    assert create_fill_constant_node("a", []) is None
    assert dy2static.to_static_variable(2).item() == 2 and dy2static.to_static_variable("x") == "x"
    assert dy2static.create_bool_as_type(1, False) is False


def test_the_switch_of_conversion():
    translator = ProgramTranslator.get_instance()
    assert translator is ProgramTranslator() and translator.enable_to_static
    translator.enable(False)
    try:
        assert not translator.enable_to_static
    finally:
        translator.enable(True)
    assert translator.get_func(chosen)(3) == 6
    assert "_jst.if_else" in translator.get_code(StaticFunction(chosen))


def test_signs_of_comparisons():
    assert [cmpop_node_to_str(kind()) for kind in (ast.Lt, ast.NotIn)] == ["<", "not in"]


def test_a_function_without_a_value_says_so():
    with pytest.raises(UnboundLocalError, match="'x' should be created before using it"):
        dy2static.UndefinedVar("x").check()


def test_values_by_name():
    held = [1, 2, 3]
    helper = utils.GetterSetterHelper(lambda: held, lambda v: held.__init__(v), ["c", "a"], ["b"])
    assert (helper.union(), helper.get(["c", "a"])) == (["a", "b", "c"], (3, 1))
    helper.set(["b"], [5])
    assert held == [1, 5, 3] and helper.get(None) == ()
    with pytest.raises(AssertionError, match="the name `d`"):
        helper.get(["d"])


def test_what_is_left_says_so_under_paddles_name():
    function = paddle.jit.not_to_static(lambda: 1)
    assert getattr(function, convert_call_func.CONVERSION_OPTIONS).not_convert
    before = list(convert_call_func.BUILTIN_LIKELY_MODULES)
    try:
        convert_call_func.add_ignore_module([operator])
        assert convert_call_func.BUILTIN_LIKELY_MODULES[-1] is operator
    finally:
        convert_call_func.BUILTIN_LIKELY_MODULES[:] = before


def test_the_logger_shows_and_changes_the_levels(capsys, monkeypatch):
    logger = logging_utils.TranslatorLogger()
    assert logger is logging_utils.TranslatorLogger()
    assert (logger.verbosity_level, logger.transformed_code_level) == (-1, -1)
    monkeypatch.setenv("TRANSLATOR_VERBOSITY", "2")
    assert logger.has_verbosity(2) and not logger.has_verbosity(3)
    try:
        logging_utils.set_verbosity(1, also_to_stdout=True)
        logger.transformed_code_level = 5
        assert logging_utils.get_verbosity() == 1 and logger.has_code_level(5)
        logger.log(1, "converted %s", "f")
        logger.log(2, "unseen")
        assert capsys.readouterr().out == "Dynamic-to-Static INFO: (Level 1) converted f\n"
        with pytest.raises(ArgumentTypeError, match=r"not an integer: 3.3"):
            logger.verbosity_level = 3.3
    finally:
        logging_utils.set_verbosity(None, None)
        logging_utils.set_code_level(None, None)


def test_parameters_with_descriptions():
    spec = FunctionSpec(chosen, [InputSpec([None, 2], name="x")])
    assert (spec.args_name, len(spec.flat_input_spec)) == (["x", "by"], 1)
    assert spec.unified_args_and_kwargs([1], {}) == ((1, 2), {})
    found, named = spec.args_to_input_spec((paddle.ones([3, 2]), 4), {})
    assert (tuple(found[0].shape), found[0].name, found[1], named) == ((-1, 2), "x", 4, {})
    for args, kwargs in (((), {}), ((1,), {"by": 1})):
        with pytest.raises(ValueError):
            spec.args_to_input_spec(args, kwargs)
    with pytest.raises(ValueError):
        spec.unified_args_and_kwargs([1, 2, 3], {})


def test_a_recorded_program_is_called():
    static = paddle.jit.to_static(chosen)
    x = paddle.ones([2])
    static(x)
    assert partial_program_from(static.concrete_program)([x]).tolist() == [2.0, 2.0]
