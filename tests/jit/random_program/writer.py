"""Writes random Layers with what only Python has: closures, `else` of loops, comprehensions."""

import random
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from tests.control.source import RESULT, condition, lines
from tests.control.tree import LIST, For, Leaf, Statement, Test, Text, While
from tests.control.writer import SMOOTH, Formulas, Writer

HEAD = """def folded(v, w, rounds, *rest, **named):
    total = v
    for k in range(rounds):
        if paddle.sum(total) > named.get("limit", 1.0):
            return total
        total = {folded}
    else:
        total = total * 0.5
    return sum(rest, total)


def powered(v, k):
    if k < 1 or paddle.sum(v) > 2.0:
        return v
    return powered({powered}, k - 1)


class Model(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([3, 3], dtype="float64")
        self.scale = self.create_parameter([3], dtype="float64")
        self.layers = paddle.nn.LayerList([paddle.nn.Linear(3, 3) for _ in range(2)])
        self.register_buffer("seen", paddle.zeros([3]))
        self.to(dtype="float64")

    def mixed(self, v, t, k=0.5):
        if paddle.sum(v) > t:
            return v * k
        elif t > 0.25:
            v = v + self.scale
        return {squashed}

    def forward(self, x, y, n):
"""
MOST = 20  # lines of what is random in a Layer


def indented(block: Iterable[str]) -> list[str]:
    """Lines within a statement."""
    return ["    " + line for line in block] or ["    pass"]


@dataclass
class PythonWriter(Writer):
    """Writes one Layer, which draws nothing: what is loaded omits no elements where it infers."""

    targets: ClassVar[str] = "abcabcms"
    vectors: list[str] = field(default_factory=list)  # those besides a, b, c
    looks: bool = False  # whether it looks at values now and then

    def text(self) -> str:
        """The source of a Layer."""
        self.listed = self.chance.random() < 0.5
        start = [*lines(self.formulas.start), *STATE]
        if self.listed:
            start.append(f"{LIST} = [a]")
        self.vectors = ["self.hidden", 'state["v"]']
        body = self.block(2, 2, 4)
        while len(list(lines(body))) > MOST:
            body = self.block(2, 2, 4)
        end = [f"c = c + {LIST}[-1]"] if self.listed else []
        end.append('c = c + self.hidden + state["v"] * self.count')
        whole = [*start, *lines(body), *end, RESULT]
        head = HEAD.replace("{squashed}", self.squashed("v * v + v"))
        head = head.replace("{folded}", self.squashed("total * w + v"))
        head = head.replace("{powered}", self.squashed("v * v - v"))
        return head + textwrap.indent("\n".join(whole), " " * 8) + "\n"

    def statement(self, depth: int) -> Statement:
        kinds = [k for k, (_, nests, lists) in PYTHON.items() if depth or not nests]
        kinds = [k for k in kinds if self.listed or not PYTHON[k][2]]
        if self.looks and self.chance.random() < 0.2:
            return Text(tuple(self.look(depth)))
        if self.chance.random() < 0.4:
            return super().statement(depth)
        return Text(tuple(PYTHON[self.chance.choice(kinds)][0](self, depth)))

    def operand(self, letter: str) -> str:
        if letter == "v" and self.vectors and self.chance.random() < 0.3:
            return self.chance.choice(self.vectors)
        return super().operand(letter)

    def leaf(self) -> Test:
        texts = CHAINS if self.chance.random() < 0.3 else ()
        return Leaf(self.filled(self.chance.choice(texts))) if texts else super().leaf()

    def asked(self) -> str:
        """The text of a condition."""
        return condition(self.test())

    def squashed(self, text: str) -> str:
        """An expression whose values stay small."""
        return f"paddle.tanh({text})" if self.is_smooth else f"paddle.clip({text}, -4.0, 4.0)"

    def name(self, word: str) -> str:
        """A name nobody has."""
        self.counted += 1
        return f"{word}{self.counted}"

    def target(self) -> str:
        return self.chance.choice(("a", "b", "c", "self.hidden", 'state["v"]'))

    def nested(self, depth: int, vectors: tuple[str, ...] = (), counter: str = "") -> list[str]:
        """A block that knows more vectors, and maybe a counter."""
        self.vectors += vectors
        self.loops += [counter] * bool(counter)
        found = indented(lines(self.block(depth - 1, 1, 2)))
        if vectors:
            del self.vectors[-len(vectors) :]
        if counter:
            self.loops.pop()
        return found

    # ---- expressions ----

    def ternary(self, depth: int) -> Iterable[str]:
        yield f"{self.target()} = {self.vector()} if {self.asked()} else {self.vector()}"

    def augmented(self, depth: int) -> Iterable[str]:
        yield f"{self.target()} {self.chance.choice('+-')}= {self.vector()}"

    def several(self, depth: int) -> Iterable[str]:
        first, second = self.chance.sample("abc", 2)
        yield self.chance.choice(
            (
                f"{first}, {second} = {self.vector()}, {self.vector()}",
                f"{first}, {second} = {second}, {first}",
                f"({first}, {second}), s = [{self.vector()}, {second}], s * 0.5",
                f"{first}, *rest = {second}, {self.vector()}, {first}",
            )
        )

    def value_of_dict(self, depth: int) -> Iterable[str]:
        yield f'state["v"] = {self.vector()}'
        yield "a = sum(v * 0.5 for v in state.values())"

    def counted_up(self, depth: int) -> Iterable[str]:
        yield f"if {self.asked()}:"
        yield "    self.count += 1"

    def attribute(self, depth: int) -> Iterable[str]:
        yield f"self.hidden = {self.vector()}"

    def buffer(self, depth: int) -> Iterable[str]:
        value = self.filled("{v}.detach() * {t}")
        yield self.chance.choice(
            (f"self.seen = self.seen + {value}", f"self.seen.set_value(self.seen + {value})")
        )
        yield f"{self.target()} = {self.squashed(self.filled('{v} + self.seen'))}"

    def layered(self, depth: int) -> Iterable[str]:
        name = self.chance.choice("abc")
        yield "for layer in self.layers:"
        yield f"    if {self.asked()}:"
        yield f"        {name} = {self.squashed(f'layer({name})')}"

    def method(self, depth: int) -> Iterable[str]:
        yield f"{self.target()} = self.mixed({self.vector()}, {self.filled('{t}')})"

    def comprehension(self, depth: int) -> Iterable[str]:
        yield self.chance.choice(
            (
                f"{self.target()} = paddle.add_n([{self.filled('v * {v}')} for v in (a, b)])",
                "b = paddle.stack([v * k for k, v in enumerate((a, b, c)) if k != 1]).sum(axis=0)",
                f"c = sum([u for u in (a, c)], {self.vector()})",
                "a = [v * t for v, t in zip((a, b), (0.5, 2.0))][1]",
            )
        )
        name = self.target()
        yield f"{name} = {self.squashed(name)}"

    def function(self, depth: int) -> Iterable[str]:
        name, written = self.name("f"), self.chance.choice("abc")
        yield f"def {name}(v, t=0.5):"
        yield f"    nonlocal {written}"
        yield f"    if {self.asked()}:"
        yield f"        {written} = {self.vector()}"
        if self.chance.random() < 0.5:
            yield "        return v * t"
        yield f"    return {self.squashed(self.filled('v * t + {v}'))}"
        yield f"{self.target()} = {name}({self.vector()})"

    def anonymous(self, depth: int) -> Iterable[str]:
        name = self.name("f")
        yield f"{name} = lambda v, t=0.5: {self.vector()} if {self.asked()} else v * t"
        yield f"{self.target()} = {name}({self.vector()})"

    def sizes(self, depth: int) -> Iterable[str]:
        yield self.chance.choice(
            (
                f"{self.target()} = {self.squashed(self.filled('{v} * y.shape[0] + {v}'))}",
                "m = paddle.reshape(paddle.reshape(m, [y.shape[0] * 3]), [-1, 3])",
                "m = paddle.concat([m, m])[: m.shape[0]]",
                "a = m[y.shape[0] - 1]",
                f"s = s * 0.5 if m.shape[0] % 2 == 0 else {self.filled('paddle.mean({v})')}",
            )
        )

    def said(self, depth: int) -> Iterable[str]:
        yield self.chance.choice(
            (
                'assert paddle.max(paddle.abs(a)) < 1e9, "too large"',
                "print(a)",
                'print("s is", s, n)',
                "assert len(y.shape) == 2",
            )
        )

    def chosen(self, depth: int) -> Iterable[str]:
        """The best of several, from none on."""
        name, values = self.name("best"), ", ".join([*"abc", self.vector()])
        yield f"{name} = None"
        yield f"for v in ({values}):"
        yield f"    if {name} is None or paddle.sum(v) > paddle.sum({name}):"
        yield f"        {name} = v"
        yield f"{self.target()} = {name} * 0.5"

    def bound(self, depth: int) -> Iterable[str]:
        """A name that is new in both branches."""
        name = self.name("u")
        yield f"if {self.asked()}:"
        yield f"    {name} = {self.vector()}"
        yield "else:"
        yield f"    {name} = {self.vector()}"
        yield f"{self.target()} = {self.squashed(name)}"

    def named(self, depth: int) -> Iterable[str]:
        name = self.name("w")
        yield f"if ({name} := {self.filled('paddle.sum({v})')}) > {self.filled('{t}')}:"
        yield f"    a = a * {self.filled('{t}')} + {name}"
        yield f"s = {self.squashed(f's + {name}')}"

    def stacked(self, depth: int) -> Iterable[str]:
        yield f"{self.target()} = {self.squashed(f'paddle.stack({LIST}).sum(axis=0)')}"

    def flag(self, depth: int) -> Iterable[str]:
        """A loop that a flag ends, which begins as one of Python."""
        done, counter = self.name("done"), self.name("k")
        yield f"{done}, {counter} = False, 0"
        yield f"while not {done}:"
        yield f"    {counter} += 1"
        yield f"    a = {self.vector()}"
        yield f"    {done} = {counter} > 2 or {self.asked()}"

    def number(self, depth: int) -> Iterable[str]:
        """A number of Python that tensors change."""
        name = self.name("j")
        yield f"{name} = {self.chance.choice(('0', '1', '0.5'))}"
        yield f"if {self.asked()}:"
        yield f"    {name} = {name} + 1"
        yield f"{self.target()} = {self.squashed(self.filled(f'{{v}} * {name}'))}"

    def place_set(self, depth: int) -> Iterable[str]:
        name = self.chance.choice("abc")
        yield f"{name} = {name} * 1.0"
        yield self.chance.choice(
            (
                f"{name}[0] = {self.filled('s * {t}')}",
                f"{name}[1:] = {self.filled('{v}[1:]')}",
                f"{name}[-1] += 0.5",
            )
        )

    def helped(self, depth: int) -> Iterable[str]:
        v, w = self.vector(), self.vector()
        yield self.chance.choice(
            (
                f"{self.target()} = folded({v}, {w}, n)",
                f"{self.target()} = folded({v}, {w}, 2, limit={self.filled('{t}')})",
                f"{self.target()} = {self.squashed(f'folded({v}, a, 1, *[b, c])')}",
                f"{self.target()} = powered({v}, 2)",
            )
        )

    def silent(self, depth: int) -> Iterable[str]:
        yield "with paddle.no_grad():"
        yield from self.nested(depth)

    def tried(self, depth: int) -> Iterable[str]:
        yield "try:"
        yield from self.nested(depth)
        yield "finally:"
        yield f"    {self.target()} = {self.vector()}"

    def matched(self, depth: int) -> Iterable[str]:
        yield "match len(self.layers):"
        yield "    case 2:"
        yield f"        {self.target()} = {self.vector()}"
        yield f"        if {self.asked()}:"
        yield f"            {self.target()} = {self.vector()}"
        yield "    case _:"
        yield "        a = b"

    def list_methods(self, depth: int) -> Iterable[str]:
        yield self.chance.choice(
            (
                f"{LIST} += [{self.vector()}]",
                f"{LIST} = {LIST} + [{self.vector()}]",
            )
        )

    def new_key(self, depth: int) -> Iterable[str]:
        name = self.name("w")
        yield f'state["{name}"] = {self.vector()}'
        yield f"if {self.asked()}:"
        yield f'    state["{name}"] = {self.vector()}'
        yield f'{self.target()} = {self.squashed(f"""state["{name}"] + state.get("v")""")}'

    def grouped(self, depth: int) -> Iterable[str]:
        """Tuples and lists of vectors that branches and rounds change."""
        name = self.name("pair")
        yield f"{name} = (a, [b, {self.vector()}])"
        yield f"if {self.asked()}:"
        yield f"    {name} = ({self.vector()}, [{self.vector()}, {name}[0]])"
        yield f"{self.target()} = {self.squashed(f'{name}[0] + {name}[1][1]')}"

    def either(self, depth: int) -> Iterable[str]:
        name, test = self.name("test"), self.asked()
        yield f"{name} = {test}"
        yield f"{name} = {name} or {self.asked()}"
        yield f"if not {name}:"
        yield f"    {self.target()} = {self.vector()}"

    # ---- loops ----

    def ranged(self, depth: int) -> Iterable[str]:
        counter = self.name("k")
        bound = self.chance.choice(("3", "n", "y.shape[0]"))
        yield f"for {counter} in paddle.arange({bound}):"
        yield from self.nested(depth, (), counter)

    def inner_function(self, depth: int) -> Iterable[str]:
        """A function with a loop that it returns from."""
        name, counter = self.name("f"), self.name("k")
        yield f"def {name}(v):"
        yield f"    for {counter} in range({self.chance.choice(('2', '3', 'n'))}):"
        yield f"        if {self.asked()}:"
        yield f"            return v * {self.filled('{t}')}"
        yield f"        v = {self.squashed(self.filled('v * {v} - v'))}"
        yield "    return v"
        yield f"{self.target()} = {name}({self.vector()})"

    def rows(self, depth: int) -> Iterable[str]:
        row = self.name("row")
        yield f"for {row} in {self.chance.choice(('y', 'm'))}:"
        yield from self.nested(depth, (row,))
        yield from self.otherwise(depth)

    def numbered_rows(self, depth: int) -> Iterable[str]:
        row, counter = self.name("row"), self.name("k")
        yield f"for {counter}, {row} in enumerate(y):"
        yield from self.nested(depth, (row,), counter)
        yield from self.otherwise(depth)

    def pairs(self, depth: int) -> Iterable[str]:
        first, second = self.name("row"), self.name("row")
        yield f"for {first}, {second} in zip(y, m):"
        yield from self.nested(depth, (first, second))

    def listed_vectors(self, depth: int) -> Iterable[str]:
        item = self.name("item")
        yield (
            f"for {item} in {LIST}[:3]:" if self.chance.random() < 0.3 else f"for {item} in {LIST}:"
        )
        name = self.target()
        yield f"    {name} = {self.squashed(f'{name} + {item}')}"
        if self.chance.random() < 0.5:
            yield f"    if {self.asked()}:"
            yield f"        {self.chance.choice(('break', 'continue'))}"
            yield f"    b = b - {item}"

    def sized(self, depth: int) -> Iterable[str]:
        counter = self.name("k")
        yield f"for {counter} in range(y.shape[0]{self.chance.choice((' - 1', ' + 1', ''))}):"
        yield from self.nested(depth, (f"y[{counter} % y.shape[0]]",), counter)

    def last(self, depth: int) -> Iterable[str]:
        """A loop of the other writer, with `else`."""
        made = self.chance.choice((self.rounds, self.repeated))(depth)
        assert isinstance(made, For | While)
        yield from lines((made,))
        yield "else:"
        yield from self.nested(depth)

    def otherwise(self, depth: int) -> Iterable[str]:
        if self.chance.random() < 0.4:
            yield "else:"
            yield from self.nested(depth)

    def endless(self, depth: int) -> Iterable[str]:
        counter = self.name("k")
        yield f"{counter} = 0"
        yield "while True:"
        yield f"    {counter} += 1"
        yield f"    if {counter} > 3 or {self.asked()}:"
        yield "        break"
        yield from self.nested(depth, (), counter)

    def returned(self, depth: int) -> Iterable[str]:
        yield f"if {self.asked()}:"
        yield f"    return {self.vector()}, b, c, d, m, s"

    # ---- what no one Program has ----

    def look(self, depth: int) -> Iterable[str]:
        """Asks for values; numbers of few digits, as Programs keep them."""
        yield self.chance.choice(
            (
                f"s = s * 0.5 + int({self.filled('paddle.sum({v})')} * 8.0) / 8",
                f"s = s * round(float({self.filled('paddle.mean({v})')})) + s",
                f"a = {self.squashed(f'paddle.to_tensor(({self.vector()}).numpy()) + a')}",
                f"b = b * (1.0 if {self.filled('{v}')}.numpy()[0] > 0.0 else 0.5)",
                f"c = c * 0.5 if ({self.filled('{v}')} > 0.0).tolist()[1] else {self.vector()}",
                f"m = m * {self.filled('{v}')}.numpy().argmax()",
                f"a = a + int({self.filled('paddle.sum({v})')}.item())",
            )
        )


STATE = ("self.hidden = b", "self.count = 0", 'state = {"v": a, "w": c}')
CHAINS = ("-0.5 < paddle.sum({v}) <= 0.5", "{t} <= {s} < paddle.sum({v})", "0 < n < 3")
Write = Callable[[PythonWriter, int], Iterable[str]]
# What writes it, whether it has blocks, whether it needs the list.
PYTHON: dict[str, tuple[Write, bool, bool]] = {
    "ternary": (PythonWriter.ternary, False, False),
    "augmented": (PythonWriter.augmented, False, False),
    "several": (PythonWriter.several, False, False),
    "dict": (PythonWriter.value_of_dict, False, False),
    "counted": (PythonWriter.counted_up, False, False),
    "attribute": (PythonWriter.attribute, False, False),
    "buffer": (PythonWriter.buffer, False, False),
    "layered": (PythonWriter.layered, False, False),
    "method": (PythonWriter.method, False, False),
    "comprehension": (PythonWriter.comprehension, False, False),
    "function": (PythonWriter.function, False, False),
    "anonymous": (PythonWriter.anonymous, False, False),
    "sizes": (PythonWriter.sizes, False, False),
    "said": (PythonWriter.said, False, False),
    "chosen": (PythonWriter.chosen, False, False),
    "bound": (PythonWriter.bound, False, False),
    "named": (PythonWriter.named, False, False),
    "stacked": (PythonWriter.stacked, False, True),
    "listed": (PythonWriter.listed_vectors, False, True),
    "rows": (PythonWriter.rows, True, False),
    "numbered": (PythonWriter.numbered_rows, True, False),
    "pairs": (PythonWriter.pairs, True, False),
    "sized": (PythonWriter.sized, True, False),
    "last": (PythonWriter.last, True, False),
    "endless": (PythonWriter.endless, True, False),
    "returned": (PythonWriter.returned, False, False),
    "flag": (PythonWriter.flag, False, False),
    "number": (PythonWriter.number, False, False),
    "place": (PythonWriter.place_set, False, False),
    "helped": (PythonWriter.helped, False, False),
    "silent": (PythonWriter.silent, True, False),
    "tried": (PythonWriter.tried, True, False),
    "matched": (PythonWriter.matched, False, False),
    "list methods": (PythonWriter.list_methods, False, True),
    "new key": (PythonWriter.new_key, False, False),
    "grouped": (PythonWriter.grouped, False, False),
    "either": (PythonWriter.either, False, False),
    "ranged": (PythonWriter.ranged, True, False),
    "inner function": (PythonWriter.inner_function, False, False),
}


def text_of(seed: int, formulas: Formulas = SMOOTH, looks: bool = False) -> str:
    """The random Layer of a number."""
    return PythonWriter(random.Random(seed), formulas, looks=looks).text()
