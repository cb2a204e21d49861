"""Names for what a Program calls anything: identifiers of ASCII letters that mean nothing else."""

import builtins
import keyword
import re
from collections.abc import Iterable

LONGEST = 32
TAKEN = frozenset(
    {
        *dir(builtins),
        *keyword.kwlist,
        *keyword.softkwlist,
        *("self", "paddle", "nn", "F", "Model", "INPUTS", "WEIGHTS", "length_of"),
    }
)
WORDS = {  # what results of operators are called, by a part of their type
    "accuracy": "accuracy",
    "arg_max": "best",
    "batch_norm": "normal",
    "concat": "joined",
    "conv": "features",
    "cross_entropy": "cost",
    "dropout": "kept",
    "embedding": "embedded",
    "equal": "holds",
    "expand": "stretched",
    "fill_constant": "constant",
    "flatten": "flat",
    "gather": "chosen",
    "greater": "holds",
    "layer_norm": "normal",
    "less": "holds",
    "logical": "holds",
    "lookup_table": "embedded",
    "matmul": "product",
    "pool": "pooled",
    "reduce_any": "holds",
    "reduce_all": "holds",
    "reshape": "shaped",
    "rnn": "states",
    "scale": "scaled",
    "shape": "sizes",
    "slice": "part",
    "softmax": "shares",
    "split": "pieces",
    "stack": "stacked",
    "top_k": "best",
    "transpose": "turned",
    "unsqueeze": "widened",
    "squeeze": "narrowed",
    "where": "chosen",
    "write_to_array": "listed",
    "add": "total",
    "sub": "difference",
    "mul": "product",
    "div": "ratio",
    "mean": "mean",
    "sum": "total",
}


def identifier(wish: str) -> str:
    """`wish` with nothing but letters, digits and lines below; "" where nothing is left."""
    found = re.sub(r"[^A-Za-z0-9_]+", "_", wish[: 4 * LONGEST]).strip("_")[:LONGEST].strip("_")
    found = re.sub(r"__+", "_", found)
    return f"n{found}" if found[:1].isdigit() else found


def word_for(type: str) -> str:
    """What a result of an operator of this type is called."""
    for part, word in WORDS.items():
        if part in type:
            return word
    return re.sub(r"_?\d+$", "", identifier(type)).lower() or "value"


class Names:
    """Hands out names, each once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = {*TAKEN, *taken}

    def __call__(self, wish: str, otherwise: str = "value") -> str:
        """A name like `wish`, or like the other where nothing of `wish` is left."""
        stem = identifier(wish) or otherwise
        found, number = stem, 1
        while found in self.taken:
            number += 1
            found = f"{stem}_{number}"
        self.taken.add(found)
        return found
