"""The statements of a method."""

import ast
from collections.abc import Callable

from scull.core.meta import Kind
from scull.errors import UnsupportedError
from scull.jit.decompile.choice import Choice, Chooser, is_silent
from scull.jit.decompile.expression import INDENT, call, lines, name, text
from scull.jit.decompile.merging import Merging
from scull.jit.decompile.naming import Names, word_for
from scull.jit.decompile.overwrite import copied
from scull.jit.decompile.proof import Shape
from scull.passes.structure import Branch, Call, Loop, Region, Value

DEEPEST = 90  # blocks within each other: Python reads a hundred
Kept = Callable[[Value], ast.expr]
Within = Callable[[Choice], ast.expr | None]  # the call of a layer for a choice


class Body:
    """Writes the statements of a method whose parameters have `names`."""

    def __init__(self, chooser: Chooser, parameters: list[str], kept: Kept, layers: Within) -> None:
        self.chooser, self.structure = chooser, chooser.structure
        self.merging = Merging(chooser, self.structure.entries)
        self.fresh, self.kept, self.layers = Names(parameters), kept, layers
        by_call = copied(self.structure, chooser.tests)
        self.copied = {chooser.choices[c]: v for c, v in by_call.items() if c in chooser.choices}
        self.names: dict[Value, str] = {}
        for value, word in zip(self.structure.entries, parameters, strict=True):
            self.names[self.merging.leader(value)] = word
        self.found: list[str] = []
        self.silent = -1, 0  # where the last block without gradients ends, and how far it stands in

    def lines(self, indent: int) -> list[str]:
        """All statements, the one that returns the results last."""
        self.write(self.structure.region, indent)
        exits = [self.tree(v) for v in self.structure.exits]
        result = exits[0] if len(exits) == 1 else ast.Tuple(exits, ast.Load())
        many = len(exits) > 1 and len(text(result)) + indent < 90
        if many:
            self.found.append(" " * indent + "return " + ", ".join(map(text, exits)))
        else:
            self.found += lines("return ", result, indent)
        return self.found

    # ---- values ----

    def name_of(self, value: Value) -> str:
        """The name of a value, given when it is first asked for."""
        leader = self.merging.leader(value)
        if leader not in self.names:
            self.names[leader] = self.fresh(self.merging.words.get(leader) or word_of(value))
        return self.names[leader]

    def tree(self, value: Value) -> ast.expr:
        """What stands for a value where it is read."""
        if value in self.chooser.inlined:
            return self.expression(self.chooser.choices[value.maker])
        if value.maker is None and value not in self.structure.entries:
            if value.meta.kind is Kind.ARRAY:
                return call("paddle.tensor.create_array", value.meta.dtype)
            return self.kept(value)
        return name(self.name_of(value))

    def expression(self, choice: Choice) -> ast.expr:
        """The expression of a choice with what stands for its operands."""
        layer = self.layers(choice)
        return Filled(self, choice).visit(layer if layer is not None else choice.tree)  # type: ignore[no-any-return]

    # ---- statements ----

    def write(self, region: Region, indent: int) -> None:
        """Write the statements of a region."""
        if indent > DEEPEST * INDENT:
            raise UnsupportedError(f"more than {DEEPEST} branches and loops stand in each other")
        for node in region.nodes:
            if isinstance(node, Branch):
                self.write_branch(node, indent)
            elif isinstance(node, Loop):
                self.write_loop(node, indent)
            elif node in self.chooser.choices:
                self.write_call(node, indent)

    def write_call(self, node: Call, indent: int) -> None:
        """An assignment, if the result is not written elsewhere."""
        choice = self.chooser.choices[node]
        if any(v in self.chooser.inlined for v in choice.results):
            return
        head = self.target(choice, choice.shape) if choice.results else ""
        if is_silent(node):
            if self.silent != (len(self.found), indent):
                self.found.append(" " * indent + "with paddle.no_grad():")
            indent += INDENT
        self.found += lines(f"{head} = " if head else "", self.expression(choice), indent)
        if is_silent(node):
            self.silent = len(self.found), indent - INDENT

    def target(self, choice: Choice, shape: Shape, inner: bool = False) -> str:
        """The names that take the results of an expression."""
        if not isinstance(shape, list):
            return "_" if shape is None else self.name_of(choice.results[shape])
        parts = [self.target(choice, part, inner=True) for part in shape]
        joined = ", ".join(parts) + "," * (len(parts) == 1)
        return f"({joined})" if inner else joined

    def copies(self, pairs: list[tuple[Value, Value | None]], indent: int) -> None:
        """Assignments of values to names, as if at once."""
        moved = [(self.name_of(a), self.tree(b)) for a, b in pairs if b is not None]
        moved = [(word, tree) for word, tree in moved if text(tree) != word]
        words = {word for word, _ in moved}
        read = {n.id for _, tree in moved for n in ast.walk(tree) if isinstance(n, ast.Name)}
        if len(moved) > 1 and words & read:
            values = ", ".join(text(tree) for _, tree in moved)
            self.found.append(" " * indent + ", ".join(w for w, _ in moved) + f" = {values}")
            return
        for word, tree in moved:
            self.found += lines(f"{word} = ", tree, indent)

    def write_branch(self, node: Branch, indent: int) -> None:
        """An `if`, with an `else` where that does something."""
        sides = []
        for i, side in enumerate(node.sides):
            before, self.found = self.found, []
            self.write(side, indent + INDENT)
            self.copies([(r.out, r.sides[i]) for r in node.results], indent + INDENT)
            sides.append(self.found)
            self.found = before
        condition = self.tree(node.condition)
        if not any(sides):
            return
        if not sides[0]:
            condition, sides = ast.UnaryOp(ast.Not(), condition), sides[::-1]
        self.found += [*lines("if ", condition, indent, ":"), *sides[0]]
        if sides[1]:
            self.found += otherwise(sides[1], indent)

    def write_loop(self, node: Loop, indent: int) -> None:
        """A `while`."""
        self.copies([(c.inside, c.before) for c in node.carried], indent)
        test = self.tree(self.chooser.tests[node].value)
        self.found += lines("while ", test, indent, ":")
        count = len(self.found)
        self.write(node.body, indent + INDENT)
        self.copies([(c.inside, c.after) for c in node.carried], indent + INDENT)
        if len(self.found) == count:
            self.found.append(" " * (indent + INDENT) + "pass")


def otherwise(side: list[str], indent: int) -> list[str]:
    """The lines of an `else`, or of an `elif` where it holds nothing but an `if`."""
    margin = " " * (indent + INDENT)
    heads = [line for line in side if not line.startswith(margin + " ")]
    first, *rest = [line[len(margin) :] for line in heads]
    if first.startswith("if ") and all(h.startswith(("elif ", "else:", ")")) for h in rest):
        return [f"{' ' * indent}el{first}", *[line[INDENT:] for line in side[1:]]]
    return [" " * indent + "else:", *side]


def word_of(value: Value) -> str:
    """What a value is called for what makes it."""
    made = value.maker
    return word_for(made.type) if isinstance(made, Call) else "value"


class Filled(ast.NodeTransformer):
    """Puts what stands for values in the place of words."""

    def __init__(self, body: Body, choice: Choice) -> None:
        self.body, self.choice = body, choice

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """A copy: the same tree is written again for calls that prove the same."""
        fields = {n: self.each(v) for n, v in ast.iter_fields(node)}
        return type(node)(**fields)

    def each(self, value: object) -> object:
        """A field of a tree, filled."""
        if isinstance(value, list):
            return [self.each(v) for v in value]
        return self.visit(value) if isinstance(value, ast.AST) else value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.choice.words:
            value = self.choice.words[node.id]
            tree = self.body.tree(value)
            over = value in self.body.copied.get(self.choice, ())
            return call("paddle.assign", tree) if over else tree
        return name("self.training") if node.id == "training" else node
