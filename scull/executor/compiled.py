"""Plans whose instructions run as machine code: regions of operators become one function each.

A function is made for the sizes a run begins with; another run with other sizes makes one more, up
to a bound.
"""

import sys
import warnings
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from scull.compiler.decision import Decision, observed
from scull.compiler.flow import leaves
from scull.compiler.native import Native, native_of
from scull.core.op import meta_of
from scull.executor.call import Call, Part, Row, row_of
from scull.executor.division import Division, Piece, Region
from scull.executor.instruction import whole
from scull.executor.keeping import Keeping
from scull.executor.listed import list_of
from scull.executor.outline import keep, name_of, outlined
from scull.flags import flag

if TYPE_CHECKING:
    from scull.executor.plan import Plan


class Specialised:
    """The steps of a plan for one set of sizes.

    `reasons` tell, by the number of a step, why it stays an instruction. They are made `anew` for
    those who want to see how.
    """

    def __init__(
        self,
        plan: "Plan",
        metas: dict[int, Any],
        *,
        threads: int = 0,
        fixed: Collection[int] = (),
        anew: bool = False,
    ) -> None:
        self.plan, self.begun, self.anew = plan, metas, anew
        self.fixed = frozenset(fixed)  # slots whose values are the same in every run
        self.threads = threads  # that share a kernel at most; 0: as many as the pool has
        self.reasons: dict[int, str] = {}
        self.made: list[tuple[Part, Region, tuple[Decision, ...]]] = []
        self.failed = False  # code of a region could not be made

    @cached_property
    def name(self) -> bytes | None:
        """What its outline is kept under on the disk; None where it is kept nowhere."""
        anew = self.anew or flag("DEBUG") >= 3
        return None if anew else name_of(self.plan, self.begun, self.fixed)

    def steps(self) -> tuple[Row, ...]:
        """The steps, regions in the place of what they compute."""
        found = self.recalled()
        return self._thought() if found is None else found

    def recalled(self) -> tuple[Row, ...] | None:
        """The steps as they were made before, of code that is on the disk; None if they are not."""
        if self.name is None:
            return None
        parts = outlined(self.name, self._thought_again)
        return None if parts is None else self._rows(parts)

    def _thought_again(self) -> tuple[Native, ...]:
        """The code of all regions, for somebody who asks what it is made of."""
        made = Specialised(self.plan, self.begun, fixed=self.fixed, anew=True)
        made.steps()
        return tuple(part.native for part, _, _ in made.made)

    def _thought(self) -> tuple[Row, ...]:
        division = Division(self.plan, self.begun)
        self.reasons = division.reasons
        if flag("DEBUG") >= 5:
            for number, reason in self.reasons.items():
                print(f"{self.plan.steps[number].operator.type}: {reason}", file=sys.stderr)
        parts: list[int | Part] = []
        for part in division.parts:
            parts.extend([part] if isinstance(part, int) else self._compiled(part))
        if self.name is not None and not self.failed:
            keep(self.name, parts)
        return self._rows(parts)

    def _compiled(self, piece: Piece) -> Sequence[int | Part]:
        """A region as machine code; its instructions where that cannot be made."""
        with observed() as decisions:
            part = part_of(self.plan, piece, self.fixed, anew=self.anew)
        if part is None:
            self.failed = True
            return piece.region.numbers
        self.made.append((part, piece.region, decisions()))
        return [part]

    def _rows(self, parts: Iterable[int | Part]) -> tuple[Row, ...]:
        """Steps and regions as the loop takes them."""
        rows: list[Row] = []
        for part in parts:
            if isinstance(part, int):
                rows.append(row_of(self.plan, part))
                continue
            part.native.table[-1] = self.threads
            call = Call(self.plan, part)
            rows.append((call, whole, slice(0, 0), part.frees))
        return tuple(rows)


def part_of(
    plan: "Plan", piece: Piece, fixed: Collection[int], *, anew: bool = False
) -> Part | None:
    """The machine code of a region; None, and a warning, where it cannot be made."""
    region = piece.region
    arrays = {region.given[s].array for s in fixed if s in region.given}
    try:
        native = native_of(
            region.tracer.statements,
            piece.inputs,
            piece.outputs,
            piece.old,
            fixed=arrays,
            anew=anew,
        )
    except Exception as error:
        kinds = ", ".join(dict.fromkeys(s.origin for s in leaves(region.tracer.statements)))
        warnings.warn(f"{kinds}: no machine code, {type(error).__name__}: {error}", stacklevel=2)
        return None
    slots = piece.slots
    frees = {slot for number in region.numbers for slot in row_of(plan, number)[3]}
    return Part(
        native,
        tuple(region.numbers),
        tuple(slots[array] for array in native.inputs),
        piece.results,
        frozenset(region.over),
        piece.items,
        piece.heights,
        tuple(sorted(frees - piece.leaving)),
        piece.takes,
        piece.doubts,
        piece.keeps,
    )


def sizes_of(frame: list[Any]) -> dict[int, Any]:
    """What is known of the values that a run begins with, by slot: metas of arrays, other forms."""
    found = {slot: meta_of(x) for slot, x in enumerate(frame) if type(x) is np.ndarray}
    forms = {slot: form_at(x) for slot, x in enumerate(frame) if type(x) in (Keeping, list)}
    return found | {slot: form for slot, form in forms.items() if form is not None}


def form_at(value: Any) -> Any:
    """What is known of a value that is no array; None for nothing."""
    if type(value) is list:
        return list_of(value)
    return value.form if type(value) is Keeping else None
