"""Which expression each call is written as, and which are written within others."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from scull.core.meta import Kind
from scull.jit.decompile import form, network, recurrent  # noqa: F401  they declare rules
from scull.jit.decompile.condition import Test, uses_of
from scull.jit.decompile.expression import method, name, text
from scull.jit.decompile.proof import Shape, Shown, Trial
from scull.jit.decompile.rule import Rule, rules_for
from scull.jit.decompile.view import View
from scull.passes.isomorphism import meaning
from scull.passes.structure import (
    Call,
    Loop,
    Region,
    Structure,
    Value,
    overwritten,
    regions_of,
    writes,
)

LONGEST = 44  # characters of what is written within another expression


@dataclass(eq=False)
class Choice:
    """An expression for a call: its tree, with words for values, and what its results are."""

    tree: ast.expr
    words: dict[str, Value]
    absorbed: list[Call]
    results: list[Value]
    shape: Shape  # where they stand in what it gives


class Chooser:
    """Chooses for all calls of a structure; `unnamed` are those that nothing records."""

    def __init__(self, structure: Structure, tests: dict[Loop, Test], proofs: "Proofs") -> None:
        self.structure, self.tests, self.proofs = structure, tests, proofs
        self.used = uses_of(structure, tests)
        self.exits = set(structure.exits)
        self.choices: dict[Call, Choice] = {}
        self.absorbed: set[Call] = set()
        self.unnamed: list[Call] = []
        for region in self.regions():
            for node in reversed(region.nodes):
                if isinstance(node, Call) and node not in self.absorbed:
                    self.choose(node)
        self.inlined = Inlining(self).found

    def regions(self) -> Iterator[Region]:
        """All regions, those of tests included."""
        waiting = [self.structure.region]
        while waiting:
            region = waiting.pop()
            yield region
            for node in region.nodes:
                waiting.extend(regions_of(node))
                if isinstance(node, Loop):
                    waiting.append(self.tests[node].region)

    def choose(self, call: Call, *refused: Rule) -> None:
        """Find the first expression that records `call`, by none of the rules `refused`."""
        if call.type == "assign" and writes(call):
            self.choices[call] = overwriting(call)
            return
        for rule in [r for r in rules_for(call.type) if r not in refused]:
            words: dict[Value, str] = {}

            def tree(value: Value, words: dict[Value, str] = words) -> ast.expr:
                return ast.Name(words.setdefault(value, f"v{len(words)}"), ast.Load())

            view = View(call, tree, self.absorbable(call))
            try:
                made = rule(view)
            except (KeyError, TypeError, ValueError, AttributeError, AssertionError):
                made = None
            if made is None:
                continue
            given = {word: v for v, word in words.items()}
            results = [v for v in call.results() if self.used[v] and v.maker is call]
            shown = self.proofs.shown(made, [call, *view.absorbed], given, results)
            if shown is not None:
                self.choices[call] = Choice(made, given, view.absorbed, results, shown.shape)
                self.absorbed.update(view.absorbed)
                return
        self.unnamed.append(call)

    def choose_again(self, is_layer: Callable[[Choice], bool]) -> None:
        """Write recurrent networks that no layer can be as operators."""
        for call, choice in list(self.choices.items()):
            if call.type == "rnn" and not is_layer(choice):
                self.choose(call, recurrent.by_layer)

    def absorbable(self, call: Call) -> Callable[[Value], Call | None]:
        """What gives the call that makes a value only `call` reads."""

        def made(value: Value) -> Call | None:
            inner = value.maker
            alone = (
                isinstance(inner, Call)
                and not is_silent(inner)
                and inner.region is call.region
                and inner not in self.absorbed
                and self.used[value] == 1
                and value not in self.exits
                and sum(self.used[v] for v in inner.results()) == 1
                and not self.structure.is_ordered(inner)
            )
            return inner if alone else None

        return made


def overwriting(call: Call) -> Choice:
    """What gives a kept value another one: `self.buffer.set_value(x)`."""
    words = {"v0": call.operands()[0], "v1": call.results()[0]}
    return Choice(method(name("v1"), "set_value", name("v0")), words, [], [], None)


class Inlining:
    """Finds the values that are written where they are read."""

    def __init__(self, chooser: Chooser) -> None:
        self.chooser, self.found = chooser, set[Value]()
        self.lengths: dict[Value, int] = {}
        self.handed = handed(chooser.structure)
        self.fragile = fragile(chooser.structure)
        self.readers: dict[Value, list[Region]] = {}
        for call, choice in chooser.choices.items():
            for value in choice.words.values():
                self.readers.setdefault(value, []).append(call.region)
        self.tests = {test.region for test in chooser.tests.values()}
        for region in chooser.regions():
            for node in region.nodes:
                if isinstance(node, Call) and node in chooser.choices:
                    self.consider(node)

    def consider(self, call: Call) -> None:
        """Note whether the result of `call` is written where it is read."""
        choice = self.chooser.choices[call]
        if len(choice.results) != 1:
            return
        (value,) = choice.results
        if call.region in self.tests:
            self.found.add(value)
            return
        words = choice.words.values()
        length = len(text(choice.tree)) + sum(self.lengths.get(v, 6) for v in words)
        regions = self.readers.get(value, [call.region])
        if (
            choice.shape == 0
            and self.chooser.used[value] == 1
            and value not in self.handed
            and not is_silent(call)
            and length <= LONGEST
            and all(r is call.region for r in regions)
            and not self.chooser.structure.is_ordered(call)
            and not self.fragile.intersection(words)
            and value.meta.kind is Kind.DENSE
        ):
            self.found.add(value)
            self.lengths[value] = length


def is_silent(call: Call) -> bool:
    """Whether gradients of its results were stopped, which would reach its operands."""
    results = [v.variable for v in call.results() if v.maker is call]
    read = [v.variable for v in call.operands()]
    return (
        call.operator.op.gradient is not None
        and any(v.stop_gradient and v.dtype.is_float for v in results)
        and all(v.stop_gradient for v in results)
        and any(not v.stop_gradient and v.dtype.is_float for v in read)
    )


def handed(structure: Structure) -> set[Value]:
    """The values that branches and loops hand on."""
    found: set[Value] = set()

    def collect(region: Region) -> None:
        for node in region.nodes:
            if isinstance(node, Loop):
                found.update(v for c in node.carried for v in (c.before, c.after) if v is not None)
            elif not isinstance(node, Call):
                found.update(v for r in node.results for v in r.sides if v is not None)
            for inner in regions_of(node):
                collect(inner)

    collect(structure.region)
    return found


def fragile(structure: Structure) -> set[Value]:
    """The values that calls change in place, and lists of tensors."""
    found: set[Value] = set(structure.rewritten)
    for call in structure.region.calls():
        found.update(overwritten(call))
        found.update(v for v in call.operands() if v.meta.kind is not Kind.DENSE)
    return found


class Proofs:
    """What was tried: an expression proves the same again for operands of the same metas."""

    def __init__(self) -> None:
        self.known: dict[Any, Shown | None] = {}

    def shown(
        self,
        tree: ast.expr,
        calls: Sequence[Call],
        words: dict[str, Value],
        results: Sequence[Value],
    ) -> Shown | None:
        """Which results the expression gives, if it records exactly these calls."""
        key = (ast.dump(tree), self.key_of(calls, words, results))
        if key not in self.known:
            trial = Trial(calls, list(words.values()), results)
            self.known[key] = trial.shown(tree, words)
        return self.known[key]

    def key_of(
        self, calls: Sequence[Call], words: dict[str, Value], results: Sequence[Value]
    ) -> Any:
        """What an outcome depends on, besides the expression."""
        number = {v: i for i, v in enumerate(words.values())}
        for call in calls:
            for v in (*call.operands(), *call.results()):
                number.setdefault(v, len(number))

        def shape(slots: Any) -> Any:
            return [
                [number[v] for v in s if v] if isinstance(s, list) else s and number[s]
                for s in slots
            ]

        parts = [
            (
                c.type,
                meaning(c),
                shape(c.inputs),
                shape(c.outputs),
                shape(c.told.values()),
                sorted(c.told),
            )
            for c in calls
        ]
        metas = [(v.meta, v.variable.stop_gradient) for v in words.values()]
        return repr((parts, metas, [number[v] for v in results]))
