"""Every operator is tried over its samples.

One case of each kind, or all of them (`--sweep`, `SCULL_SWEEP=1`), and then those in float32
in the other floating-point types too. `python -m tests.ops.check relu` does that for one operator.
"""

import os
from functools import cache

import numpy as np
import pytest

from scull.core.op import Op
from scull.runtime import llvm
from tests.ops import slot
from tests.ops.case import Case, cases, declared, operators
from tests.ops.check import CHECKS
from tests.ops.lowering import check_machine_code
from tests.ops.sample import SAMPLES
from tests.ops.value import has_body_beside_kernel, has_reference

every_operator = pytest.mark.parametrize("op", operators(), ids=lambda op: op.name)


@cache
def all_cases(sweep: bool) -> list[Case]:
    """The cases of every operator."""
    return [case for op in operators() for case in cases(op, sweep)]


def pytest_generate_tests(metafunc):
    if "case" in metafunc.fixturenames:
        sweep = metafunc.config.getoption("sweep") or bool(os.environ.get("SCULL_SWEEP"))
        found = filter(CHECKS[metafunc.function.check].applies, all_cases(sweep))
        metafunc.parametrize("case", list(found), ids=str)


def checks(title: str):
    """The test runs the check of this title on every case it applies to."""

    def mark(function):
        function.check = title
        return function

    return mark


@checks("reference")
def test_a_kernel_gives_what_its_reference_gives(case):
    CHECKS["reference"].run(case)


@checks("meta")
def test_a_type_rule_infers_shapes_and_dtypes(case):
    CHECKS["meta"].run(case)


@checks("unknown sizes")
def test_a_type_rule_knows_what_it_can_without_a_size(case):
    CHECKS["unknown sizes"].run(case)


@checks("out")
def test_a_kernel_gives_the_same_when_it_is_given_memory(case):
    CHECKS["out"].run(case)


@checks("aliases")
def test_only_declared_results_lie_in_the_memory_of_inputs(case):
    CHECKS["aliases"].run(case)


@checks("body")
def test_a_kernel_gives_what_the_body_beside_it_gives(case):
    CHECKS["body"].run(case)


@checks("gradient")
def test_a_gradient_is_what_small_steps_show(case):
    CHECKS["gradient"].run(case)


@checks("second order")
def test_a_second_gradient_is_what_small_steps_show(case):
    CHECKS["second order"].run(case)


@checks("gradient operator")
def test_the_derived_operator_gives_what_the_tape_gives(case):
    CHECKS["gradient operator"].run(case)


@checks("rule beside body")
def test_a_rule_gives_what_the_tape_of_the_body_gives(case):
    CHECKS["rule beside body"].run(case)


@checks("lowering")
def test_a_lowering_gives_what_the_kernel_gives(case):
    CHECKS["lowering"].run(case)


@checks("machine code")
def test_machine_code_has_the_bits_of_the_emulator(case, request):
    levels = llvm.levels()
    if not request.config.getoption("sweep"):  # samples take turns
        levels = (levels[case.number % len(levels)],)
    for level in levels:
        with np.errstate(all="ignore"):
            check_machine_code(case, level)


@checks("program as code")
def test_a_program_and_its_gradient_give_the_same_as_machine_code(case):
    CHECKS["program as code"].run(case)


@checks("program")
def test_a_program_has_the_bits_of_eager_mode(case):
    CHECKS["program"].run(case)


@checks("program gradient")
def test_gradients_in_a_program_have_the_bits_of_the_tape(case):
    CHECKS["program gradient"].run(case)


@checks("program second order")
def test_second_gradients_in_a_program_are_those_of_the_tape(case):
    CHECKS["program second order"].run(case)


@checks("refused")
def test_a_mistake_is_refused_with_its_law(case):
    CHECKS["refused"].run(case)


@checks("refused as code")
def test_machine_code_refuses_what_kernels_refuse(case):
    CHECKS["refused as code"].run(case)


@checks("refused by type")
def test_a_type_rule_alone_refuses_a_mistake(case):
    CHECKS["refused by type"].run(case)


@checks("refused when recorded")
def test_a_mistake_is_refused_when_it_is_recorded(case):
    CHECKS["refused when recorded"].run(case)


@pytest.mark.parametrize("op", declared(), ids=lambda op: op.name)
def test_slots_and_attributes_are_those_of_the_reference(op: Op):
    slot.check_slots(op)


def test_deviations_are_of_operators_that_exist():
    assert set(slot.DEVIATIONS) <= {op.type for op in declared()}


@every_operator
def test_an_operator_has_samples(op: Op):
    assert any(not case.sample.error for case in cases(op, sweep=False))


def test_samples_are_of_operators_that_exist():
    assert set(SAMPLES) <= {op.name for op in operators()}


@every_operator
def test_an_operator_is_judged_by_something_else_than_itself(op: Op):
    assert any(has_reference(c) or has_body_beside_kernel(c) for c in cases(op, sweep=True)) or (
        op.composite and not op.kernels
    )


@every_operator
def test_an_operator_has_each_rule_or_the_reason_why_not(op: Op):
    assert op.kernels or op.composite or op.missing.get("kernel")
    assert op.rules or op.composite or op.missing.get("grad")
    assert op.lowering or op.composite or op.missing.get("lower")
    assert not (op.rules and op.missing.get("grad")) and not (
        op.lowering and op.missing.get("lower")
    )
