"""The stages that are in no group yet, and what they wait for."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from scull.compiler.stage import Stage, nbytes
from scull.compiler.trace import Strip
from scull.lang.expression import Array

MUCH = 1 << 16  # bytes


class Queue:
    """Stages in their order, by number; arrays that are to lie `over` others."""

    def __init__(self, stages: Sequence[Stage], over: Mapping[Array, Array]) -> None:
        self.left, self.over = dict(enumerate(stages)), over
        self.number = {id(s): n for n, s in self.left.items()}
        self.reading: dict[Array, list[int]] = {}
        for n, stage in self.left.items():
            for array in stage.reads:
                self.reading.setdefault(array, []).append(n)
        self.made = {x for s in stages for x in s.arrays}
        maker = {x: n for n, s in self.left.items() for x in s.arrays}
        self.unmade = {  # by stages that make something which one reads
            n: {maker[x] for x in s.reads if x in maker} - {n} for n, s in self.left.items()
        }
        self.strips: dict[Strip, list[int]] = {}
        for n, stage in self.left.items():
            if stage.strip is not None:
                self.strips.setdefault(stage.strip, []).append(n)
        self.waiting = Counter(x for s in stages for x in s.reads)  # how many are left to read it

    def take(self, stage: Stage) -> None:
        """A stage is in a group now."""
        number = self.number[id(stage)]
        del self.left[number]
        self.waiting.subtract(stage.reads)
        for array in stage.arrays:
            for reader in self.reading.get(array, ()):
                self.unmade[reader].discard(number)

    def next(self) -> Stage:
        """The first that may run, of those that are neither too early nor long before their use.

        One that leaves much less memory taken than before comes at once. Strips are begun when all
        of them may run.
        """
        can = [s for n, s in self.left.items() if not self.unmade[n]]
        can = [s for s in can if self.whole(s)] or can
        frees = (s for s in can if self.freed(s) > MUCH and self.fits(s))
        return next(frees, None) or next(filter(self.fits, can), can[0])

    def fits(self, stage: Stage) -> bool:
        """Whether it is neither too early nor long before its use."""
        return bool(stage.strip or not self.waits(stage)) and not self.too_early(stage)

    def freed(self, stage: Stage) -> int:
        """By how many bytes there is less when it has run: what nobody else reads any more goes."""
        gone = sum(nbytes(x) for x in stage.reads if x in self.made and self.waiting[x] == 1)
        return gone - sum(map(nbytes, stage.arrays))

    def whole(self, stage: Stage) -> bool:
        """Whether the stages of its strips, if it has any, wait for one another alone."""
        strip = stage.strip
        makers = {m for n in self.strips[strip] for m in self.unmade[n]} if strip else ()
        return all(self.left[n].strip is strip for n in makers)

    def of(self, strip: Strip) -> list[Stage]:
        """The stages left of strips."""
        return [self.left[n] for n in self.strips[strip] if n in self.left]

    def missing(self, stage: Stage) -> list[Stage]:
        """The stages left that make what a stage reads."""
        return [self.left[n] for n in sorted(self.unmade[self.number[id(stage)]])]

    def readers(self, stage: Stage) -> list[Stage]:
        """The stages left that read what a stage makes."""
        found = {n for x in stage.arrays for n in self.reading.get(x, ()) if n in self.left}
        return [self.left[n] for n in sorted(found)]

    def near(self, made: Collection[Array]) -> list[Stage]:
        """The stages left that read any of these arrays, and those that such ones wait for."""
        found = {n for x in made for n in self.reading.get(x, ()) if n in self.left}
        wanted = {maker for n in found for maker in self.unmade[n]}
        return [self.left[n] for n in sorted(found | wanted)]

    def waits(self, stage: Stage) -> bool:
        """Whether what it makes is more than what it reads, and nobody needs it before long."""
        made, read = sum(map(nbytes, stage.arrays)), sum(map(nbytes, stage.reads))
        own, readers = self.number[id(stage)], self.readers(stage)
        if made <= read or not readers:
            return False
        others = ((r, self.unmade[self.number[id(r)]] - {own}) for r in readers)
        return all(any(map(self.unmade.get, n)) or self.waits(r) for r, n in others)

    def too_early(self, stage: Stage) -> bool:
        """Whether another stage still reads what this one is to lie over."""
        over, waiting = self.over, self.waiting
        return any(waiting[over[x]] > (over[x] in stage.reads) for x in stage.arrays if x in over)
