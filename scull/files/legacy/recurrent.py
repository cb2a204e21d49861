"""`recurrent`, which ran a block for every step of sequences, as the loop that it was."""

from dataclasses import dataclass, field
from typing import Any

from scull.errors import FileError
from scull.files import proto
from scull.files.legacy.call import Call, Names, copy_of, made, message_of
from scull.files.wire import AttributeKind

WHOLE, TRUTH = int(proto.VarType.INT32), int(proto.VarType.BOOL)


@dataclass
class Loop:
    """The operators of a loop: before it, at the begin and the end of each round, and behind it."""

    call: Call
    names: Names  # of the block around
    inner: Names
    before: list[Call] = field(default_factory=list)
    begin: list[Call] = field(default_factory=list)
    end: list[Call] = field(default_factory=list)
    behind: list[Call] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    carried: list[str] = field(default_factory=list)

    def count(self) -> tuple[str, str]:
        """The numbers of the round and of the step, which goes down in a reversed loop."""
        x = self.call.first("inputs")
        if not x:
            raise FileError(f"{self.call.where}: there are no sequences to go through")

        def new(word: str, size: int | None = 1, dtype: int = WHOLE) -> str:
            return self.names.like(x, word, None if size is None else [size], dtype)

        shape = self.names.shape(x)
        sizes, steps = new("sizes", None if shape is None else len(shape)), new("steps")
        i, going = new("round"), new("going", dtype=TRUTH)
        zero = {"shape": [1], "value": 0.0, "dtype": WHOLE}
        self.before += [
            made("shape", {"Input": x}, {"Out": sizes}),
            made("slice", {"Input": sizes}, {"Out": steps}, axes=[0], starts=[0], ends=[1]),
            made("fill_constant", {}, {"Out": i}, **zero),
        ]
        counting = [made("increment", {"X": i}, {"Out": i}, step=1.0)]
        at = i
        if self.call.get("reverse", False):
            at, last = new("step"), {"scale": 1.0, "bias": -1.0, "bias_after_scale": True}
            self.before.append(made("scale", {"X": steps}, {"Out": at}, **last))
            counting.append(made("increment", {"X": at}, {"Out": at}, step=-1.0))
        more = made("less_than", {"X": i, "Y": steps}, {"Out": going}, axis=-1)
        self.before.append(more)
        self.end += [*counting, more]
        self.read.append(steps)
        self.carried += dict.fromkeys((i, at, going))
        return at, going

    def take(self, x: str, at: str) -> None:
        """Let each round see a step of a sequence by the name of that."""
        whole, one = self.names.like(x, "sequence"), self.inner.like(x, "taken")
        shape = self.inner.shape(x)
        record = self.inner.like(x, "shape", None if shape is None else [0, 1, *shape])
        self.before.append(made("assign", {"X": x}, {"Out": whole}))
        self.begin += [
            made("gather", {"X": whole, "Index": at}, {"Out": one}, axis=0),
            made("squeeze2", {"X": one}, {"Out": x, "XShape": record}, axes=[0]),
        ]
        self.read.append(whole)

    def remember(self, first: str, old: str, new: str) -> None:
        """Hand a state from round to round."""
        state = self.names.like(first, "state")
        self.before.append(made("assign", {"X": first}, {"Out": state}))
        self.begin.append(made("assign", {"X": state}, {"Out": old}))
        self.end.insert(0, made("assign", {"X": new}, {"Out": state}))
        self.carried.append(state)

    def give(self, out: str, at: str) -> None:
        """Put what the rounds give on each other."""
        array, index = self.names.like(out, "list"), self.names.like(out, "index", dtype=WHOLE)
        message, tensor = self.names.find(array).type, proto.VarType.TensorDesc()
        tensor.CopyFrom(message.lod_tensor.tensor)
        message.Clear()
        message.type = proto.VarType.LOD_TENSOR_ARRAY
        message.tensor_array.tensor.CopyFrom(tensor)
        self.end.insert(0, made("write_to_array", {"X": out, "I": at}, {"Out": array}))
        attrs = {"axis": 0, "use_stack": True}
        outputs = {"Out": out, "OutIndex": index}
        self.behind.append(made("tensor_array_to_tensor", {"X": array}, outputs, **attrs))
        self.carried.append(array)


def looped(call: Call, names: Names) -> list[Call]:
    """`recurrent` as a `while`, whose rounds take steps of sequences and hand on states."""
    block = call.get("sub_block")
    if not isinstance(block, int) or not 0 < block < len(names.known.program.blocks):
        raise FileError(f"{call.where}: there is no block {block}")
    loop = Loop(call, names, Names(names.known, block))
    at, going = loop.count()
    firsts = call.inputs.get("initial_states", [])
    states = call.get("ex_states", []), call.get("states", [])
    for x in call.inputs["inputs"]:
        loop.take(x, at)
    for first, old, new in zip(firsts, *states, strict=True):
        loop.remember(first, old, new)
    for out in call.outputs.get("outputs", []):
        loop.give(out, at)
    surround(names.known.program.blocks[block], loop)
    given = [*call.inputs.get("parameters", []), *loop.read, *loop.carried]
    scopes = call.outputs.get("step_scopes", [])
    outputs = {"Out": loop.carried, "StepScopes": scopes}
    attrs = {
        "sub_block": (AttributeKind.BLOCK, block),
        "is_test": (AttributeKind.BOOLEAN, not call.get("is_train", True)),
    }
    step = Call("while", {"X": given, "Condition": [going]}, outputs, attrs)
    return [*loop.before, step, *loop.behind]


def surround(block: Any, loop: Loop) -> None:
    """Put the operators of a round around those of a block."""
    source = proto.OpDesc(type="recurrent")
    begin, end = ([message_of(c, source) for c in calls] for calls in (loop.begin, loop.end))
    ops = [*begin, *map(copy_of, block.ops), *end]
    del block.ops[:]
    block.ops.extend(ops)
