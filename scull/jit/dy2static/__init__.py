"""What Paddle has in `jit.dy2static`: older names of conversion, for code that looks there."""

from scull.deferred import deferred, listed

NAMES = {
    "": """ast_transformer convert_call_func convert_operators function_spec logging_utils
        logical_transformer loop_transformer origin_info partial_program program_translator utils
        utils_helper variable_trans_func""",
    "ast_transformer": "DygraphToStaticAst",
    "convert_operators": """
        And AsDtype Assert Call IfElse Indexable Len Not Or Pop Shape While convert_assert
        convert_attr convert_call convert_enumerate convert_ifelse convert_len convert_load
        convert_logical_and convert_logical_not convert_logical_or convert_pop convert_print
        convert_range convert_shape convert_shape_compare convert_var_dtype convert_while_loop
        convert_zip indexable""",
    "program_translator": "convert_to_static",
    "utils": "Dygraph2StaticException UndefinedVar ast_to_source_code",
    "variable_trans_func": "create_bool_as_type to_static_variable",
}
__getattr__, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)
