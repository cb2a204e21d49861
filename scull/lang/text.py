"""Kernels as text. Equal texts mean equal kernels: the text can be the key of a cache."""

from collections import Counter
from collections.abc import Iterable, Sequence

from scull.lang.body import Body, Map
from scull.lang.expression import Apply, Array, Axis, Constant, Expression, Guard, Load, Reduce
from scull.lang.operation import OPERATIONS
from scull.lang.walk import ordered

_BINDING = {
    "**": 8, "*": 7, "/": 7, "//": 7, "%": 7, "+": 6, "-": 6, "<<": 5, ">>": 5,
    "&": 4, "^": 3, "|": 2, "<": 1, "<=": 1, "==": 1, "!=": 1,
}  # fmt: skip
_ATOM = 9
_SHORT = 12  # a shared load or position is repeated if it is no longer than this


def signature(arrays: Iterable[Array]) -> str:
    """Arrays with their dtypes and shapes."""
    return ", ".join(f"{x.name}: {x.dtype}{list(x.shape)}" for x in arrays)


def lines(
    outputs: Sequence[Array], bodies: Sequence[Body], around: Iterable[Axis] = ()
) -> list[str]:
    """One line for each output, after one for each value that is used more than once.

    The axes `around` them are named first.
    """
    writer = Writer()
    writer.name_axes(around, "i")
    for body in bodies:
        if isinstance(body, Map):
            writer.name_axes(body.axes, "i")
    roots = [root for body in bodies for root in body.roots]
    nodes = ordered(roots)
    uses = Counter(x for node in nodes for x in node.operands)
    uses.update(roots)
    for node in nodes:
        writer.write(node, shared=uses[node] > 1)
    return writer.lines + [writer.body(*pair) for pair in zip(outputs, bodies, strict=True)]


class Writer:
    """The texts made so far, with how tightly each binds, and the lines of what is shared."""

    def __init__(self) -> None:
        self.texts: dict[Expression, tuple[str, int]] = {}
        self.axes: dict[Axis, str] = {}
        self.lines: list[str] = []

    def name_axes(self, axes: Iterable[Axis], letter: str) -> None:
        """Give each new axis the letter and a number."""
        for axis in axes:
            if axis not in self.axes:
                taken = sum(name[0] == letter for name in self.axes.values())
                self.axes[axis] = f"{letter}{taken}"

    def write(self, node: Expression, *, shared: bool) -> None:
        """Make the text of a node whose operands have theirs."""
        if isinstance(node, Axis):
            self.name_axes((node,), "k")
        text, binding = self._made(node)
        leaf = isinstance(node, (Axis, Constant))
        short = len(text) <= _SHORT and (node.dtype == "int64" or isinstance(node, Load))
        if shared and not leaf and not short:
            name = f"t{len(self.lines)}"
            self.lines.append(f"{name} = {text}")
            text, binding = name, _ATOM
        self.texts[node] = text, binding

    def body(self, out: Array, body: Body) -> str:
        """The line of one output."""
        if isinstance(body, Map):
            return f"{out.name}[{self._places(out, body.axes)}] = {self._text(body.value)}"
        places = ", ".join(self._text(index) for index in body.index)
        self.name_axes(body.over, "k")
        begins = f"{out.name} = {body.base.name}; " if body.base is not None else ""
        change = "=" if body.sets else "+="
        if body.anew:
            begins += f"{out.name}[{places}] = 0{self._loops(body.over)}; "
        line = f"{begins}{out.name}[{places}] {change} {self._text(body.value)}"
        rounds = f"; {out.name} = {body.rounded}({out.name})" if body.rounded else ""
        return line + self._loops(body.over) + rounds

    def _places(self, out: Array, axes: Sequence[Axis]) -> str:
        """Where a map writes; one may be without the axes of one position."""
        names = [self.axes[axis] for axis in axes]
        if len(names) < len(out.shape):
            rest = iter(names)
            names = ["0" if size == 1 else next(rest) for size in out.shape]
        return ", ".join(names)

    def _text(self, node: Expression, least: int = 0) -> str:
        text, binding = self.texts[node]
        return text if binding >= least else f"({text})"

    def _loops(self, axes: Sequence[Axis]) -> str:
        loops = ", ".join(f"{self.axes[axis]} in {axis.size}" for axis in axes)
        return f" for {loops}" if loops else ""

    def _made(self, node: Expression) -> tuple[str, int]:
        match node:
            case Axis():
                return self.axes[node], _ATOM
            case Constant(value=value):
                bare = node.dtype in ("bool", "int64", "float32")
                atom = _ATOM if str(value)[0] != "-" or not bare else _ATOM - 1
                return (f"{value}", atom) if bare else (f"{node.dtype}({value})", _ATOM)
            case Load(array=array):
                return f"{array.name}[{self._list(node)}]", _ATOM
            case Guard():
                return f"guarded({self._list(node)})", _ATOM
            case Reduce(operation=operation, axes=axes):
                self.name_axes(axes, "k")
                return f"{operation}({self._list(node)}{self._loops(axes)})", _ATOM
        assert isinstance(node, Apply)
        return self._applied(node)

    def _applied(self, node: Apply) -> tuple[str, int]:
        symbol = OPERATIONS[node.operation].symbol
        if symbol:
            binding = _BINDING[symbol]
            left, right = node.operands
            loose = binding + (symbol == "**" or binding == 1)
            return f"{self._text(left, loose)} {symbol} {self._text(right, binding + 1)}", binding
        if node.operation == "cast":
            return f"{node.dtype}({self._list(node)})", _ATOM
        if node.operation == "bitcast":
            return f"bits_{node.dtype}({self._list(node)})", _ATOM
        return f"{node.operation}({self._list(node)})", _ATOM

    def _list(self, node: Expression) -> str:
        return ", ".join(self._text(x) for x in node.operands)
