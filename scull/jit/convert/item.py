"""`x[i] = v` in a form in which `x` may be a value of a Program or a list indexed by one."""

import ast
import copy
from typing import Any

from scull.jit.convert.scope import Scope
from scull.jit.convert.syntax import (
    SCOPES,
    Fresh,
    Statements,
    assigned,
    load,
    meaning,
    placed,
    rebuilt,
)

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}


def lower_items(body: Statements, scope: Scope, fresh: Fresh) -> Statements:
    """`body` without assignments to items."""
    made: Statements = []
    for statement in body:
        if isinstance(statement, SCOPES):
            made.append(statement)
            continue
        for new in replaced(statement, scope, fresh):
            placed(new, statement)
            made.append(rebuilt(new, lambda b: lower_items(b, scope, fresh)))
    return made


def replaced(node: Any, scope: Scope, fresh: Fresh) -> Statements:
    """What one statement becomes."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
        word = ast.Constant(OPERATORS[type(node.op)])
        index = index_of(node.target)
        return [written(node.target.value, "change_item", scope, index, word, node.value)]
    if not isinstance(node, ast.Assign) or not any(map(holds_item, node.targets)):
        return [node]
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
        target = node.targets[0]
        return [written(target.value, "set_item", scope, index_of(target), node.value)]
    value = fresh("value")
    made: Statements = [assigned(value, node.value)]
    scope.locals.add(value)
    for target in node.targets:
        later: list[tuple[ast.Subscript, str]] = []
        target = renamed(target, later, fresh)
        made.append(ast.Assign([target], load(value)))
        for item, name in later:
            scope.locals.add(name)
            made.append(written(item.value, "set_item", scope, index_of(item), load(name)))
    return made


def holds_item(target: ast.expr) -> bool:
    """Whether a target is an item, or a tuple with one."""
    if isinstance(target, ast.Tuple | ast.List):
        return any(map(holds_item, target.elts))
    target = target.value if isinstance(target, ast.Starred) else target
    return isinstance(target, ast.Subscript)


def renamed(target: Any, later: list[tuple[ast.Subscript, str]], fresh: Fresh) -> Any:
    """A target with names in the place of items, which `later` collects."""
    if isinstance(target, ast.Subscript):
        name = fresh("value")
        later.append((target, name))
        return placed(ast.Name(name, ast.Store()), target)
    if isinstance(target, ast.Tuple | ast.List):
        made = copy.copy(target)
        made.elts = [renamed(t, later, fresh) for t in target.elts]
        return made
    return target


def index_of(target: ast.Subscript) -> ast.expr:
    """The index as a value: `1:2` becomes `slice(1, 2)`."""
    return as_value(target.slice)


def as_value(node: Any) -> Any:
    """An index as an expression that may stand anywhere."""
    if isinstance(node, ast.Slice):
        bounds = [b or ast.Constant(None) for b in (node.lower, node.upper, node.step)]
        return placed(meaning("slice", *bounds), node)
    if isinstance(node, ast.Tuple):
        made = copy.copy(node)
        made.elts = [as_value(e) for e in node.elts]
        return made
    return node


def written(holder: Any, function: str, scope: Scope, *arguments: ast.expr) -> ast.stmt:
    """The statement that writes an item: a local name is bound to what it becomes."""
    if isinstance(holder, ast.Name) and holder.id in scope.locals:
        return assigned(holder.id, meaning(function, load(holder.id), *arguments))
    if isinstance(holder, ast.Subscript) and isinstance(root(holder), ast.Name):
        inner = meaning("item", copy.copy(holder.value), index_of(holder))
        value = meaning(function, inner, *arguments)
        return written(holder.value, "set_item", scope, index_of(holder), value)
    name = "write_item" if function == "set_item" else "rewrite_item"
    return ast.Expr(meaning(name, holder, *arguments))


def root(node: Any) -> Any:
    """What is indexed, perhaps several times."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node
