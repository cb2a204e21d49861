"""Functions and their sources, under Paddle's names."""

import ast
import inspect
import textwrap
from typing import Any

from scull.errors import ArgumentTypeError
from scull.jit.convert.build import compiled, instance
from scull.jit.dy2static.utils_helper import index_in_list, is_dygraph_api, is_paddle_api  # noqa: F401
from scull.jit.signature import serves as _compatible_non_tensor_spec  # noqa: F401

ORIGI_INFO = "Original information of source code for ast node."
Dygraph2StaticException = ArgumentTypeError


class UndefinedVar:
    """In the place of a value where a name has none.

    Args:
        name (str): the name.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def check(self) -> None:
        """Refuse to be used.

        Raises:
            UnboundLocalError: always.
        """
        raise UnboundLocalError(f"local variable '{self.name}' should be created before using it.")


def ast_to_source_code(ast_node: Any) -> str:
    """The source of a tree.

    Args:
        ast_node (ast.AST): the tree.
    """
    if not isinstance(ast_node, ast.AST):
        raise ArgumentTypeError(
            f"Type of ast_root should be gast.AST or ast.AST, but received {type(ast_node)}."
        )
    return ast.unparse(ast.fix_missing_locations(ast_node)) + "\n"


def ast_to_func(ast_root: Any, dyfunc: Any, delete_on_exit: bool = True) -> tuple[Any, str]:
    """The function that a tree defines, in the surroundings of `dyfunc`, and its file.

    Args:
        ast_root (ast.AST): a function, or a module whose first function it is.
        dyfunc (callable): the function it was made of.
        delete_on_exit (bool): not used; nothing is written.
    """
    if not isinstance(ast_root, ast.AST):
        raise ArgumentTypeError(
            f"Type of ast_root should be gast.AST or ast.AST, but received {type(ast_root)}."
        )
    parts = getattr(ast_root, "body", []) if isinstance(ast_root, ast.Module) else [ast_root]
    tree = next(n for n in parts if isinstance(n, ast.FunctionDef))
    tree.decorator_list, tree.returns = [], None
    ast.fix_missing_locations(tree)
    function = unwrap(dyfunc)
    code = compiled(tree, set(), function.__code__)
    return instance(code, function), function.__code__.co_filename


def unwrap(func: Any) -> Any:
    """The plain function within what decorators and classes put around it.

    Args:
        func (callable): the outermost.
    """
    func = getattr(func, "_dygraph_function", func)
    return inspect.unwrap(getattr(func, "__func__", func))


def func_to_source_code(function: Any, dedent: bool = True) -> str:
    """The source of a function.

    Args:
        function (callable): the function.
        dedent (bool): whether to let it begin at the left.
    """
    if not inspect.isroutine(function) and not hasattr(function, "_dygraph_function"):
        raise ArgumentTypeError(
            f"The type of 'function' should be a function or method, but received "
            f"{type(function).__name__}."
        )
    lines = inspect.getsourcelines(unwrap(function))[0]
    source = "".join(line.replace("\t", "    ") for line in lines)
    return textwrap.dedent(source) if dedent else source


def is_paddle_func(func: Any, ignore_white_list: bool = True) -> bool:
    """Whether a function is scull's.

    Args:
        func (callable): the function.
        ignore_white_list (bool): not used.
    """
    func = getattr(func, "func", func)
    module = inspect.getmodule(getattr(func, "__func__", func))
    return module is not None and module.__name__.split(".")[0] in ("paddle", "scull")


class GetterSetterHelper:
    """Reads and writes some of the values that a function gives and another takes.

    Args:
        getter_func (callable): gives all values, in the order of their sorted names.
        setter_func (callable): takes them.
        name_lists (list[str]): the names.
    """

    def __init__(self, getter_func: Any, setter_func: Any, *name_lists: Any) -> None:
        self._union = sorted({name for names in name_lists for name in names or ()})
        self.getter, self.setter = getter_func, setter_func
        self.name2id = {name: i for i, name in enumerate(self._union)}

    def union(self) -> list[str]:
        """All names."""
        return self._union

    def get(self, names: Any) -> tuple[Any, ...]:
        """The values of some names.

        Args:
            names (list[str]): the names.
        """
        values = self.getter()
        return () if values is None else tuple(values[self.place(n)] for n in names or ())

    def set(self, names: Any, values: Any) -> None:
        """Replace the values of some names.

        Args:
            names (list[str]): the names.
            values (list): what replaces them.
        """
        found = self.getter()
        if found is None:
            return
        found = list(found)
        for name, value in zip(names or (), values or (), strict=False):
            found[self.place(name)] = value
        self.setter(found)

    def place(self, name: str) -> int:
        """Where the value of a name stands."""
        if name not in self.name2id:
            raise AssertionError(f"the name `{name}` not in name union set`{list(self.name2id)}`.")
        return self.name2id[name]
