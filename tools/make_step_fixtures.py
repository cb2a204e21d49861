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


if __name__ == "__main__":
    write_all()
