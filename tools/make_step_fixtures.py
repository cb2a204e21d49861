"""Write those of tests/data/levels/ whose Programs go step by step, as DynamicRNN wrote them.

Run as `make_level_fixtures.py` is, which explains what it writes.
"""

import numpy as np
import paddle
from make_level_fixtures import CASES, case, floats, made, write_all
from paddle import static
from paddle.base import core

CASES.clear()
Kind = core.VarDesc.VarType
LENGTHS = [[3, 1, 4, 2]]
X, H = (floats(10, 3), LENGTHS), (floats(4, 3), None)


def listed(dtype="float32", name="list"):
    """A list of tensors."""
    block = static.default_main_program().current_block()
    name = paddle.utils.unique_name.generate(name)
    return block.create_var(name=name, type=Kind.LOD_TENSOR_ARRAY, dtype=dtype)


def appended(type, inputs, outputs, attrs=None):
    """Append an operator to the block at hand."""
    block = static.default_main_program().current_block()
    block.append_op(type=type, inputs=inputs, outputs=outputs, attrs=attrs or {})


def dense(type, inputs, outputs=("Out",), shape=(-1, 3), dtype="float32", **attrs):
    """The results of an operator, of a known shape."""
    block = static.default_main_program().current_block()
    names = {slot: paddle.utils.unique_name.generate(f"{type}.{slot}") for slot in outputs}
    found = {s: block.create_var(name=n, shape=shape, dtype=dtype) for s, n in names.items()}
    for v in found.values():
        v.stop_gradient = dtype != "float32"
    appended(type, inputs, found, attrs)
    return found[outputs[0]] if len(outputs) == 1 else tuple(found.values())


def table_of(x, level=0):
    """The rank table of sequences."""
    block = static.default_main_program().current_block()
    name = paddle.utils.unique_name.generate("table")
    table = block.create_var(name=name, type=Kind.LOD_RANK_TABLE)
    appended("lod_rank_table", {"X": x}, {"Out": table}, {"level": level})
    return table


class Steps:
    """The loop over the steps of sequences."""

    def __init__(self, x):
        self.table = table_of(x)
        self.x = listed()
        appended("lod_tensor_to_array", {"X": x, "RankTable": self.table}, {"Out": self.x})
        self.most = dense("max_sequence_len", {"RankTable": self.table}, dtype="int64", shape=[1])
        self.i, self.zero = paddle.full([1], 0, "int64"), paddle.full([1], 0, "int64")
        self.out, self.memory = listed(), listed()
        self.going = paddle.less_than(self.i, self.most)

    def start(self, h):
        """Let the memory begin with rows in the order of the sequences."""
        inputs = {"X": h, "RankTable": self.table}
        self.first = dense("reorder_lod_tensor_by_rank", inputs)
        appended("write_to_array", {"X": self.first, "I": self.zero}, {"Out": self.memory})

    def run(self, step):
        """The rows that `step` makes of those of a step and of the memory."""
        loop = static.nn.control_flow.While(self.going)
        with loop.block():
            x = dense("read_from_array", {"X": self.x, "I": self.i})
            before = dense("read_from_array", {"X": self.memory, "I": self.i})
            inputs = {"X": before, "I": self.i, "RankTable": self.table}
            out = step(x, dense("shrink_rnn_memory", inputs))
            appended("write_to_array", {"X": out, "I": self.i}, {"Out": self.out})
            appended("increment", {"X": self.i}, {"Out": self.i}, {"step": 1.0})
            appended("write_to_array", {"X": out, "I": self.i}, {"Out": self.memory})
            appended("less_than", {"X": self.i, "Y": self.most}, {"Out": self.going})
        return dense("array_to_lod_tensor", {"X": self.out, "RankTable": self.table})


@case("steps_network", x=X, h=H)
def steps_network(x, h):
    weight, steps = static.data("w", [3, 3]), Steps(x)
    steps.start(h)
    return [steps.run(lambda x, h: paddle.tanh(paddle.matmul(h, weight) + x)), steps.most]


@case("steps_taken", x=X)
def steps_taken(x):
    steps = Steps(x)
    inputs = {"X": steps.x, "RankTable": steps.table}
    return [dense("array_to_lod_tensor", inputs) * 2.0, steps.most]


@case("steps_attention", x=X, h=H, y=(floats(9, 3), [[2, 4, 1, 2]]))
def steps_attention(x, h, y):
    """Each step looks at a second sequence, which is ranked as the first."""
    steps = Steps(x)
    steps.start(h)
    ranked = dense("reorder_lod_tensor_by_rank", {"X": y, "RankTable": steps.table})

    def step(x, h):
        inputs = {"X": ranked, "I": steps.i, "RankTable": steps.table}
        seen = dense("shrink_rnn_memory", inputs)
        found = made("sequence_pool", {"X": seen}, {"pooltype": "SUM"}, ("Out", "MaxIndex"))[0]
        return paddle.tanh(found + h) + x

    return [steps.run(step)]


for name, lengths in (("rows", None), ("sequences", [[1, 2, 1, 2]])):
    y = (floats(6 if lengths else 4, 2), lengths)
    case(f"rank_{name}", x=X, y=y)(
        lambda x, y: [
            dense("reorder_lod_tensor_by_rank", {"X": y, "RankTable": table_of(x)}, shape=(-1, 2))
        ]
    )

case("rank_nested", x=X, y=(floats(7, 2), [[1, 1, 2, 1], [2, 1, 1, 2, 1]]))(
    lambda x, y: [
        dense("reorder_lod_tensor_by_rank", {"X": y, "RankTable": table_of(x)}, shape=(-1, 2))
    ]
)

MASK = (np.array([[1], [0], [0], [1]], "bool"), None)
for name, y in (
    ("rows", (floats(4, 3), None)),
    ("sequences", (floats(6, 3), [[1, 2, 1, 2]])),
    ("nested", (floats(7, 3), [[1, 1, 2, 1], [2, 1, 1, 2, 1]])),
):

    @case(f"split_{name}", x=y, mask=MASK)
    def split(x, mask):
        inputs = {"X": x, "Mask": mask}
        true, false = dense("split_lod_tensor", inputs, ("OutTrue", "OutFalse"), level=0)
        inputs |= {"InTrue": paddle.tanh(true), "InFalse": false * 2.0}
        return [dense("merge_lod_tensor", inputs, level=0), true, false]


CANDIDATES = {
    "before": (np.array([[1], [2], [3], [1]], "int64"), [[2, 2], [1, 1, 1, 1]]),
    "reached": (floats(4, 1) - 3, [[2, 2], [1, 1, 1, 1]]),
    "ids": (np.array([[4, 1, 2], [5, 6, 7], [8, 1, 9], [3, 4, 5]], "int64"), [[2, 2], [1] * 4]),
    "scores": (floats(4, 3) - 3, [[2, 2], [1, 1, 1, 1]]),
}


def beam(before, reached, scores, ids=None, **attrs):
    """What a step of a beam search chooses: words, their scores, and what they follow."""
    for v in (before, reached, scores):
        v.stop_gradient = True
    block = static.default_main_program().current_block()
    outs = {
        "selected_ids": block.create_var(name="words", dtype="int64"),
        "selected_scores": block.create_var(name="found", dtype="float32"),
        "parent_idx": block.create_var(name="parent", dtype="int32"),
    }
    inputs = {"pre_ids": before, "pre_scores": reached, "scores": scores}
    inputs |= {} if ids is None else {"ids": ids}
    appended("beam_search", inputs, outs, {"beam_size": 2, "end_id": 1, "level": 0, **attrs})
    return [outs["selected_ids"], outs["selected_scores"], outs["parent_idx"]]


case("beam", **CANDIDATES)(
    lambda before, reached, ids, scores: beam(before, reached, scores, ids, is_accumulated=True)
)
ENDED = {**CANDIDATES, "before": (np.array([[1], [1], [3], [4]], "int64"), CANDIDATES["ids"][1])}
case("beam_ended", **ENDED)(
    lambda before, reached, ids, scores: beam(before, reached, scores, ids, is_accumulated=True)
)
SHARES = {**CANDIDATES, "scores": (abs(floats(4, 3)), CANDIDATES["ids"][1])}
case("beam_shares", **{n: v for n, v in SHARES.items() if n != "ids"})(
    lambda before, reached, scores: beam(before, reached, scores, is_accumulated=False)
)


@case(
    "beam_search",
    first=(np.array([[0], [0]], "int64"), [[1, 1], [1, 1]]),
    start=(np.zeros((2, 1), "float32"), [[1, 1], [1, 1]]),
    state=(floats(2, 4), None),
)
def beam_search(first, start, state):
    """Words that a small network finds, until all end or there are seven."""
    for v in (start, state):
        v.stop_gradient = True
    words, inner = static.data("table", [6, 4]), static.data("inner", [4, 4])
    outer = static.data("outer", [4, 6])
    i, most = paddle.full([1], 0, "int64"), paddle.full([1], 7, "int64")
    ids, scores, states = listed("int64", "ids"), listed(name="scores"), listed(name="states")
    for x, array in ((first, ids), (start, scores), (state, states)):
        appended("write_to_array", {"X": x, "I": i}, {"Out": array})
    going = paddle.less_than(i, most)
    with static.nn.control_flow.While(going).block():
        before = dense("read_from_array", {"X": ids, "I": i}, shape=(-1, 1), dtype="int64")
        reached = dense("read_from_array", {"X": scores, "I": i}, shape=(-1, 1))
        old = dense("read_from_array", {"X": states, "I": i}, shape=(-1, 4))
        each = static.nn.sequence_expand(old, reached)
        word = dense("lookup_table", {"W": words, "Ids": before}, shape=(-1, 4))
        new = paddle.tanh(paddle.matmul(each, inner) + word)
        along = dense("lod_reset", {"X": new, "Y": reached}, shape=(-1, 4))
        scored = dense("mul", {"X": along, "Y": outer}, shape=(-1, 6))
        shares = paddle.nn.functional.softmax(scored)
        best, places = paddle.topk(shares, 3)
        total = paddle.log(best) + paddle.reshape(reached, [-1, 1])
        chosen, found, _ = beam(before, reached, total, places, is_accumulated=True)
        appended("increment", {"X": i}, {"Out": i}, {"step": 1.0})
        for x, array in ((new, states), (chosen, ids), (found, scores)):
            appended("write_to_array", {"X": x, "I": i}, {"Out": array})
        more = paddle.logical_and(paddle.less_than(i, most), ~paddle.is_empty(chosen))
        paddle.assign(more, going)
    names = {"SentenceIds": "sentences", "SentenceScores": "shares"}
    block, types = static.default_main_program().global_block(), ("int64", "float32")
    outs = {
        slot: block.create_var(name=name, dtype=dtype)
        for (slot, name), dtype in zip(names.items(), types, strict=True)
    }
    attrs = {"beam_size": 2, "end_id": 1}
    appended("beam_search_decode", {"Ids": ids, "Scores": scores}, outs, attrs)
    return [*outs.values(), i]


if __name__ == "__main__":
    write_all(CASES)
