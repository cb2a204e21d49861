"""From a converted tree to a function beside the one it was made of: same cells, same file."""

import __future__

import ast
import types
from types import CodeType, FunctionType, ModuleType
from typing import Any

from scull.errors import UnsupportedError
from scull.jit.convert import meanings
from scull.jit.convert.pipeline import lowered
from scull.jit.convert.source import Found, function_tree
from scull.jit.convert.syntax import MEANING, assigned, function, placed

FLAGS = {getattr(__future__, name).compiler_flag for name in __future__.all_feature_names}
FUTURE = sum(FLAGS - {0, 16})  # 16 says of code that it is within other code
Converted = tuple[ast.FunctionDef, str | None, set[str]]
OUTER = "outer"
ALONE = f"{MEANING}_function"  # what a function is called while it is compiled


def definition(found: Found) -> ast.FunctionDef:
    """The function as a statement, without decorators and what its signature computes."""
    node = found[0]
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [ast.Return(node.body)]
        return placed(ast.FunctionDef(ALONE, node.args, body, []), node)  # type: ignore[no-any-return]
    node.decorator_list, node.returns = [], None
    return node  # type: ignore[no-any-return]


def converted_tree(code: CodeType, module: dict[str, Any]) -> tuple[ast.FunctionDef, set[str]]:
    """The converted function of `code`, and the names of what was made."""
    found = function_tree(code, module)
    if found is None:
        raise UnsupportedError(f"the source of `{code.co_qualname}` is not to be found")
    modules = [name for name, value in module.items() if isinstance(value, ModuleType)]
    return lowered(definition(found), found[1], modules)


def converted_code(code: CodeType, module: dict[str, Any]) -> CodeType | None:
    """The code of the converted function; None when nothing in it needs to be converted."""
    tree, made = converted_tree(code, module)
    if not any(isinstance(n, ast.Name) and n.id == MEANING for n in ast.walk(tree)):
        return None
    return compiled(tree, made, code)


def compiled(tree: ast.FunctionDef, made: set[str], code: CodeType) -> CodeType:
    """The code of a tree that takes the place of `code`."""
    names = [*code.co_freevars, MEANING]
    places: list[ast.stmt] = [assigned(n, ast.Constant(None)) for n in names]
    tree.name = ALONE  # its own name means what it means around the function
    without_defaults(tree)
    outer = function(OUTER, [], [*places, tree])
    whole = placed(ast.Module([outer], []), tree)
    flags = code.co_flags & FUTURE
    found = compile(whole, code.co_filename, "exec", flags, dont_inherit=True)
    for step in (OUTER, ALONE):
        inner = [c for c in found.co_consts if isinstance(c, CodeType)]
        found = next(c for c in inner if c.co_name == step)
    return relabelled(found, code.co_name, code.co_qualname, made)


def without_defaults(tree: ast.FunctionDef) -> None:
    """Leave out what the signature computes: the function that is made takes it over."""
    a = tree.args
    a.defaults = [ast.copy_location(ast.Constant(None), d) for d in a.defaults]
    a.kw_defaults = [d and ast.copy_location(ast.Constant(None), d) for d in a.kw_defaults]
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs]
    for argument in [*every, *(p for p in (a.vararg, a.kwarg) if p)]:
        argument.annotation = None


def relabelled(code: CodeType, name: str, qualname: str, made: set[str]) -> CodeType:
    """`code` under a name; the functions `made` of parts of it are called as it is."""
    consts = []
    for value in code.co_consts:
        if isinstance(value, CodeType):
            whole = f"{qualname}.<locals>.{value.co_name}"
            labels = (name, qualname) if value.co_name in made else (value.co_name, whole)
            value = relabelled(value, *labels, made)
        consts.append(value)
    return code.replace(co_consts=tuple(consts), co_name=name, co_qualname=qualname)


def instance(code: CodeType, original: FunctionType) -> FunctionType:
    """The function of `code` in the surroundings of `original`."""
    cells = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
    cells[MEANING] = types.CellType(meanings)
    closure = tuple([cells[n] for n in code.co_freevars])
    made = FunctionType(
        code, original.__globals__, original.__name__, original.__defaults__, closure
    )
    made.__kwdefaults__ = original.__kwdefaults__
    made.__dict__.update(original.__dict__)
    noted = "__annotate__" if hasattr(original, "__annotate__") else "__annotations__"
    setattr(made, noted, getattr(original, noted))  # newer Pythons compute them when asked
    made.__doc__, made.__module__ = original.__doc__, original.__module__
    made.__qualname__ = original.__qualname__
    return made
