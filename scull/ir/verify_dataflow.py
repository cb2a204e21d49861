"""What a legal block of dataflow is: frames that nest, and merges of which one input is alive."""

from collections.abc import Iterable, Sequence
from functools import reduce

from scull.errors import ProgramError
from scull.ir.operator import Operator
from scull.ir.variable import Variable

PRIMITIVES = frozenset({"switch", "merge", "enter", "exit", "next_iteration", "loop_cond"})
Path = tuple[str, ...]  # the frames around an operator, the outermost first
Truth = tuple[Variable, bool]  # a truth value, and which it is
Makers = dict[Variable, Operator]
Condition = tuple[int, int]  # bits of the truth values that hold, and of those that do not
ALWAYS = (0, 0)


def is_dataflow(operators: Iterable[Operator]) -> bool:
    """Whether primitives of dataflow are among `operators`."""
    return any(o.type in PRIMITIVES for o in operators)


def comes_back(v: Variable, makers: Makers) -> bool:
    """Whether `v` is of the round before."""
    return v in makers and makers[v].type == "next_iteration"


def check_dataflow(operators: Sequence[Operator], where: str) -> None:
    """Raise ProgramError where operators of one block break a rule of dataflow."""
    makers = makers_of(operators, where)
    ordered = in_order(operators, makers, where)
    paths = frames_of(ordered, makers, where)
    check_rounds(ordered, paths, makers, where)
    check_merges(ordered, paths, makers, where)


def makers_of(operators: Iterable[Operator], where: str) -> Makers:
    """The operator that makes each variable; there is one, for values have no turns."""
    found: Makers = {}
    for o in operators:
        for v in o.results():
            if v in found:
                raise ProgramError(f"{where}: {said(o)} writes `{v.name}`, {said(found[v])} too")
            found[v] = o
    return found


def said(o: Operator) -> str:
    """How errors name an operator."""
    return f"`{o.type}` at {o.line}" if o.line else f"`{o.type}`"


def needed(o: Operator, makers: Makers) -> list[Operator]:
    """The operators whose results `o` needs, but for those from the round before."""
    known = [makers[v] for v in o.operands() if v in makers and is_inner(v)]
    return [m for m in known if o.type != "merge" or m.type != "next_iteration"]


def is_inner(v: Variable) -> bool:
    """Whether readers of `v` read what an operator makes.

    Of what comes from outside they read what it was: it gets a new value when the run is over.
    """
    return not (v.persistable or v.is_data)


def in_order(operators: Sequence[Operator], makers: Makers, where: str) -> list[Operator]:
    """`operators` behind those they need; a circle that no `next_iteration` opens is refused."""
    found: dict[Operator, None] = {}
    started: set[Operator] = set()
    for first in operators:
        stack = [first]
        while stack:
            o = stack[-1]
            waits = [m for m in needed(o, makers) if m not in found] if o not in found else []
            if o in started and any(m in started for m in waits):
                raise ProgramError(f"{where}: {said(o)} needs a value that needs its own result")
            started.add(o)
            stack.extend(waits)
            if not waits:
                found[stack.pop()] = None
    return list(found)


def frames_of(ordered: Iterable[Operator], makers: Makers, where: str) -> dict[Operator, Path]:
    """The frames around the results of each operator."""
    paths: dict[Operator, Path] = {}
    around: dict[str, Path] = {}  # what stands around each frame
    for o in ordered:
        operands = [v for v in o.operands() if not comes_back(v, makers)]
        found = {v: paths[makers[v]] for v in operands if v in makers and is_inner(v)}
        outside = [v for v in operands if v not in found]
        inner = {*found.values(), *[() for _ in outside]}
        if len(inner) > 1:
            shown = ", ".join(f"`{v.name}` of {framed(found.get(v, ()))}" for v in operands)
            raise ProgramError(f"{where}: {said(o)} reads values of several frames: {shown}")
        path = next(iter(inner), ())
        if o.type == "enter":
            name = o.attrs["frame_name"]
            if around.setdefault(name, path) != path:
                raise ProgramError(f"{where}: the name `{name}` is of two frames")
            path = (*path, name)
        elif o.type in ("exit", "next_iteration"):
            if not path:
                law = "leaves a frame without `enter`" if o.type == "exit" else "is in no frame"
                raise ProgramError(f"{where}: {said(o)} {law}")
            path = path[:-1] if o.type == "exit" else path
        paths[o] = path
    return paths


def paths_of(operators: Sequence[Operator], where: str) -> dict[Operator, Path]:
    """The frames around each operator: an `enter` and an `exit` belong to the inner one."""
    makers = makers_of(operators, where)
    found = frames_of(in_order(operators, makers, where), makers, where)
    exits = {o: found[makers[o.operands()[0]]] for o in operators if o.type == "exit"}
    return found | exits


def framed(path: Path) -> str:
    """A path of frames as errors name it."""
    return f"`{'/'.join(path)}`" if path else "no frame"


def check_rounds(
    ordered: Iterable[Operator], paths: dict[Operator, Path], makers: Makers, where: str
) -> None:
    """What comes from the round before goes into a `merge` of the same frame, with one value."""
    for o in ordered:
        back = [v for v in o.operands() if comes_back(v, makers)]
        if not back:
            continue
        if o.type != "merge" or len(o.operands()) != 2 or len(back) != 1:
            raise ProgramError(f"{where}: {said(o)} reads `{back[0].name}` of the round before")
        if paths[makers[back[0]]] != paths[o]:
            raise ProgramError(f"{where}: {said(o)} reads `{back[0].name}` of another frame")


def check_merges(
    ordered: Sequence[Operator], paths: dict[Operator, Path], makers: Makers, where: str
) -> None:
    """Of two values that meet in a `merge` one truth value decides which is alive."""
    found = Conditions(ordered, paths, makers)
    for o in ordered:
        rows = o.operands() if o.type == "merge" else []
        if any(comes_back(v, makers) for v in rows):
            continue
        for i, a in enumerate(rows):
            for b in rows[:i]:
                if not found.exclude(a, b):
                    raise ProgramError(
                        f"{where}: {said(o)} merges `{b.name}` and `{a.name}`, which can both be "
                        f"alive: {found.told(b)}, {found.told(a)}"
                    )


class Conditions:
    """What holds, as far as it is known, wherever each variable is alive.

    In later rounds of a loop only what holds for all of it does.
    """

    def __init__(
        self, ordered: Sequence[Operator], paths: dict[Operator, Path], makers: Makers
    ) -> None:
        self.paths, self.makers = paths, makers
        self.bits: dict[Variable, int] = {}  # of truth values
        self.known: dict[Condition, Condition] = {}  # equal ones are one
        self.alive: dict[Variable, Condition] = {}
        self.frames: dict[str, Condition] = {}  # what holds for every value that enters
        self.asked: dict[str, Condition] = {}  # what was taken for that
        while True:
            for o in ordered:
                self.note(o)
            if all(self.frames[name] == taken for name, taken in self.asked.items()):
                return

    def note(self, o: Operator) -> None:
        """Find when the results of an operator are alive."""
        found = self.condition(o)
        self.alive.update((v, found) for v in o.results())
        if o.type == "switch":
            pred, holds = truth_of(o.operands()[-1], self.makers)
            bit = 1 << self.bits.setdefault(pred, len(self.bits))
            for v, side in zip(o.outputs, (False, True), strict=True):
                if v is not None:
                    self.alive[v] = self.all_of([found, (bit, 0) if holds == side else (0, bit)])

    def condition(self, o: Operator) -> Condition:
        """What holds wherever an operator runs; notes what holds for the frame it enters."""
        operands = o.operands()
        rows = [self.of(v) for v in operands if not comes_back(v, self.makers)]
        if o.type == "merge":
            if len(rows) < len(operands):
                return self.of_frame(self.paths[o])
            return reduce(common, rows) if rows else ALWAYS
        if o.type == "exit":
            return self.of_frame(self.paths[self.makers[operands[0]]])
        found = self.all_of(rows)
        if o.type == "enter":
            name = o.attrs["frame_name"]
            self.frames[name] = common(self.frames.get(name, found), found)
        return found

    def of(self, v: Variable) -> Condition:
        """What holds where `v` is alive."""
        return self.alive.get(v, ALWAYS)

    def of_frame(self, path: Path) -> Condition:
        """What holds for all of a loop."""
        taken = self.asked[path[-1]] = self.frames[path[-1]]
        return taken

    def all_of(self, rows: list[Condition]) -> Condition:
        """That several conditions hold."""
        yes = no = 0
        for holds, fails in rows:
            yes, no = yes | holds, no | fails
        return self.known.setdefault((yes, no), (yes, no))

    def exclude(self, a: Variable, b: Variable) -> bool:
        """Whether two variables are never alive both."""
        (yes, no), (other, fails) = self.of(a), self.of(b)
        return bool(yes & fails or no & other)

    def told(self, v: Variable) -> str:
        """When a variable is alive."""
        yes, no = self.of(v)
        found = sorted((p.name, yes >> i & 1) for p, i in self.bits.items() if (yes | no) >> i & 1)
        text = " and ".join(f"`{name}`" if holds else f"not `{name}`" for name, holds in found)
        return f"`{v.name}` {'when ' + text if text else 'always'}"


def common(a: Condition, b: Condition) -> Condition:
    """What two conditions have in common."""
    return a[0] & b[0], a[1] & b[1]


def truth_of(v: Variable, makers: Makers) -> Truth:
    """The truth value that `v` is another form of, and which that is when `v` holds."""
    holds = True
    while v in makers:
        o = makers[v]
        same = o.type == "switch" or (o.type == "enter" and o.attrs["is_constant"])
        if o.type != "logical_not" and not same:
            break
        holds = holds != (o.type == "logical_not")
        v = o.operands()[0]
    return v, holds
