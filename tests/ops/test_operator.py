"""Every operator is tried over its samples.

A test is a law of one operator, tried on one case of each kind, or on all of them (`--sweep`,
`SCULL_SWEEP=1`), and then on those in float32 in the other floating-point types too.
`python -m tests.ops.check relu` does that for one operator.
"""

import os
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from scull.core.op import Op
from scull.runtime import llvm
from tests.ops import slot
from tests.ops.case import Case, cases, declared, operators
from tests.ops.check import CHECKS
from tests.ops.conftest import CASES
from tests.ops.lowering import check_machine_code
from tests.ops.sample import SAMPLES
from tests.ops.value import has_body_beside_kernel, has_reference

every_operator = pytest.mark.parametrize("op", operators(), ids=lambda op: op.name)


@cache
def all_cases(sweep: bool) -> list[list[Case]]:
    """The cases of every operator."""
    return [list(cases(op, sweep)) for op in operators()]


def pytest_generate_tests(metafunc):
    if "trials" in metafunc.fixturenames:
        sweep = metafunc.config.getoption("sweep") or bool(os.environ.get("SCULL_SWEEP"))
        applies = CHECKS[metafunc.function.check].applies
        found = [[case for case in each if applies(case)] for each in all_cases(sweep)]
        found = [each for each in found if each]
        metafunc.parametrize("trials", found, ids=[each[0].op.name for each in found])


def checks(title: str):
    """The test runs the check of this title on every case of an operator it applies to."""

    def mark(function):
        function.check = title
        return function

    return mark


@pytest.fixture
def tried(request, trials) -> Callable[[Callable[[Case], None]], None]:
    """Try a law on all cases of an operator; those that fail are told together, by name."""
    request.node.user_properties.append((CASES, len(trials)))

    def each(law: Callable[[Case], None]) -> None:
        errors = []
        for case in trials:
            try:
                law(case)
            except Exception as error:
                error.add_note(f"in {case}: {case.sample}")
                errors.append(error)
        if errors:
            raise ExceptionGroup(f"{len(errors)} of {len(trials)} cases", errors)

    return each


@checks("reference")
def test_a_kernel_gives_what_its_reference_gives(tried):
    tried(CHECKS["reference"].run)


@checks("meta")
def test_a_type_rule_infers_shapes_and_dtypes(tried):
    tried(CHECKS["meta"].run)


@checks("unknown sizes")
def test_a_type_rule_knows_what_it_can_without_a_size(tried):
    tried(CHECKS["unknown sizes"].run)


@checks("out")
def test_a_kernel_gives_the_same_when_it_is_given_memory(tried):
    tried(CHECKS["out"].run)


@checks("aliases")
def test_only_declared_results_lie_in_the_memory_of_inputs(tried):
    tried(CHECKS["aliases"].run)


@checks("body")
def test_a_kernel_gives_what_the_body_beside_it_gives(tried):
    tried(CHECKS["body"].run)


@checks("gradient")
def test_a_gradient_is_what_small_steps_show(tried):
    tried(CHECKS["gradient"].run)


@checks("second order")
def test_a_second_gradient_is_what_small_steps_show(tried):
    tried(CHECKS["second order"].run)


@checks("gradient operator")
def test_the_derived_operator_gives_what_the_tape_gives(tried):
    tried(CHECKS["gradient operator"].run)


@checks("rule beside body")
def test_a_rule_gives_what_the_tape_of_the_body_gives(tried):
    tried(CHECKS["rule beside body"].run)


@checks("lowering")
def test_a_lowering_gives_what_the_kernel_gives(tried):
    tried(CHECKS["lowering"].run)


@checks("machine code")
def test_machine_code_has_the_bits_of_the_emulator(tried, request):
    levels = llvm.levels()

    def law(case: Case) -> None:
        some = levels
        if not request.config.getoption("sweep"):  # samples take turns
            some = (levels[case.number % len(levels)],)
        for level in some:
            with np.errstate(all="ignore"):
                check_machine_code(case, level)

    tried(law)


@checks("program as code")
def test_a_program_and_its_gradient_give_the_same_as_machine_code(tried):
    tried(CHECKS["program as code"].run)


@checks("program")
def test_a_program_has_the_bits_of_eager_mode(tried):
    tried(CHECKS["program"].run)


@checks("program gradient")
def test_gradients_in_a_program_have_the_bits_of_the_tape(tried):
    tried(CHECKS["program gradient"].run)


@checks("program second order")
def test_second_gradients_in_a_program_are_those_of_the_tape(tried):
    tried(CHECKS["program second order"].run)


@checks("refused")
def test_a_mistake_is_refused_with_its_law(tried):
    tried(CHECKS["refused"].run)


@checks("refused as code")
def test_machine_code_refuses_what_kernels_refuse(tried):
    tried(CHECKS["refused as code"].run)


@checks("refused by type")
def test_a_type_rule_alone_refuses_a_mistake(tried):
    tried(CHECKS["refused by type"].run)


@checks("refused when recorded")
def test_a_mistake_is_refused_when_it_is_recorded(tried):
    tried(CHECKS["refused when recorded"].run)


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
