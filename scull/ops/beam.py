"""Beam search over sequences with levels of detail: the outer one tells the beams of each source.

In the inner level of what a step chooses stand, for each row of the step before, the words that
follow it.
"""

from typing import Any

import numpy as np

from scull.core.dtype import int32, int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Kind, Meta, agree, count
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from scull.ops.array import OF_TENSORS, written
from scull.ops.half import whole
from scull.ops.level import BY_VALUES, begun, ends_of, inner, packed, runs, segments, unpacked

CHOSEN = "words are chosen without gradients, as in Paddle"


def check_beam(pre_ids: Meta, pre_scores: Meta, ids: Meta | None, scores: Meta) -> None:
    """Refuse operands that do not go together."""
    whole(pre_scores, scores)
    for name, m in (("pre_ids", pre_ids), ("ids", ids)):
        if m is not None and not m.dtype.is_integer:
            raise DtypeError(f"{name} is {m.dtype.name}, not of integers")
    if scores.ndim != 2:
        raise ShapeError(f"scores has {scores.ndim} axes, 2 are needed")
    for name, m in (("pre_ids", pre_ids), ("pre_scores", pre_scores)):
        agree(count(m.shape), scores.shape[0], f"{name} has {{}} elements, and scores {{}} rows")
    if ids is not None:
        for n, m in zip(ids.shape, scores.shape, strict=True):
            agree(n, m, "ids has {} rows or columns, and scores {}")


@primitive(
    outputs=("selected_ids", "selected_scores", "parent_idx", "levels"),
    hidden=("levels",),
    slots={n: n for n in ("pre_ids", "pre_scores", "ids", "scores")}
    | {n: n for n in ("selected_ids", "selected_scores", "parent_idx")}
    | {"levels": "selected_ids selected_scores@LOD", "score_levels": "scores@LOD"},
    unsaid=("scores@LOD", "selected_ids selected_scores@LOD", "ids", "parent_idx"),
    infer_first=True,
)
def beam_search(
    pre_ids: Meta,
    pre_scores: Meta,
    scores: Meta,
    ids: Meta = None,
    score_levels: Meta = None,
    *,
    level: int,
    beam_size: int,
    end_id: int,
    is_accumulated: bool = True,
) -> tuple[Meta, Meta, Meta, Meta]:
    """The `beam_size` words of each source with the highest scores, and which rows they follow.

    The words of each row are `ids`, or their numbers; one that has ended goes on with `end_id` as
    it is, and nothing follows a source of which all have ended. Scores that are not accumulated are
    shares, whose logarithms are added to `pre_scores`.
    """
    check_beam(pre_ids, pre_scores, ids, scores)
    if beam_size < 1:
        raise ArgumentError(f"beam_size is {beam_size}, not above 0")
    column = Meta((UNKNOWN, 1), int64)
    vectors = Meta((UNKNOWN,), int32), Meta((UNKNOWN,), int64)
    return column, column.with_dtype(pre_scores.dtype), *vectors


@beam_search.kernel
def beam_search_kernel(
    xp: Any,
    pre_ids: Any,
    pre_scores: Any,
    scores: Any,
    ids: Any = None,
    score_levels: Any = None,
    *,
    out: Any = None,
    level: int,
    beam_size: int,
    end_id: int,
    is_accumulated: bool,
) -> Any:
    levels = [] if score_levels is None else [score_levels]
    inner(levels)
    sources = ends_of(levels, 0, level)
    agree(len(scores), int(sources[-1]), "scores has {} rows and its levels tell of {}")
    before, reached = pre_ids.reshape(-1), pre_scores.reshape(-1)
    words = xp.broadcast_to(xp.arange(scores.shape[1]), scores.shape) if ids is None else ids
    total = scores if is_accumulated else reached[:, None] + xp.log(scores)
    ended = before == end_id
    words, total = xp.where(ended[:, None], end_id, words), total.astype(reached.dtype)
    total[ended, 1:] = -xp.inf
    total[ended, :1] = reached[ended, None]
    there = ~ended[:, None] | (xp.arange(scores.shape[1]) == 0)
    rows, columns = there.nonzero()
    found = best(sources, rows, total[rows, columns], beam_size)
    rows, columns = rows[found], columns[found]
    rows, columns = unended(sources, rows, columns, ended, words == end_id)
    inside = begun(xp.bincount(rows, minlength=len(scores)))
    chosen = words[rows, columns, None].astype("int64"), total[rows, columns, None]
    return *chosen, rows.astype("int32"), packed([sources, inside])


def best(sources: Any, rows: Any, total: Any, size: int) -> Any:
    """The places of the highest totals of each source, row by row, in each the highest first."""
    source = segments(sources)[rows]
    order = np.lexsort((-rows, -total, source))
    begin = np.searchsorted(source[order], np.arange(len(sources)))
    settle_ties(order, np.stack([source, rows, total])[:, order], begin, size)
    kept = order[np.arange(len(order)) - begin[source] < size]
    return kept[np.argsort(rows[kept], kind="stable")]


def settle_ties(order: Any, keys: Any, begin: Any, size: int) -> None:
    """Give the last place of each source to the last word that is as good as who has it.

    So does the reference: unless a better word came later, which pushed that one out again.
    """
    lasts = begin[:-1][np.diff(begin) > size] + size - 1
    run = np.concatenate([[0], np.cumsum((keys[:, 1:] != keys[:, :-1]).any(0))])[: len(order)]
    ends = np.searchsorted(run, run[lasts], "right") - 1
    better = lasts[:, None] - np.arange(size)
    better = np.where(better < np.searchsorted(run, run[lasts])[:, None], order[better], -1)
    later = order[ends] > better.max(1, initial=-1)
    order[lasts[later]] = order[ends[later]]


def unended(sources: Any, rows: Any, columns: Any, ended: Any, ends: Any) -> tuple[Any, Any]:
    """Without the words of sources of which all had ended before."""
    source = segments(sources)
    going = ~(ended[rows] & ends[rows, columns])
    goes_on = np.bincount(source[rows], going, len(sources) - 1) > 0
    kept = goes_on[source[rows]]
    return rows[kept], columns[kept]


@primitive(
    outputs=("sentence_ids", "sentence_scores", "levels"),
    hidden=("levels",),
    slots={"levels": "SentenceIds SentenceScores@LOD", "id_levels": "Ids@LOD"},
    unsaid=("Ids@LOD", "SentenceIds SentenceScores@LOD"),
    infer_first=True,
)
def beam_search_decode(
    ids: Meta, scores: Meta, id_levels: Meta = None, *, beam_size: int, end_id: int
) -> tuple[Meta, Meta, Meta]:
    """The sentences that steps of a beam search found, those of each source by their scores."""
    vector = Meta((UNKNOWN,), int64)
    return vector, vector.with_dtype(scores.dtype).with_kind(Kind.DENSE), vector


@beam_search_decode.kernel
def beam_search_decode_kernel(
    xp: Any,
    ids: Any,
    scores: Any,
    id_levels: Any = None,
    *,
    out: Any = None,
    beam_size: int,
    end_id: int,
) -> Any:
    steps = list(zip(written(ids), written(scores), written(id_levels or []), strict=True))
    levels = [two_levels(v) for _, _, v in steps]
    sources = len(levels[0][0]) - 1
    shape = (len(steps), sources, beam_size)
    words, total = xp.zeros(shape, "int64"), xp.zeros(shape, steps[0][1].dtype)
    there, at = xp.zeros(shape, bool), xp.full(shape[1:], -1)
    last = xp.full(shape[1:], -xp.inf)
    for step in range(len(steps) - 1, -1, -1):
        word, score, (outer, inside) = *[v.reshape(-1) for v in steps[step][:2]], levels[step]
        fresh = (at < 0).all(1)
        begin, end = inside[outer[:-1]], inside[outer[1:]]
        number = xp.where(fresh, end - begin, 0)
        if (number > beam_size).any():
            raise RangeError(f"{number.max()} words of one source, and beam_size is {beam_size}")
        new = xp.arange(beam_size) < number[:, None]
        at[new] = runs(begin, number)
        held = at >= 0
        words[step][held], total[step][held] = word[at[held]], score[at[held]]
        there[step] = new | (held & (words[step] != end_id))
        last[new] = total[step][new]
        at[held] = segments(inside)[at[held]]
    return sentences(words, total, there, np.argsort(-last, 1, kind="stable"))


def two_levels(vector: Any) -> tuple[Any, Any]:
    """The levels of what a step chose."""
    found = unpacked(vector)
    if len(found) != 2:
        raise ArgumentError(f"what a step chose has {len(found)} levels of detail, 2 are needed")
    return found[0], found[1]


def sentences(words: Any, total: Any, there: Any, order: Any) -> Any:
    """The words of each sentence from the first step on, their scores and levels."""
    by_beam = [
        np.take_along_axis(v, order[None], 2).transpose(1, 2, 0) for v in (words, total, there)
    ]
    said = by_beam[2]
    outer = np.arange(len(order) + 1) * order.shape[1]
    levels = packed([outer, begun(said.sum(2).reshape(-1))])
    return by_beam[0][said], by_beam[1][said], levels


beam_search.no_lowering(BY_VALUES)
beam_search_decode.no_lowering(OF_TENSORS)
for operator in (beam_search, beam_search_decode):
    operator.no_grad(CHOSEN)
