"""Where a graph is drawn: in layers from top to bottom, with few crossings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

MOST = 10  # boxes side by side
NEAR = 6  # layers that an edge crosses between boxes; a longer one goes around them
ORDERINGS, PLACINGS = 8, 9  # passes; the last goes down, so that chains are straight
GAP, HEIGHT, LAYER, TRACK = 22.0, 26.0, 62.0, 7.0  # in pixels, as all that follows
FIRM = 40.0
THREAD = 6.0  # the width an edge takes where it passes between boxes

Point = tuple[float, float]


@dataclass(frozen=True)
class Drawing:
    """The middle of every box, the points of every edge, and how large it all is."""

    boxes: tuple[Point, ...]
    edges: tuple[tuple[Point, ...], ...]
    width: float
    height: float


@dataclass
class Layers:
    """Boxes and, behind them by number, the places where edges pass between boxes."""

    rows: list[list[int]]
    widths: list[float]
    above: list[list[int]]
    below: list[list[int]]


def drawn(widths: Sequence[float], edges: Sequence[tuple[int, int]]) -> Drawing:
    """Draw boxes of these widths, joined by edges that lead from a lower number to a higher."""
    layer = layered(len(widths), edges)
    layers, chains = threaded(widths, edges, layer)
    for sweep in range(ORDERINGS):
        reordered(layers, downwards=sweep % 2 == 0)
    x = placed(layers)
    left = min((x[i] - layers.widths[i] / 2 for i in range(len(x))), default=0.0)
    x = [v - left for v in x]
    right = max((x[i] + layers.widths[i] / 2 for i in range(len(x))), default=0.0)
    level = {node: n for n, row in enumerate(layers.rows) for node in row}
    lanes = tracks([(layer[a], layer[b]) for a, b in edges if layer[b] - layer[a] > NEAR])
    paths, around = [], 0
    for (a, b), chain in zip(edges, chains, strict=True):
        start, end = (x[a], middle(layer[a]) + HEIGHT / 2), (x[b], middle(layer[b]) - HEIGHT / 2)
        if layer[b] - layer[a] > NEAR:
            paths.append(beside(start, end, right + GAP + TRACK * lanes[around]))
            around += 1
        else:
            paths.append((start, *((x[i], middle(level[i])) for i in chain), end))
    boxes = tuple((x[i], middle(layer[i])) for i in range(len(widths)))
    width = right + (GAP + TRACK * (max(lanes) + 1) if lanes else 0)
    return Drawing(boxes, tuple(paths), width, LAYER * len(layers.rows))


def middle(layer: int) -> float:
    """How far down the middle of a layer is."""
    return LAYER * layer + LAYER / 2


def beside(start: Point, end: Point, track: float) -> tuple[Point, ...]:
    """The corners of an edge that goes around all boxes."""
    gap = (LAYER - HEIGHT) / 2
    return (
        start,
        (start[0], start[1] + gap),
        (track, start[1] + gap),
        (track, end[1] - gap),
        (end[0], end[1] - gap),
        end,
    )


def layered(size: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """The layer of every box: below all it waits for, where there is room; the lonely last."""
    into: list[list[int]] = [[] for _ in range(size)]
    joined = [False] * size
    for a, b in edges:
        into[b].append(a)
        joined[a] = joined[b] = True
    layer, room, lonely = [0] * size, list[int](), 0
    for i in sorted(range(size), key=lambda i: not joined[i]):
        least = max((layer[j] + 1 for j in into[i]), default=0 if joined[i] else lonely)
        while least < len(room) and not room[least]:
            least += 1
        room.extend([MOST] * (least + 1 - len(room)))
        layer[i] = least
        room[least] -= 1
        lonely = len(room) if joined[i] else lonely
    return layer


def threaded(
    widths: Sequence[float], edges: Sequence[tuple[int, int]], layer: Sequence[int]
) -> tuple[Layers, list[list[int]]]:
    """The layers, and for every edge the places where it passes between boxes."""
    size = len(widths)
    layers = Layers(
        [[] for _ in range(max(layer, default=-1) + 1)],
        list(widths),
        [[] for _ in range(size)],
        [[] for _ in range(size)],
    )
    for i in range(size):
        layers.rows[layer[i]].append(i)
    chains: list[list[int]] = []
    for a, b in edges:
        chain: list[int] = []
        chains.append(chain)
        if layer[b] - layer[a] > NEAR:
            continue
        for level in range(layer[a] + 1, layer[b]):
            chain.append(len(layers.widths))
            layers.rows[level].append(chain[-1])
            layers.widths.append(THREAD)
            layers.above.append([])
            layers.below.append([])
        for upper, lower in pairwise([a, *chain, b]):
            layers.below[upper].append(lower)
            layers.above[lower].append(upper)
    return layers, chains


def reordered(layers: Layers, downwards: bool) -> None:
    """Order every layer by the mean place of the neighbours in the layer just passed."""
    neighbours = layers.above if downwards else layers.below
    order = range(len(layers.rows)) if downwards else range(len(layers.rows) - 1, -1, -1)
    place: dict[int, float] = {}
    for level in order:
        row = layers.rows[level]
        own = {node: float(n) for n, node in enumerate(row)}
        wanted = {
            node: mean([place[j] for j in neighbours[node] if j in place], own[node])
            for node in row
        }
        row.sort(key=lambda node: wanted[node])
        place.update((node, n - (len(row) - 1) / 2) for n, node in enumerate(row))


def placed(layers: Layers) -> list[float]:
    """How far right every box and passing edge is: near its neighbours, apart from its own row."""
    x = [0.0] * len(layers.widths)
    for row in layers.rows:
        spread(row, layers, dict.fromkeys(row, 0.0), x)
    for sweep in range(PLACINGS):
        down = sweep % 2 == 0
        neighbours = layers.above if down else layers.below
        for row in layers.rows if down else layers.rows[::-1]:
            wanted = {i: mean([x[j] for j in neighbours[i]], x[i]) for i in row}
            spread(row, layers, wanted, x)
    return x


def spread(row: Sequence[int], layers: Layers, wanted: dict[int, float], x: list[float]) -> None:
    """Place a row in its order as near as can be to where each of it is wanted.

    What others follow yields less to what stands beside it than an end does.
    """
    shift, offsets = 0.0, []
    groups: list[tuple[float, float, int]] = []  # of those in touch: wishes, weights, how many
    for n, i in enumerate(row):
        if n:
            shift += (layers.widths[row[n - 1]] + layers.widths[i]) / 2 + GAP
        offsets.append(shift)
        weight = FIRM if layers.below[i] else 1.0
        total, count = (wanted[i] - shift) * weight, 1
        while groups and groups[-1][0] / groups[-1][1] >= total / weight:
            before = groups.pop()
            total, weight, count = total + before[0], weight + before[1], count + before[2]
        groups.append((total, weight, count))
    starts = [total / weight for total, weight, count in groups for _ in range(count)]
    for i, start, offset in zip(row, starts, offsets, strict=True):
        x[i] = start + offset


def tracks(spans: Sequence[tuple[int, int]]) -> list[int]:
    """A track for every span, so that no two on one meet; the shortest lie inside."""
    taken: list[list[tuple[int, int]]] = []
    found = [0] * len(spans)
    for n in sorted(range(len(spans)), key=lambda n: (spans[n][1] - spans[n][0], spans[n])):
        start, end = spans[n]
        free = (t for t, own in enumerate(taken) if all(end < a or b < start for a, b in own))
        found[n] = next(free, len(taken))
        if found[n] == len(taken):
            taken.append([])
        taken[found[n]].append((start, end))
    return found


def mean(values: Sequence[float], otherwise: float) -> float:
    """The mean of some values, `otherwise` where there are none."""
    return sum(values) / len(values) if values else otherwise
