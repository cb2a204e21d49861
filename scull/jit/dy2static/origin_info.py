"""Where a statement of a converted function comes from, under Paddle's names."""

import ast
import inspect
from typing import Any

from scull.jit.dy2static.utils import ORIGI_INFO, unwrap

__all__ = [
    "ORIGI_INFO",
    "Location",
    "OriginInfo",
    "attach_origin_info",
    "create_and_update_origin_info_map",
    "unwrap",
]


class Location:
    """A place in a file.

    Args:
        filepath (str): the file.
        lineno (int): the line.
        col_offset (int, optional): the column.
    """

    def __init__(self, filepath: str, lineno: int, col_offset: int | None = None) -> None:
        self.filepath, self.lineno, self.col_offset = filepath, lineno, col_offset

    def __str__(self) -> str:
        return f"location: {self.filepath}:{self.lineno}:{self.col_offset}"

    @property
    def line_location(self) -> tuple[str, int]:
        """The file and the line."""
        return self.filepath, self.lineno


class OriginInfo:
    """The place of a statement, its function and its text.

    Args:
        location (Location): the place.
        function_name (str): the function.
        source_code (str): the text of the line.
    """

    def __init__(self, location: Location, function_name: str, source_code: str) -> None:
        self.location, self.function_name = location, function_name
        self.source_code = source_code

    def __str__(self) -> str:
        return (
            f"{self.location} \nsource_code: {self.source_code}  in function "
            f"{self.function_name}\n  "
        )

    def formated_message(self) -> str:
        """The lines of a traceback that show it."""
        file, line = self.location.line_location
        text = self.source_code.lstrip()
        return f'    File "{file}", line {line}, in {self.function_name}\n\t{text}'

    def as_frame(self) -> tuple[str, int, str, str]:
        """The file, the line, the function and the text."""
        return (*self.location.line_location, self.function_name, self.source_code.lstrip())


def attach_origin_info(ast_node: Any, func: Any) -> Any:
    """`ast_node` with the origin of every node noted on it.

    Args:
        ast_node (ast.AST): the tree of the source of `func`.
        func (callable): the function.
    """
    func = unwrap(func)
    lines, start = inspect.getsourcelines(func)
    file = inspect.getfile(func)
    indent = len(lines[0]) - len(lines[0].lstrip())

    def walk(node: Any, name: str) -> None:
        name = node.name if isinstance(node, ast.FunctionDef) else name
        if hasattr(node, "lineno"):
            place = Location(file, start + node.lineno - 1, node.col_offset + indent)
            text = lines[node.lineno - 1].rstrip("\n")
            setattr(node, ORIGI_INFO, OriginInfo(place, name, text))
        for child in ast.iter_child_nodes(node):
            walk(child, name)

    walk(ast_node, func.__name__)
    return ast_node


def create_and_update_origin_info_map(
    transformed_node: Any, static_func: Any, is_global: bool = True
) -> dict[tuple[str, int], OriginInfo]:
    """The origin of every line of a converted function, which stands in the user's own file.

    Args:
        transformed_node (ast.AST): the tree, with origins.
        static_func (callable): the function.
        is_global (bool): not used.
    """
    found = (getattr(node, ORIGI_INFO, None) for node in ast.walk(transformed_node))
    return {info.location.line_location: info for info in found if info is not None}
