"""What a legal block of dataflow is: frames that nest, and merges of which one input is alive."""

from collections.abc import Iterable, Sequence

from scull.errors import ProgramError
from scull.ir.operator import Operator
from scull.ir.variable import Variable

PRIMITIVES = frozenset({"switch", "merge", "enter", "exit", "next_iteration", "loop_cond"})
Path = tuple[str, ...]  # the frames around an operator, the outermost first
Truth = tuple[Variable, bool]  # a truth value, and which it is
Makers = dict[Variable, Operator]


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
    alive = conditions(ordered, makers, paths)
    for o in ordered:
        rows = o.operands() if o.type == "merge" else []
        if any(comes_back(v, makers) for v in rows):
            continue
        for i, a in enumerate(rows):
            for b in rows[:i]:
                if not exclusive(alive.get(a, frozenset()), alive.get(b, frozenset())):
                    raise ProgramError(
                        f"{where}: {said(o)} merges `{b.name}` and `{a.name}`, which can both be "
                        f"alive: {told(alive, b)}, {told(alive, a)}"
                    )


def exclusive(a: Iterable[Truth], b: Iterable[Truth]) -> bool:
    """Whether two conditions never hold both."""
    others = set(b)
    return any((pred, not holds) in others for pred, holds in a)


def told(alive: dict[Variable, frozenset[Truth]], v: Variable) -> str:
    """When a value is alive."""
    found = sorted((p.name, holds) for p, holds in alive.get(v, ()))
    text = " and ".join(f"`{name}`" if holds else f"not `{name}`" for name, holds in found)
    return f"`{v.name}` {'when ' + text if text else 'always'}"


def conditions(
    ordered: Sequence[Operator], makers: Makers, paths: dict[Operator, Path]
) -> dict[Variable, frozenset[Truth]]:
    """What holds, as far as it is known, wherever each variable is alive."""
    frames: dict[str, frozenset[Truth]] = {}  # what holds for every value that enters
    while True:
        before = dict(frames)
        alive: dict[Variable, frozenset[Truth]] = {}
        for o in ordered:
            found = condition(o, alive, makers, paths, frames)
            alive.update((v, found) for v in o.results())
            if o.type == "switch":
                pred, holds = truth_of(o.operands()[-1], makers)
                sides = zip(o.outputs, (False, True), strict=True)
                alive.update((v, found | {(pred, holds == side)}) for v, side in sides if v)
        if frames == before:
            return alive


def condition(
    o: Operator,
    alive: dict[Variable, frozenset[Truth]],
    makers: Makers,
    paths: dict[Operator, Path],
    frames: dict[str, frozenset[Truth]],
) -> frozenset[Truth]:
    """What holds wherever the results of `o` are alive; notes what holds for the frame it enters.

    In later rounds of a loop only what holds for all of it does.
    """
    nothing: frozenset[Truth] = frozenset()
    operands = o.operands()
    rows = [alive.get(v, nothing) for v in operands if not comes_back(v, makers)]
    found = nothing.union(*rows)
    if o.type == "merge":
        if len(rows) < len(operands):
            return frames.get(paths[o][-1], nothing)
        return rows[0].intersection(*rows[1:]) if rows else nothing
    if o.type == "enter":
        name = o.attrs["frame_name"]
        frames[name] = frames.get(name, found) & found
    if o.type == "exit":
        return frames.get(paths[makers[operands[0]]][-1], nothing)
    return found


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
