"""Levels of detail as values: where sequences begin becomes a variable beside those that have some.

A file names a tensor with levels as it names any other, and an operator takes them along unseen.
Before such a Program runs it becomes one in which levels are vectors of their own
(`scull/ops/level.py`): fed beside what is fed, made by operators of their own where they change,
handed to operators that compute by them. Which result has those of which operand follows from the
types of operators.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from scull.core.dtype import DType, int32, int64
from scull.core.meta import UNKNOWN, Kind, Meta
from scull.core.op import MARK, Op
from scull.ir.block import Block
from scull.ir.clone import copied
from scull.ir.operator import Operator, each
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.ops.level import sequence_levels, sequence_rows
from scull.ops.suppress import counted_nms

GRADIENT = "@GRAD"

# By slots, "operand result": the types of operators whose result takes the operand's levels.
TYPES = {
    "X Out": """
        acos acosh affine_channel argsort asin asinh assign atan atanh bce_loss bernoulli
        bilinear_tensor_product bitwise_and bitwise_not bitwise_or bitwise_xor bmm brelu
        broadcast_tensors cast ceil celu clip clip_by_norm concat cos cosh cross cumprod cumsum
        dropout elementwise_add elementwise_div elementwise_floordiv elementwise_fmax
        elementwise_fmin elementwise_max elementwise_min elementwise_mod elementwise_mul
        elementwise_pow elementwise_sub elu equal erf erfinv exp expand_v2 expm1 fill_any
        fill_any_like flatten_contiguous_range flip floor gather gather_nd gelu greater_equal
        greater_than gumbel_softmax hard_shrink hard_sigmoid hard_swish hierarchical_sigmoid
        huber_loss increment index_add index_select kthvalue label_smooth leaky_relu less_equal
        less_than log log10 log1p log2 log_softmax logcumsumexp logical_and logical_not
        logical_or logical_xor logsigmoid lrn matmul matrix_power minus mish mode mul mv
        not_equal one_hot_v2 pad2d pad3d poisson pool2d pool3d pow prelu reciprocal relu relu6
        renorm repeat_interleave reshape2 reverse roll round row_conv rrelu rsqrt scale scatter
        scatter_nd_add selu shard_index sigmoid sigmoid_cross_entropy_with_logits sign silu sin
        sinh soft_relu softmax softplus softshrink softsign solve split sqrt square squeeze2 sum
        swish tan tanh tanh_shrink temporal_shift thresholded_relu top_k top_k_v2 tril_triu trunc
        unbind unsqueeze2 where""",
    "X Y": """
        batch_norm bpr_loss cross_entropy cross_entropy2 data_norm group_norm instance_norm
        layer_norm stack""",
    "X Indices": "argsort kthvalue mode top_k top_k_v2",
    "x out": "i0 i0e i1 i1e nextafter",
    "Input Out": "addmm determinant slice strided_slice",
    "Logits Loss": "hinge_loss margin_cross_entropy softmax_with_cross_entropy",
    "Logits Softmax": "margin_cross_entropy softmax_with_cross_entropy",
    "Ids Out": "lookup_table lookup_table_v2",
    "Theta Output": "affine_grid",
    "X1 Out": "atan2",
    "TargetBox OutputBox": "box_coder",
    "X Output": "grid_sampler",
    "Index Out": "index_sample",
    "Input Output": "inverse",
    "Predicted Loss": "log_loss",
    "In Out": "print",
    "Input Result": "put_along_axis",
    "X Q": "qr",
    "X R": "qr",
    "Weight Out": "spectral_norm",
    "X S": "svd",
    "X U": "svd",
    "X VH": "svd",
    "Y Out": "triangular_solve",
}
# The same of operators over sequences, and of others that only older Programs have.
OLDER = {
    "X Out": """
        add_position_encoding iou_similarity reshape sequence_softmax sequence_conv
        sequence_enumerate squeeze unsqueeze""",
    "Input Output": "box_clip",
    "PriorBox OutputAssignBox": "box_decoder_and_assign",
    "TargetBox DecodeBox": "box_decoder_and_assign",
    "X Y": "cvm sequence_reverse teacher_student_sigmoid_loss",
    "Y Out": "sequence_expand_as",
    "Input Hidden": "lstm gru",
    "Input Cell": "lstm",
    "Emission ViterbiPath": "crf_decoding",
}


class Change(NamedTuple):
    """How levels come out of an operator that changes them."""

    result: str  # the slot, or several
    rule: str  # of `scull/ops/level.py`
    slots: tuple[str, ...]  # what it is told: levels of operands, operands
    attributes: tuple[str, ...] = ()


CHANGES = {
    "sequence_pool": Change("Out", "outer", ("X" + MARK,)),
    "sequence_expand": Change("Out", "expand", ("X" + MARK, "Y" + MARK), ("ref_level",)),
    "sequence_concat": Change("Out", "concat", ("X" + MARK,)),
    "sequence_slice": Change("Out", "slice", ("X" + MARK, "Offset", "Length")),
    "sequence_unpad": Change("Out", "unpad", ("Length",)),
    "sequence_reshape": Change("Out", "reshape", ("X" + MARK, "X"), ("new_dim",)),
    "sequence_erase": Change("Out", "erase", ("X" + MARK, "X"), ("tokens",)),
    "lod_reset": Change("Out", "reset", ("X" + MARK, "Y" + MARK, "Y"), ("append", "target_lod")),
    "im2sequence": Change("Out", "pieces", ("X", "Out")),
    "ctc_align": Change("Output", "align", ("Input" + MARK, "Input"), ("blank", "merge_repeated")),
    "array_to_lod_tensor": Change("Out", "table", ("RankTable",)),
    "reorder_lod_tensor_by_rank": Change("Out", "rank", ("RankTable", "X" + MARK)),
    "reorder_lod_tensor_by_rank_grad": Change("Out", "unrank", ("RankTable", "X" + MARK)),
    "split_lod_tensor": Change("OutTrue", "true", ("Mask", "X" + MARK), ("level",)),
    "merge_lod_tensor": Change(
        "Out", "merge", ("Mask", "InTrue" + MARK, "InFalse" + MARK, "X" + MARK), ("level",)
    ),
    "shrink_rnn_memory": Change("Out", "shrink", ("RankTable", "I", "X" + MARK)),
    "match_matrix_tensor": Change("Out", "matched", ("X" + MARK, "Y" + MARK), ("dim_t",)),
    "concat": Change("Out", "stack", ("X" + MARK,)),
}
SECOND = {  # how they come out of another result
    "split_lod_tensor": Change("OutFalse", "false", ("Mask", "X" + MARK), ("level",)),
}
LISTED = ("read_from_array", "write_to_array")


class Counting(NamedTuple):
    """Where an operator is told how many rows each image has, and where it tells it of results."""

    told: str = ""  # the slot; empty in older Programs, where the levels of rows tell
    rows: str = ""  # the slot of those rows
    telling: str = ""  # the slot
    results: str = ""  # the slot that it tells of, or several


COUNTING = {
    "roi_align": Counting("RoisNum", "ROIs"),
    "roi_pool": Counting("RoisNum", "ROIs"),
    "psroi_pool": Counting("RoisNum", "ROIs"),
    "generate_proposals": Counting(telling="RpnRoisNum", results="RpnRois RpnRoiProbs"),
    "distribute_fpn_proposals": Counting("RoisNum", "FpnRois", "MultiLevelRoIsNum", "MultiFpnRois"),
    "collect_fpn_proposals": Counting("MultiLevelRoIsNum", "MultiLevelRois", "RoisNum", "FpnRois"),
    "counted_nms": Counting("RoisNum", "BBoxes", "Counts", "Out Index"),
}


@cache
def passed_on() -> dict[str, list[tuple[str, str]]]:
    """By type of operator the slots (operand, result) of which one gives the other its levels."""
    found: dict[str, list[tuple[str, str]]] = {}
    for table in (TYPES, OLDER):
        for slots, types in table.items():
            operand, result = slots.split()
            for name in types.split():
                found.setdefault(name, []).append((operand, result))
    return found


class Levelled(NamedTuple):
    """A Program whose levels are values."""

    program: Program
    feeds: tuple[str, ...]  # what is fed, levels too
    fetches: tuple[str, ...]  # what is fetched, levels behind it
    levels: tuple[int, ...]  # for each that is asked for the place of its levels; -1: it has none


def levelled(program: Program, feeds: tuple[str, ...], fetches: tuple[str, ...]) -> Levelled:
    """`program` with levels as values, and what is to be fed and fetched beside."""
    writer = Writer(copied(program))
    block = writer.program.global_block()
    fed = [v for v in map(block.find, feeds) if v is not None and v.kind is Kind.DENSE]
    beside = {v: block.variable(v.name + MARK, Meta((UNKNOWN,), int64)) for v in fed}
    writer.known.update(beside)
    writer.write(block)
    asked = [None if v is None else writer.of(v) for v in map(block.find, fetches)]
    wanted = list(dict.fromkeys(v for v in asked if v is not None))
    used = swept(writer.program, set(wanted))
    behind = {v: len(fetches) + i for i, v in enumerate(wanted)}
    places = [-1 if v is None else behind[v] for v in asked]
    return Levelled(
        writer.program,
        (*feeds, *(v.name for v in beside.values() if v in used)),
        (*fetches, *(v.name for v in wanted)),
        tuple(places),
    )


def swept(program: Program, needed: set[Variable]) -> set[Variable]:
    """What is read, once operators are gone that make levels nobody needs."""
    all_of_them = [o for b in program.blocks for o in b.ops]
    used = {v for o in all_of_them if not is_made(o) for v in o.operands()} | needed
    waiting = [o for o in all_of_them if is_made(o)]
    while met := {o: None for o in waiting if not used.isdisjoint(o.results())}:
        used.update(v for o in met for v in o.operands())
        waiting = [o for o in waiting if o not in met]
    for o in waiting:
        o.block.remove(o)
    return used


def is_made(o: Operator) -> bool:
    """Whether an operator makes levels, or keeps them in lists beside lists."""
    return o.op is sequence_levels.op or (o.type in LISTED and MARK in o.results()[0].name)


class Writer:
    """Writes operators of levels into a Program, block by block in its order."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.known: dict[Variable, Variable] = {}  # the levels of variables at this place
        self.count = 0  # of levels made
        self.none: Variable | None = None  # the levels of what has none
        self.lists: dict[Variable, Variable] = {}  # beside lists those of the levels they hold

    def write(self, block: Block) -> None:
        """Give the operators of a block the levels they need, and make those that change."""
        operators = list(block.ops)
        del block.ops[:]
        for o in operators:
            o = self.counted(o, block)
            inner = list(o.blocks())
            if inner:
                self.enter(o, inner)
            self.hand_over(o)
            block.append(o)
            if not inner and o.type != "feed":  # what is fed has the levels fed beside it
                self.pass_on(o, block)
            if o.type in LISTED and GRADIENT not in o.results()[0].name:
                self.keep(o, block)

    def counted(self, o: Operator, block: Block) -> Operator:
        """An operator over rows of images as one that is told and tells how many each has."""
        if o.type in ("multiclass_nms", "multiclass_nms2"):
            attrs = {**o.attrs, "lone": o.type == "multiclass_nms"}
            results = (*o.results(), None, None)[:2]
            o = like(o, counted_nms.op, (*o.inputs, None), (*results, None), attrs)
        known = COUNTING.get(o.type.removesuffix("_grad"), Counting())
        by_image = o.op is counted_nms.op and any(len(v.shape) == 3 for v in named(o, "Scores"))
        if known.told and not by_image and not named(o, known.told):
            self.tell(o, known, block)
        if known.telling and o.op.forward is None and not named(o, known.telling):
            place = [o.op.slot(n) for n in o.op.outputs].index(known.telling)
            whole = o.op.outputs[place] in o.op.output_lists
            of = [v for slot in known.results.split() for v in named(o, slot)]
            counts = [self.beside(v, block, int32) for v in of[: None if whole else 1]]
            o.outputs = replaced(o.outputs, place, counts, whole)
        for name in o.op.tells:
            slot = o.op.slot(name)
            of = [v for s in slot.removesuffix(MARK).split() for v in named(o, s)]
            if of and not named(o, slot):
                made = [self.beside(of[0], block, int64)]
                o.outputs = replaced(o.outputs, o.op.outputs.index(name), made, False)
        return o

    def tell(self, o: Operator, known: Counting, block: Block) -> None:
        """Count the rows of each image by levels, and give the counts to an operator."""
        rows = named(o, known.rows)
        pairs = [[levels, v] for v in rows if (levels := self.of(v)) is not None]
        if not rows or len(pairs) < len(rows):
            return
        place = [o.op.slot(n) for n in o.op.inputs].index(known.told)
        counts = [self.beside(v, block, int64) for v in rows]
        for pair, count in zip(pairs, counts, strict=True):
            attrs = {"of": "count", "numbers": ()}
            block.append(like(o, sequence_rows.op, (pair,), (count,), attrs))
        o.inputs = replaced(o.inputs, place, counts, o.op.inputs[place] in o.op.lists)

    def beside(self, v: Variable, block: Block, dtype: DType) -> Variable:
        """A new vector that tells something of a variable."""
        self.count += 1
        return block.variable(f"{v.name}{MARK}{self.count}", Meta((UNKNOWN,), dtype))

    def enter(self, o: Operator, blocks: list[Block]) -> None:
        """Write the blocks of an operator.

        What they write to variables around them has no levels behind them, nor in a loop before.
        What is of them alone keeps its levels for the blocks of gradients.
        """
        own, inner = within(blocks), dict[Variable, Variable]()
        outside = {v for b in blocks for v in written_in(b) if v.block not in own}
        before = self.known
        if o.type.startswith("while"):
            before = {v: levels for v, levels in before.items() if v not in outside}
        for b in blocks:
            self.known = dict(before)
            self.write(b)
            inner |= {v: levels for v, levels in self.known.items() if v.block in own}
        self.known = {v: levels for v, levels in before.items() if v not in outside} | inner

    def keep(self, o: Operator, block: Block) -> None:
        """Write the levels of what is written to a list to one beside it, and read them there."""
        x, i, result = o.inputs[0], o.inputs[1], o.outputs[0]
        if o.type == "write_to_array":
            inputs: Any = self.of(x) or self.nothing(), i, None
            into = self.list_beside(result)
        else:
            into = self.beside(result, block, int64)
            inputs = self.list_beside(x), i, self.nothing()
            self.known[result] = into
        block.append(like(o, o.op, inputs, (into,), {}))

    def list_beside(self, array: Variable) -> Variable:
        """The list of levels beside a list of tensors."""
        if array not in self.lists:
            meta = Meta((UNKNOWN,), int64, Kind.ARRAY)
            self.lists[array] = array.block.variable(array.name + MARK, meta)
        return self.lists[array]

    def of(self, v: Variable) -> Variable | None:
        """The levels of a variable; a gradient has those of what it is the gradient of."""
        if v.kind is Kind.ARRAY:
            return self.list_beside(v)
        found = self.known.get(v)
        if found is None and GRADIENT in v.name and v.block is not None:
            source = v.block.find(v.name.partition(GRADIENT)[0])
            found = None if source is None else self.known.get(source)
        return found

    def hand_over(self, o: Operator) -> None:
        """Fill the operands of an operator that are levels, and are not given by name."""
        filled = list(o.inputs)
        for name in o.op.levels:
            place = o.op.inputs.index(name)
            if each(filled[place]):
                continue
            found = self.told(o, o.op.slot(name))
            filled[place] = found if name in o.op.lists else next(iter(found), None)
        o.inputs = tuple(filled)

    def told(self, o: Operator, slot: str) -> list[Variable]:
        """What stands in a slot of an operator, or the levels of that."""
        if given := named(o, slot):
            return given
        source = slot.removesuffix(MARK)
        variables = named(o, source) or named(o, source + GRADIENT)
        if source == slot:
            return []
        found = map(self.of, variables)
        return [self.nothing() if v is None else v for v in found]

    def nothing(self) -> Variable:
        """The levels of what has none, a constant of the first block."""
        if self.none is None:
            block = self.program.global_block()
            self.none = block.variable("none" + MARK, Meta((1,), int64))
            attrs = {"shape": [1], "value": 0.0, "dtype": "int64"}
            block._prepend_op(type="fill_constant", outputs={"Out": [self.none]}, attrs=attrs)
        return self.none

    def pass_on(self, o: Operator, block: Block) -> None:
        """Note the levels of an operator's results."""
        taken: dict[Variable, Variable | None] = dict.fromkeys(o.results())
        for operand, result in passed_on().get(o.type, ()):
            found = [self.of(v) for v in named(o, operand)]
            if "axes" in o.attrs and 0 in o.attrs["axes"] and "slice" in o.type:
                found = []
            if o.type == "box_coder" and o.attr("axis") == 1 and "decode" in o.attr("code_type"):
                found = [self.of(v) for v in named(o, "PriorBox")]
            taken.update(dict.fromkeys(named(o, result), found[0] if found else None))
        for change in filter(None, (CHANGES.get(o.type), SECOND.get(o.type))):
            results = [v for slot in change.result.split() for v in named(o, slot)]
            if results and (o.type != "concat" or o.attrs["axis"] == 0):
                taken.update(dict.fromkeys(results, self.changed(o, change, results[0], block)))
        taken.update(self.told_by_itself(o, block))
        for v, levels in taken.items():
            self.known.pop(v, None)
            if levels is not None:
                self.known[v] = levels

    def changed(
        self, o: Operator, change: Change, result: Variable, block: Block
    ) -> Variable | None:
        """The levels that an operator gives a result."""
        operands = [v for slot in change.slots for v in self.told(o, slot)]
        attributes = [o.attr(name) for name in change.attributes]
        if all(v is self.none for v in operands):
            return None
        numbers = [int(n) for v in attributes for n in (v if isinstance(v, list | tuple) else [v])]
        made = self.beside(result, block, int64)
        attrs = {"of": change.rule, "numbers": tuple(numbers)}
        block.append(like(o, sequence_levels.op, (operands,), (made,), attrs))
        return made

    def told_by_itself(self, o: Operator, block: Block) -> dict[Variable, Variable | None]:
        """The levels of results that an operator tells itself, or whose rows it counts."""
        found: dict[Variable, Variable | None] = {}
        for slot in map(o.op.slot, o.op.tells):
            of = [v for s in slot.removesuffix(MARK).split() for v in named(o, s)]
            found.update(dict.fromkeys(of, next(iter(named(o, slot)), None)))
        known = COUNTING.get(o.type, Counting())
        counts = named(o, known.telling) if known.telling else []
        for slot in known.results.split() if counts else ():
            for i, v in enumerate(named(o, slot)):
                count = counts[i if len(counts) > 1 else 0]
                found[v] = self.beside(v, block, int64)
                attrs = {"of": "counts", "numbers": ()}
                block.append(like(o, sequence_levels.op, ([count],), (found[v],), attrs))
        return found


def like(o: Operator, op: Op, inputs: Any, outputs: Any, attrs: dict[str, Any]) -> Operator:
    """Another operator in the place of one, or for it."""
    step = Operator(o.block, op, inputs, outputs, attrs, dict(o.extra))
    step.role, step.line = o.role, o.line
    return step


def replaced(slots: Any, place: int, found: list[Variable], whole: bool) -> tuple[Any, ...]:
    """What stands in slots with other variables in one: `whole`, or the first."""
    return *slots[:place], found if whole else next(iter(found), None), *slots[place + 1 :]


def named(o: Operator, slot: str) -> list[Variable]:
    """The variables in a slot of an operator, as a Program spells it."""
    for names, slots in ((o.op.inputs, o.inputs), (o.op.outputs, o.outputs)):
        for name, found in zip(names, slots, strict=False):
            if o.op.slot(name) == slot:
                return each(found)
    return []


def within(blocks: Sequence[Block]) -> set[Block]:
    """Blocks, and those of their operators."""
    found: set[Block] = set()
    waiting = list(blocks)
    while waiting:
        block = waiting.pop()
        if block not in found:
            found.add(block)
            waiting += [b for o in block.ops for b in o.blocks()]
    return found


def written_in(block: Block) -> Iterator[Variable]:
    """What the operators of a block write, and of the blocks in it."""
    for b in within([block]):
        for o in b.ops:
            yield from o.results()
