"""What a written layer owns: sublayers, parameters, buffers, and what a file calls their values."""

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scull.core.dtype import float32
from scull.jit.decompile.choice import Choice, Chooser
from scull.jit.decompile.expression import INDENT, call, lines, literal, name, text
from scull.jit.decompile.layer import Wish, wish_of
from scull.jit.decompile.naming import Names, identifier
from scull.passes.structure import Value

STATISTICS = ("_mean", "_variance")  # that train in no way, whatever is said of them


@dataclass
class Owned:
    """One attribute of the layer; of a sublayer also which of its own it has for which value."""

    word: str
    made: ast.expr
    parts: dict[str, str] = field(default_factory=dict)  # by attribute the key of a value


class Attributes:
    """Decides what the layer owns. A `key` tells a value apart; it is its name in its file."""

    def __init__(
        self,
        taken: Iterable[str],
        known: Mapping[str, Mapping[str, Any]],
        stored: Mapping[str, str],
    ) -> None:
        self.fresh, self.known, self.stored = Names(taken), known, stored
        self.owned: list[Owned] = []
        self.owners: dict[str, tuple[Owned, str]] = {}  # by key
        self.metas: dict[str, Any] = {}

    def key(self, value: Value) -> str:
        """What tells a kept value apart."""
        found: str = value.variable.name
        self.metas[found] = value.meta
        return found

    def claim(self, choosers: Iterable[Chooser]) -> None:
        """Let sublayers own what only they read, in the order in which they are called."""
        for chooser in choosers:
            for region in chooser.regions():
                for node in region.nodes:
                    choice = chooser.choices.get(node)  # type: ignore[arg-type]
                    wish = wish_of(choice.tree, choice.words) if choice is not None else None
                    if wish is not None:
                        self.claim_one(wish)

    def claim_one(self, wish: Wish) -> None:
        """Make a sublayer, if its parameters are nobody's."""
        keys = {word: self.key(v) for word, v in wish.parameters.items()}
        if any(key in self.owners for key in keys.values()):
            return
        for word, key in keys.items():
            if word not in STATISTICS and self.known[key].get("trainable") is None:
                return
        stem = self.stored[next(iter(keys.values()))].rpartition(".")[0]
        stem = re.sub(r"(\.\d+)?\.cell(_fw)?$", "", stem)  # of recurrent networks
        kind = text(wish.made.func).rpartition(".")[2].lower()  # type: ignore[attr-defined]
        owned = Owned(self.fresh(stem, identifier(kind)), wish.made, keys)
        self.owned.append(owned)
        for word, key in keys.items():
            self.owners.setdefault(key, (owned, word))

    def called(self, choice: Choice) -> ast.expr | None:
        """The call of a sublayer that `choice` is, if there is one."""
        wish = wish_of(choice.tree, choice.words)
        if wish is None:
            return None
        keys = {word: self.key(v) for word, v in wish.parameters.items()}
        owner, _ = self.owners.get(next(iter(keys.values())), (None, ""))
        if owner is None or owner.parts != keys or text(owner.made) != text(wish.made):
            return None
        return call(f"self.{owner.word}", *wish.operands)

    def tree(self, value: Value) -> ast.expr:
        """What stands for a kept value."""
        key = self.key(value)
        if key not in self.owners:
            owned = Owned(self.fresh(self.stored[key], "weight"), self.made(key, value), {"": key})
            self.owned.append(owned)
            self.owners[key] = owned, ""
        owned, part = self.owners[key]
        return name(f"self.{owned.word}.{part}" if part else f"self.{owned.word}")

    def made(self, key: str, value: Value) -> ast.expr:
        """What makes a parameter or a buffer."""
        shape, dtype = [int(n) for n in value.meta.shape], value.meta.dtype
        if self.known[key].get("trainable") is None:
            return call("paddle.zeros", shape, dtype)
        words: dict[str, Any] = {} if dtype is float32 else {"dtype": dtype.name}
        if not dtype.is_float:
            words["default_initializer"] = call("nn.initializer.Constant", 0.0)
        return call("self.create_parameter", shape, **words)

    # ---- writing ----

    def lines(self) -> list[str]:
        """The statements of `__init__`."""
        margin, found = 2 * INDENT, []
        for owned in self.owned:
            if text(owned.made).startswith("paddle.zeros"):
                kept = call("self.register_buffer", owned.word, owned.made)
                found += lines("", kept, margin)
            else:
                found += lines(f"self.{owned.word} = ", owned.made, margin)
        return found + self.silenced(" " * margin)

    def silenced(self, margin: str) -> list[str]:
        """What says which parameters do not train, and which buffers do."""
        found = []
        for key, (owned, part) in self.owners.items():
            known, path = self.known[key], f"self.{owned.word}.{part}".rstrip(".")
            buffer = known.get("trainable") is None
            if part not in STATISTICS and known["stop_gradient"] != buffer:
                found.append(f"{margin}{path}.stop_gradient = {known['stop_gradient']}")
        return found

    def weights(self) -> ast.expr:
        """The names of the file by those of the layer's state."""
        pairs = {
            f"{owned.word}.{part}".rstrip("."): self.stored[key]
            for owned in self.owned
            for part, key in owned.parts.items()
        }
        return ast.Dict([literal(n) for n in pairs], [literal(v) for v in pairs.values()])
