"""Recurrent networks: the operator `rnn` as the call of a layer."""

import ast
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from scull.jit.decompile.expression import call, literal, without
from scull.jit.decompile.layer import LAYERS, Options, Wish, given
from scull.jit.decompile.rule import rule_before
from scull.jit.decompile.view import View
from scull.nn.layer.rnn import Network
from scull.passes.structure import Value

CLASSES = {"LSTM": "LSTM", "GRU": "GRU", "RNN_TANH": "SimpleRNN", "RNN_RELU": "SimpleRNN"}
FUNCTION = "recurrent"  # what stands in trees for a layer whose parameters are told apart


def recurrent(x: Any, states: Any, lengths: Any, weights: list[Any], **said: Any) -> Any:
    """What a layer with these parameters gives; the steps are the first axis."""
    ways = 2 if said["bidirect"] else 1
    rest = {n: v for n, v in said.items() if n != "bidirect"}
    layer = SimpleNamespace(time_major=True, num_directions=ways, weights=lambda: weights, **rest)
    layer.training, layer._full_name = False, "rnn"
    return Network.forward(layer, x, states, lengths)  # type: ignore[arg-type]


@rule_before("rnn")
def by_layer(view: View) -> ast.expr | None:
    """The call of `nn.LSTM`, `nn.GRU`, `nn.SimpleRNN`."""
    weights = view.slot("weight_list")
    if not isinstance(weights, list) or not all(v and v.variable.is_parameter for v in weights):
        return None
    states = view.x("pre_state")
    assert isinstance(states, ast.List)
    first = ast.Tuple(states.elts, ast.Load()) if len(states.elts) > 1 else states.elts[0]
    words = ("input_size", "hidden_size", "num_layers", "mode")
    said = {n: view[n] for n in words} | {"bidirect": view["is_bidirec"]}
    said["dropout"] = view["dropout_prob"]
    lengths = view.x("sequence_length")
    return call(FUNCTION, view.x("input"), first, lengths, view.x("weight_list"), **said)


def layer(words: Mapping[str, Value], args: list[ast.expr], options: Options) -> Wish | None:
    """The layer of such a call."""
    x, states, lengths, listed = args
    assert isinstance(listed, ast.List)
    said = {n: node.value for n, node in options.items() if isinstance(node, ast.Constant)}
    values = [given(words, node) for node in listed.elts]
    mode = str(said["mode"])
    if None in values or len(set(values)) < len(values):
        return None
    words_ = names(int(said["num_layers"]), bool(said["bidirect"]))
    found = {n: v for i in (0, 1) for n, v in zip([w[i] for w in words_], values, strict=True)}
    chosen = {
        "num_layers": said["num_layers"],
        "direction": "bidirect" if said["bidirect"] else "forward",
        "dropout": said["dropout"],
        "activation": "relu" if mode == "RNN_RELU" else "tanh",
    }
    defaults = {"num_layers": 1, "direction": "forward", "dropout": 0.0, "activation": "tanh"}
    sizes = (said["input_size"], said["hidden_size"])
    rest = without(chosen, defaults)
    made = call(f"nn.{CLASSES[mode]}", *map(literal, sizes), time_major=True, **rest)
    operands = (x, states, *([] if isinstance(lengths, ast.Constant) else [lengths]))
    return Wish(made, {n: v for n, v in found.items() if v is not None}, operands)


def names(layers: int, both: bool) -> list[tuple[str, str]]:
    """The two names of each parameter of a layer, in the order of the operator: matrices first."""
    ways = (("", "cell_fw"), ("_reverse", "cell_bw")) if both else (("", "cell"),)
    cells = [(f"_l{i}{suffix}", f"{i}.{cell}") for i in range(layers) for suffix, cell in ways]
    kinds = [("weight", "ih"), ("weight", "hh")], [("bias", "ih"), ("bias", "hh")]
    return [
        (f"{kind}_{n}{own}", f"{path}.{kind}_{n}")
        for pairs in kinds
        for own, path in cells
        for kind, n in pairs
    ]


LAYERS[FUNCTION] = layer
