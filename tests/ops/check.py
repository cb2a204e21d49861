"""Every check of an operator: `python -m tests.ops.check relu` runs them all and prints a table.

In a test run each is one test an operator: `make test` takes one case of each kind of it,
`--sweep` or `SCULL_SWEEP=1` all of them, and float32 ones in the other floating-point types too.
"""

import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scull.core.op import op_of
from tests.ops import derivative, lowering, native, program, value
from tests.ops.case import Case, cases


@dataclass(frozen=True)
class Check:
    """What must hold of every case for which `applies`."""

    law: Callable[[Case], None]
    applies: Callable[[Case], bool]

    def run(self, case: Case) -> None:
        """Raise AssertionError, or whatever went wrong, if it does not hold of `case`."""
        with np.errstate(all="ignore"):
            self.law(case)


CHECKS = {
    "reference": Check(value.check_reference, value.has_reference),
    "meta": Check(value.check_meta, value.succeeds),
    "unknown sizes": Check(value.check_unknown_sizes, value.has_type_rule_without_sizes),
    "out": Check(value.check_out, value.has_kernel),
    "aliases": Check(value.check_aliases, value.has_own_kernel),
    "body": Check(value.check_body, value.has_body_beside_kernel),
    "gradient": Check(derivative.check_gradient, derivative.differentiable),
    "second order": Check(derivative.check_second_order, derivative.twice_differentiable),
    "gradient operator": Check(derivative.check_gradient_operator, derivative.differentiable),
    "rule beside body": Check(derivative.check_rule_beside_body, derivative.has_rule_beside_body),
    "lowering": Check(lowering.check_lowering, lowering.lowered),
    "machine code": Check(lowering.check_machine_code, lowering.compiled),
    "program as code": Check(native.check_program_as_code, native.compiled),
    "program": Check(program.check_program, program.recordable),
    "program gradient": Check(program.check_program_gradient, program.has_program_gradient),
    "program second order": Check(
        program.check_program_second_order, program.has_second_program_gradient
    ),
    "refused": Check(value.check_refused, value.fails),
    "refused by type": Check(value.check_refused_by_type, value.refused_by_type),
    "refused as code": Check(native.check_refused_as_code, native.refused_as_code),
    "refused when recorded": Check(
        program.check_refused_when_recorded, program.refused_when_recorded
    ),
}


def report(name: str, sweep: bool = True) -> bool:
    """Run all checks of operator `name`; print a table and what failed; say whether all hold."""
    found = cases(op_of(name), sweep)
    failures = []
    print(f"{name}: {len(found)} cases")
    for title, check in CHECKS.items():
        count = good = 0
        for case in found:
            try:
                if not check.applies(case):
                    continue
                count += 1
                check.run(case)
                good += 1
            except Exception:
                failures.append(
                    f"\n{title}, {case} {case.sample}\n{traceback.format_exc(limit=-4)}"
                )
        print(f"  {title:<20}{good:>4} of {count}")
    print(*failures, sep="\n")
    return not failures


if __name__ == "__main__":
    sys.exit(not all([report(name) for name in sys.argv[1:]]))
