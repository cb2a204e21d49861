"""The Programs of one function, and a word to its user when they become many."""

import warnings
from dataclasses import dataclass
from typing import Any

from scull.jit.concrete import ConcreteProgram
from scull.jit.convert.run.raising import Raising
from scull.jit.piece import Piece
from scull.jit.signature import Signature

MANY = 8  # Programs of one function, from which on it is told what asks for them
MOST_PROGRAMS = 256  # that are kept of one function


@dataclass(frozen=True)
class Statistics:
    """What the caches of a function made static did so far.

    Args:
        calls (int): that were made, those of a function that was being recorded apart.
        recorded (int): Programs that were recorded.
        kept (int): of them are there.
        stale (int): fitted no more, since something that they depend on changed.
        dropped (int): were the oldest of too many.
        converted (int): functions of this process whose converted form is kept.
    """

    calls: int
    recorded: int
    kept: int
    stale: int
    dropped: int
    converted: int

    def __str__(self) -> str:
        return (
            f"{self.calls} calls, {self.recorded} Programs recorded: {self.kept} kept, "
            f"{self.stale} stale, {self.dropped} dropped; {self.converted} functions converted"
        )


class ProgramCache:
    """The Programs of one function, by what they depend on."""

    def __init__(self) -> None:
        self.programs: dict[Any, tuple[ConcreteProgram, Piece]] = {}
        self.recorded = self.stale = self.dropped = 0
        self.warned = False

    def __len__(self) -> int:
        return len(self.programs)

    def found(self, key: Any) -> tuple[ConcreteProgram, Piece] | None:
        """The Program of `key`."""
        return self.programs.get(key)

    def put(
        self, key: Any, concrete: ConcreteProgram, piece: Piece
    ) -> tuple[ConcreteProgram, Piece]:
        """Keep a Program; of too many the oldest goes."""
        if len(self.programs) >= MOST_PROGRAMS:
            del self.programs[next(iter(self.programs))]
            self.dropped += 1
        self.recorded += 1
        self.programs[key] = concrete, piece
        return concrete, piece

    def forget(self, concrete: ConcreteProgram) -> None:
        """Drop a Program that fits no more."""
        for key in [k for k, v in self.programs.items() if v[0] is concrete]:
            del self.programs[key]
            self.stale += 1

    def raises(self) -> list[Raising]:
        """What the user's own code raises in runs."""
        return [r for concrete, _ in self.programs.values() for r in concrete.captured.raises]

    def concrete_programs(self) -> list[ConcreteProgram]:
        return [concrete for concrete, _ in self.programs.values()]

    def last(self) -> Any:
        """The key of the Program recorded last, the Program and how it runs; None without one."""
        return next(reversed(self.programs.items()), None)

    def warn_of_many(self, name: str, signature: Signature) -> None:
        """Say which argument asks for ever more Programs."""
        if len(self.programs) < MANY or self.warned:
            return
        self.warned = True
        columns = zip(*[key[0][1:] for key in self.programs], strict=False)
        counts = [len(set(column)) for column in columns]
        if not counts or max(counts) == 1:
            return
        at = counts.index(max(counts))
        warnings.warn(
            f"`{name}` was recorded {len(self.programs)} times: its argument "
            f"`{signature.name_of(at)}` came in {counts[at]} forms. Say by input_spec which sizes "
            "vary (None), or pass numbers that vary as tensors",
            stacklevel=6,
        )
