"""The text of one LLVM function: values are named once, loops have phis."""

from collections.abc import Callable, Sequence

Carried = Sequence[tuple[str, str]]
HIDDEN = 'call i64 asm "", "=r,0"(i64 {})'  # the same number by no instruction


class Function:
    """Text that grows at the end; `block` is the label of the block being written."""

    def __init__(self, head: str) -> None:
        self.lines = [head, "entry:"]
        self.rooms: dict[str, str] = {}  # memory of its own by type, taken at the entry
        self.entering: list[str] = []  # instructions at the entry, behind that
        self.leaving: list[str] = []  # instructions before it returns
        self.has_half = True  # whether the machine converts float16
        self.has_pairs = False  # whether it adds products of pairs of bfloat16
        self.permuted: tuple[int, ...] = ()  # how many float32 it permutes by one instruction
        self.has_scale = False  # whether it multiplies vectors of 512 bits by powers of 2
        self.block = "entry"
        self._count = 0

    def fresh(self, letter: str = "v") -> str:
        """A name not used before."""
        self._count += 1
        return f"{letter}{self._count}"

    def value(self, instruction: str) -> str:
        """The name of the result of an instruction."""
        name = "%" + self.fresh()
        self.lines.append(f"  {name} = {instruction}")
        return name

    def room(self, kind: str) -> str:
        """The address of memory for one value, which the next of its type lies over."""
        if kind not in self.rooms:
            self.rooms[kind] = "%" + self.fresh("r")
        return self.rooms[kind]

    def act(self, instruction: str) -> None:
        """An instruction without a result."""
        self.lines.append("  " + instruction)

    def start(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block = label

    def loop(
        self,
        count: int | str,
        carried: Carried,
        body: Callable[[str, list[str]], Sequence[str]],
        *,
        step: int = 1,
        start: str = "0",
    ) -> list[str]:
        """A loop over `start`, `start` + `step` .. below count, of which there must be one.

        `carried` has types and first values that change. The body gets the position and the values
        so far, and returns the new ones; the last are the result. Where nothing is carried, LLVM
        does not see that the position counts: its search for cheaper addresses takes a fifth of
        its time, and finds none where each round is much work or moves memory.
        """
        assert not isinstance(count, int) or count > 0
        before, header, after = self.block, self.fresh("loop"), self.fresh("done")
        position, phis = "%" + self.fresh("i"), ["%" + self.fresh("p") for _ in carried]
        self.act(f"br label %{header}")
        self.start(header)
        place = len(self.lines)
        seen = position if carried else self.value(HIDDEN.format(position))
        results = list(body(seen, phis))
        following = self.value(f"add nuw nsw i64 {seen}, {step}")
        again = self.value(f"icmp ult i64 {following}, {count}")
        last = self.block
        self.act(f"br i1 {again}, label %{header}, label %{after}")
        heads = [f"  {position} = phi i64 [{start}, %{before}], [{following}, %{last}]"]
        for (kind, first), phi, result in zip(carried, phis, results, strict=True):
            heads.append(f"  {phi} = phi {kind} [{first}, %{before}], [{result}, %{last}]")
        self.lines[place:place] = heads
        self.start(after)
        return results

    def loop_if_any(
        self,
        first: str,
        end: str,
        carried: Carried,
        body: Callable[[str, list[str]], Sequence[str]],
        *,
        step: int = 1,
    ) -> list[str]:
        """A loop over `first`, `first` + `step` .. below `end`, which may be none."""
        then, after, before = self.fresh("then"), self.fresh("after"), self.block
        some = self.value(f"icmp slt i64 {first}, {end}")
        self.act(f"br i1 {some}, label %{then}, label %{after}")
        self.start(then)
        results, last = self.loop(end, carried, body, step=step, start=first), self.block
        self.act(f"br label %{after}")
        self.start(after)
        return [
            self.value(f"phi {kind} [{start}, %{before}], [{result}, %{last}]")
            for (kind, start), result in zip(carried, results, strict=True)
        ]

    def choose(
        self,
        condition: str,
        kind: str,
        first: Callable[[], str],
        second: Callable[[], str],
    ) -> str:
        """The value of one of two branches."""
        then, other, after = self.fresh("then"), self.fresh("else"), self.fresh("after")
        self.act(f"br i1 {condition}, label %{then}, label %{other}")
        ends = []
        for label, branch in ((then, first), (other, second)):
            self.start(label)
            ends.append((branch(), self.block))
            self.act(f"br label %{after}")
        self.start(after)
        incoming = ", ".join(f"[{value}, %{block}]" for value, block in ends)
        return self.value(f"phi {kind} {incoming}")

    def when(self, condition: str, branch: Callable[[], object]) -> None:
        """A branch taken only if the condition holds."""
        then, after = self.fresh("then"), self.fresh("after")
        self.act(f"br i1 {condition}, label %{then}, label %{after}")
        self.start(then)
        branch()
        self.act(f"br label %{after}")
        self.start(after)

    def text(self) -> str:
        """The whole function."""
        rooms = [f"  {name} = alloca {kind}, align 64" for kind, name in self.rooms.items()]
        first, last = (["  " + x for x in lines] for lines in (self.entering, self.leaving))
        return "\n".join(
            [*self.lines[:2], *rooms, *first, *self.lines[2:], *last, "  ret void", "}", ""]
        )
