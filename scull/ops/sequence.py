"""Sequences of several lengths: masks, distances, paths of beams and of tags."""

from typing import Any

from scull import lang
from scull.core.attribute import Dtype
from scull.core.dtype import bool_, float32, int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, count, floating
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError, UnsupportedError
from scull.ops.level import inner, unpacked


@primitive(enlarges=("max_len",), outputs=("y",), attrs={"max_len": "maxlen"}, infer_first=True)
def sequence_mask(
    x: Meta, max_len_tensor: Meta = None, *, max_len: int = -1, out_dtype: Dtype
) -> Meta:
    """Ones in a new last axis, as many as `x` says, then zeros.

    It is of size `max_len`, or of that of the longest.
    """
    if x.dtype is bool_ or x.dtype.is_complex:
        raise DtypeError(f"x is {x.dtype.name}, not of numbers of elements")
    if max_len_tensor is not None:
        if count(max_len_tensor.shape) not in (1, -1):
            raise ShapeError(f"maxlen has {count(max_len_tensor.shape)} elements, not one")
        return Meta((*x.shape, UNKNOWN), out_dtype)
    if max_len == 0:
        raise ArgumentError("maxlen is 0; it is above 0, or below for that of the longest")
    return Meta((*x.shape, UNKNOWN if max_len < 0 else max_len), out_dtype)


@sequence_mask.kernel
def sequence_mask_kernel(
    xp: Any, x: Any, tensor: Any = None, *, out: Any = None, max_len: int, out_dtype: Any
) -> Any:
    size = max_len if tensor is None else int(tensor.item())
    if size == 0 or (tensor is not None and size < 0):
        raise ArgumentError(f"maxlen is {size}, not above 0")
    if size < 0:
        size = int(xp.maximum.reduce(x, axis=None)) if x.size else 0
    found = xp.arange(max(size, 0)) < x[..., None]
    if out is None:
        return found.astype(out_dtype.array)
    out[...] = found
    return out


sequence_mask.no_grad("a length is not differentiable")


@sequence_mask.lower
def sequence_mask_at(index: Any, x: Any, tensor: Any, max_len: int, out_dtype: Any) -> Any:
    if tensor is not None or max_len < 0:
        raise UnsupportedError("a size that values decide is known only when run")
    longer = lang.cast(index[-1], x.dtype) < x[tuple(index[:-1])]
    return lang.cast(longer, out_dtype.name)


@primitive(
    outputs=("sequence_num", "out"),
    slots={"hyps_levels": "Hyps@LOD", "refs_levels": "Refs@LOD"},
    unsaid=("Hyps@LOD", "Refs@LOD"),
    infer_first=True,
)
def edit_distance(
    hyps: Meta,
    refs: Meta,
    hyps_length: Meta = None,
    refs_length: Meta = None,
    hyps_levels: Meta = None,
    refs_levels: Meta = None,
    *,
    normalized: bool = False,
) -> tuple[Meta, Meta]:
    """How many sequences there are, and of each how many changes make `hyps` of `refs`.

    Without lengths each row is a whole sequence; matrices of one column are as many sequences as
    their levels of detail tell of, or one.
    `normalized` distances are divided by the length of `refs`.
    """
    for name, m in (("hyps", hyps), ("refs", refs)):
        if not m.dtype.is_integer:
            raise DtypeError(f"{name} is {m.dtype.name}, not of integers")
        if m.ndim < 2:
            raise ShapeError(f"{name} has {m.ndim} axes, 2 are needed")
    if (hyps_length is None) != (refs_length is None):
        raise ArgumentError("the lengths of hyps and refs come together or not at all")
    if hyps_length is None:
        column = {hyps.shape[1], refs.shape[1]} <= {1, UNKNOWN}
        return Meta((1,), int64), Meta((UNKNOWN if column else rows_of(hyps, refs), 1), float32)
    rows = agree(hyps.shape[0], refs.shape[0], "hyps has {} rows and refs {}")
    for name, m in (("hyps_length", hyps_length), ("refs_length", refs_length)):
        if not m.dtype.is_integer:
            raise DtypeError(f"{name} is {m.dtype.name}, not of integers")
        rows = agree(rows, count(m.shape), f"there are {{}} sequences and {name} has {{}}")
    return Meta((1,), int64), Meta((rows, 1), float32)


def rows_of(hyps: Any, refs: Any) -> int:
    """How many sequences stand in matrices without lengths."""
    if hyps.shape[1] == 1 == refs.shape[1]:
        return 1
    return agree(hyps.shape[0], refs.shape[0], "hyps has {} rows and refs {}")


@edit_distance.kernel
def edit_distance_kernel(
    xp: Any,
    hyps: Any,
    refs: Any,
    hyps_length: Any = None,
    refs_length: Any = None,
    hyps_levels: Any = None,
    refs_levels: Any = None,
    *,
    out: Any = None,
    normalized: bool,
) -> Any:
    given = [v for v in (hyps_levels, refs_levels) if v is not None and unpacked(v)]
    if hyps_length is None and given:
        hyps, hyps_length = lines(xp, hyps, inner(given))
        refs, refs_length = lines(xp, refs, inner(given, 1))
        agree(len(hyps), len(refs), "hyps has {} sequences and refs {}")
    if hyps_length is None:
        rows = rows_of(hyps, refs)
        hyps, refs = hyps.reshape(rows, -1), refs.reshape(rows, -1)
        counts = [xp.full(rows, x.shape[1]) for x in (hyps, refs)]
    else:
        counts = [hyps_length.reshape(-1), refs_length.reshape(-1)]
    for name, x, n in zip(("hyps", "refs"), (hyps, refs), counts, strict=True):
        wrong = (n < 0) | (n > x.shape[1])
        if wrong.any():
            raise RangeError(f"a sequence of {name} has the length {n[wrong][0]} of {x.shape[1]}")
    if (counts[1] == 0).any():
        raise ArgumentError("a sequence of refs is empty")
    found = changes(xp, hyps, refs, *counts)
    if normalized:
        found = found / counts[1]
    return xp.array([len(found)]), found.astype("float32").reshape(-1, 1)


def lines(xp: Any, column: Any, offsets: Any) -> tuple[Any, Any]:
    """The sequences of a column as rows, the shorter ones with zeros behind, and their lengths."""
    lengths = xp.diff(offsets)
    found = xp.zeros((len(lengths), int(lengths.max(initial=0))), column.dtype)
    agree(len(column), int(lengths.sum()), "a column has {} rows and its levels tell of {}")
    found[xp.arange(found.shape[1]) < lengths[:, None]] = column.reshape(-1)
    return found, lengths


def changes(xp: Any, hyps: Any, refs: Any, hyp_counts: Any, ref_counts: Any) -> Any:
    """The Levenshtein distances of all rows at once, an element of `hyps` after the other."""
    rows, columns = xp.arange(len(refs)), xp.arange(refs.shape[1] + 1)
    line = xp.broadcast_to(columns, (len(refs), len(columns)))
    found = ref_counts.copy()
    for i in range(int(hyp_counts.max(initial=0))):
        other = xp.empty(line.shape, line.dtype)
        other[:, 0] = i + 1
        changed = line[:, :-1] + (hyps[:, i, None] != refs)
        other[:, 1:] = xp.minimum(changed, line[:, 1:] + 1)
        line = xp.minimum.accumulate(other - columns, axis=1) + columns
        found = xp.where(hyp_counts == i + 1, line[rows, ref_counts], found)
    return found


edit_distance.no_grad("it counts")
edit_distance.no_lowering("a line depends on the line before")


@primitive(infer_first=True)
def gather_tree(ids: Meta, parents: Meta) -> Meta:
    """The sequences of beams, found from their last elements back along `parents`."""
    if ids.ndim != 3:
        raise ShapeError(f"ids has {ids.ndim} axes, not those of steps, sequences and beams")
    if parents.ndim != 3:
        raise ShapeError(f"parents has {parents.ndim} axes, 3 are needed")
    for axis, (n, m) in enumerate(zip(ids.shape, parents.shape, strict=True)):
        agree(n, m, f"ids has {{}} elements along axis {axis}, parents {{}}")
    for name, m in (("ids", ids), ("parents", parents)):
        if m.dtype.name not in ("int32", "int64"):
            raise DtypeError(f"{name} is {m.dtype.name}, not int32 or int64")
    return ids


@gather_tree.kernel
def gather_tree_kernel(xp: Any, ids: Any, parents: Any, *, out: Any = None) -> Any:
    steps, _, beams = ids.shape
    out = xp.empty(ids.shape, ids.dtype) if out is None else out
    if not ids.size:
        return out
    out[-1] = ids[-1]
    parent = parents[-1]
    for step in range(steps - 2, -1, -1):
        inside_beams(parent, beams)
        out[step] = xp.take_along_axis(ids[step], parent, 1)
        parent = xp.take_along_axis(parents[step], parent, 1)
    return out


def inside_beams(parent: Any, beams: int) -> None:
    """Refuse parents that are no beam."""
    wrong = (parent < 0) | (parent >= beams)
    if wrong.any():
        raise RangeError(f"parent {parent[wrong][0]} is outside [0, {beams})")


gather_tree.no_grad("a place is not differentiable")
gather_tree.no_lowering("a step depends on the step after")


@primitive(outputs=("scores", "path"), infer_first=True)
def viterbi_decode(
    input: Meta, transition: Meta, length: Meta, *, include_bos_eos_tag: bool = True
) -> tuple[Meta, Meta]:
    """The highest scores of paths through tags, and these paths.

    A path scores by its tags, `input`, and from tag to tag, `transition`. With
    `include_bos_eos_tag` the last row of `transition` scores the first tag, and that before it
    the last one.
    """
    if input.ndim != 3:
        raise ShapeError(f"input has {input.ndim} axes, not those of sequences, steps and tags")
    if transition.ndim != 2:
        raise ShapeError(f"transition has {transition.ndim} axes, 2 are needed")
    floating(input)
    if transition.dtype is not input.dtype:
        raise DtypeError(f"input is {input.dtype.name} and transition {transition.dtype.name}")
    if not length.dtype.is_integer:
        raise DtypeError(f"length is {length.dtype.name}, not of integers")
    for n in transition.shape:
        agree(input.shape[2], n, "there are {} tags, transition has {}")
    if include_bos_eos_tag and input.shape[2] in (0, 1):
        raise ShapeError(f"{input.shape[2]} tags leave none for the first and the last")
    rows = agree(input.shape[0], count(length.shape), "there are {} sequences, length has {}")
    return Meta((rows,), input.dtype), Meta((rows, UNKNOWN), int64)


@viterbi_decode.kernel
def viterbi_decode_kernel(
    xp: Any, input: Any, transition: Any, length: Any, *, out: Any = None, include_bos_eos_tag: bool
) -> Any:
    rows, steps, tags = input.shape
    length = length.reshape(-1)
    wrong = (length < 0) | (length > steps)
    if wrong.any():
        raise RangeError(f"the length {length[wrong][0]} is outside [0, {steps}]")
    longest = int(length.max(initial=0))
    if not longest or not tags:
        return xp.zeros(rows, input.dtype), xp.zeros((rows, longest), "int64")
    first, last = (transition[-1], transition[-2]) if include_bos_eos_tag else (0, 0)
    score = input[:, 0] + first + xp.where(length[:, None] == 1, last, 0)
    before = []
    for step in range(1, longest):
        along = score[:, :, None] + transition
        before.append(along.argmax(1))
        found = along.max(1) + input[:, step] + xp.where(length[:, None] == step + 1, last, 0)
        score = xp.where(length[:, None] > step, found, score)
    tag, path = score.argmax(1), xp.zeros((rows, longest), "int64")
    every = xp.arange(rows)
    for step in range(longest - 1, -1, -1):
        path[:, step] = xp.where(length > step, tag, 0)
        if step:
            tag = xp.where(length > step, before[step - 1][every, tag], tag)
    return score.max(1).astype(input.dtype), path


viterbi_decode.no_grad("a path is not differentiable")
viterbi_decode.no_lowering("a step depends on the step before")
