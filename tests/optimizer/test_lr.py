"""Learning-rate schedulers follow the reference to the last bit, and the laws of their formulas."""

import ast
import builtins
import contextlib
import copy
import doctest
import importlib
import io
import json
import math
import pkgutil
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scull.errors
from scull.optimizer import lr

FACTS = json.loads((Path(__file__).parent.parent / "data/reference/lr.json").read_text())
FUNCTIONS = {
    "power": lambda epoch: 0.95**epoch,
    "inverse": lambda epoch: 1.0 / (1 + epoch),
    "sine": lambda x: 0.5 * (1 + math.sin(x * math.pi / 2.0)),
}
RATES = st.floats(1e-6, 10.0)


def built(value):
    if isinstance(value, dict):
        return FUNCTIONS[value["function"]] if "function" in value else make(*value["scheduler"])
    return value


def make(kind, arguments):
    return getattr(lr, kind)(**{name: built(value) for name, value in arguments.items()})


def rates_of(scheduler, steps=60):
    rates = []
    for _ in range(steps):
        rates.append(scheduler())
        scheduler.step()
    return rates


def label(case):
    return f"{case['kind']}-{'-'.join(map(str, case['arguments'].values()))}"[:60]


every_scheduler = pytest.mark.parametrize("case", FACTS["schedulers"], ids=label)
every_plateau = pytest.mark.parametrize(
    "case", FACTS["plateaus"], ids=lambda c: str(c["arguments"])
)


@every_scheduler
def test_sixty_steps_give_the_rates_of_the_reference(case):
    assert rates_of(make(case["kind"], case["arguments"])) == case["rates"]


@every_scheduler
def test_jumps_give_the_rates_and_the_lines_of_the_reference(case):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        scheduler = make(case["kind"], {**case["arguments"], "verbose": True})
        rates = []
        for epoch in FACTS["jump_epochs"]:
            scheduler.step(epoch) if epoch is not None else scheduler.step()
            rates.append(scheduler())
    assert rates == case["jumps"]
    assert printed.getvalue() == case["printed"]


@every_scheduler
def test_the_state_in_the_middle_is_that_of_the_reference(case):
    scheduler = make(case["kind"], case["arguments"])
    rates_of(scheduler, 30)
    assert scheduler.state_dict() == case["state"]


@every_scheduler
def test_a_scheduler_restored_in_the_middle_goes_on_as_if_never_stopped(case):
    scheduler = make(case["kind"], case["arguments"])
    scheduler.set_state_dict(case["state"])
    assert rates_of(scheduler, 30) == case["rates"][30:]


@every_scheduler
def test_set_dict_restores_what_set_state_dict_does(case):
    scheduler = make(case["kind"], case["arguments"])
    scheduler.set_dict(copy.deepcopy(case["state"]))
    assert scheduler.state_dict() == case["state"]


@every_scheduler
def test_a_copy_goes_on_by_itself(case):
    scheduler = make(case["kind"], case["arguments"])
    rates_of(scheduler, 30)
    other = copy.deepcopy(scheduler)
    assert rates_of(scheduler, 30) == rates_of(other, 30) == case["rates"][30:]


@every_plateau
def test_a_plateau_is_seen_where_the_reference_sees_it(case):
    printed, rates = io.StringIO(), []
    with contextlib.redirect_stdout(printed):
        scheduler = make("ReduceOnPlateau", {**case["arguments"], "verbose": True})
        for metric in case["metrics"]:
            scheduler.step(metric)
            rates.append(scheduler())
    assert rates == case["rates"]
    assert scheduler.state_dict() == case["state"]
    assert printed.getvalue() == case["printed"]


@every_plateau
def test_a_restored_plateau_scheduler_goes_on_as_if_never_stopped(case):
    first, second = (make("ReduceOnPlateau", case["arguments"]) for _ in range(2))
    for metric in case["metrics"][:25]:
        first.step(metric)
    second.set_state_dict(first.state_dict())
    for metric, rate in zip(case["metrics"][25:], case["rates"][25:], strict=True):
        second.step(metric)
        assert second() == rate


@pytest.mark.parametrize("kind", [np.array, np.float32, np.float64, lambda x: np.array([x])])
def test_arrays_and_numpy_scalars_are_metrics(kind):
    scheduler = lr.ReduceOnPlateau(1.0, factor=0.5, patience=1)
    for metric in [3.0, 2.0, 2.0, 2.0]:
        scheduler.step(kind(metric))
    assert scheduler() == 0.5


@pytest.mark.parametrize("case", FACTS["refused"], ids=label)
def test_wrong_arguments_are_refused_in_the_words_of_the_reference(case):
    with pytest.raises(getattr(builtins, case["error"])) as caught:
        make(case["kind"], case["arguments"])
    assert str(caught.value) == (case["message"] or "LRScheduler says no rate: it has no `get_lr`")


@pytest.mark.parametrize("case", FACTS["refused_metrics"], ids=lambda c: str(c["value"]))
def test_metrics_that_are_no_number_are_refused(case):
    value = case["value"] if case["value"] != [1.0, 1.0] else np.ones(2)
    with pytest.raises(getattr(builtins, case["error"])) as caught:
        lr.ReduceOnPlateau(0.5).step(value)
    assert str(caught.value) == case["message"]


def test_stepping_past_the_one_cycle_names_both_numbers():
    scheduler = lr.OneCycleLR(1.0, total_steps=3)
    with pytest.raises(scull.errors.ArgumentError, match=r"step 4 times.*total steps is 3"):
        rates_of(scheduler, 5)


def test_a_negative_epoch_of_warm_restarts_is_refused():
    with pytest.raises(scull.errors.ArgumentError, match="non-negative epoch, but got -1"):
        lr.CosineAnnealingWarmRestarts(1.0, T_0=2).step(-1)


def test_a_restart_reached_by_a_jump_begins_at_the_top():
    scheduler = lr.CosineAnnealingWarmRestarts(1.0, T_0=1, T_mult=3)
    for epoch in [1, 4, 13, 40, 121, 364]:
        scheduler.step(epoch)
        assert scheduler() == 1.0


def test_a_state_without_a_key_names_the_key():
    scheduler = lr.StepDecay(1.0, 2)
    with pytest.raises(RuntimeError, match=r"Can't find \[ last_lr \] in state_dict"):
        scheduler.set_state_dict({"last_epoch": 3})


def test_a_state_with_keys_of_another_kind_warns():
    scheduler = lr.StepDecay(1.0, 2)
    with pytest.warns(UserWarning, match="There are some unused values in state_dict"):
        scheduler.set_state_dict({"last_epoch": 3, "last_lr": 0.1, "best": 1.0})
    assert scheduler.last_epoch == 3


def test_restoring_a_warm_up_with_a_scheduler_behind_it_is_silent():
    def fresh():
        return lr.LinearWarmup(lr.StepDecay(1.0, 2), 3, 0.0, 1.0)

    first, second = fresh(), fresh()
    rates_of(first, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        second.set_state_dict(first.state_dict())
    assert rates_of(first, 10) == rates_of(second, 10)


class OneElement:
    """As much of a Tensor as a scheduler asks for."""

    stop_gradient, size = True, 1

    def __float__(self):
        return 0.25


def test_a_state_holds_numbers_where_a_scheduler_holds_tensors():
    scheduler = lr.ReduceOnPlateau(0.5)
    scheduler.best = OneElement()
    assert scheduler.state_dict()["best"] == 0.25


def test_a_state_cannot_hold_a_tensor_of_several_elements():
    scheduler = lr.ReduceOnPlateau(0.5)
    scheduler.best = OneElement()
    scheduler.best.size = 2
    with pytest.raises(AssertionError, match="numel of Tensor in state_dict must be 1"):
        scheduler.state_dict()


def test_a_kind_of_ones_own_needs_get_lr_only():
    class Halving(lr.LRScheduler):
        def get_lr(self):
            return self.base_lr / 2**self.last_epoch

    assert rates_of(Halving(0.8), 3) == [0.8, 0.4, 0.2]


def test_a_kind_of_ones_own_saves_the_keys_it_names():
    class Counting(lr.LRScheduler):
        def state_keys(self):
            self.keys = ["last_epoch", "last_lr", "seen", "never_set"]

        def get_lr(self):
            self.seen = self.last_epoch * 10
            return 1.0

    assert Counting().state_dict() == {"last_epoch": 0, "last_lr": 1.0, "seen": 0}


def test_every_public_name_is_there():
    classes = {name for name, value in vars(lr).items() if isinstance(value, type)}
    assert classes == set(lr.__all__)


def test_schedulers_import_nothing_heavy():
    for path in Path(lr.__file__).parent.glob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        found = {n.module for n in nodes if isinstance(n, ast.ImportFrom)}
        found |= {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
        assert all(
            name.split(".")[0] in ("scull", "math", "warnings", "itertools", "importlib")
            for name in found
        )


@given(RATES, st.floats(0.01, 0.99), st.integers(1, 9))
def test_decays_never_rise(rate, gamma, period):
    for scheduler in [
        lr.ExponentialDecay(rate, gamma),
        lr.NaturalExpDecay(rate, gamma),
        lr.InverseTimeDecay(rate, gamma),
        lr.StepDecay(rate, period, gamma),
        lr.MultiStepDecay(rate, [period, 2 * period], gamma),
        lr.PolynomialDecay(rate, period, end_lr=0.0),
    ]:
        rates = rates_of(scheduler, 30)
        assert rates[0] == rate
        assert all(a >= b >= 0 for a, b in pairwise(rates))


@given(st.integers(1, 40), st.floats(0, 0.4), st.floats(0.5, 9))
def test_a_warm_up_rises_in_equal_steps_and_meets_its_end(steps, start, end):
    rates = rates_of(lr.LinearWarmup(end, steps, start, end), steps + 1)
    assert rates[0] == start
    assert rates[-1] == end
    assert np.diff(rates) == pytest.approx((end - start) / steps)


@given(RATES, st.integers(1, 30), st.floats(0, 1e-6), st.integers(0, 80))
def test_cosine_steps_agree_with_the_closed_form(rate, period, floor, epoch):
    stepped = lr.CosineAnnealingDecay(rate, period, floor)
    for _ in range(epoch):
        stepped.step()
    jumped = lr.CosineAnnealingDecay(rate, period, floor)
    jumped.step(epoch)
    assert stepped() == pytest.approx(jumped(), rel=1e-6, abs=rate * 1e-6)


@given(RATES, st.integers(1, 9), st.integers(1, 3), st.integers(0, 100))
def test_warm_restarts_step_to_where_a_jump_goes(rate, first, times, epoch):
    stepped = lr.CosineAnnealingWarmRestarts(rate, first, times)
    for _ in range(epoch):
        stepped.step()
    jumped = lr.CosineAnnealingWarmRestarts(rate, first, times)
    jumped.step(epoch)
    assert (stepped(), stepped.T_cur, stepped.T_i) == (jumped(), jumped.T_cur, jumped.T_i)


@given(st.floats(0, 1), st.floats(1, 9), st.integers(1, 20), st.integers(1, 20))
def test_a_cycle_is_continuous_and_between_its_bounds(low, high, up, down):
    rates = rates_of(lr.CyclicLR(low, high, up, down), 80)
    steepest = (high - low) / min(up, down)
    assert all(low - 1e-9 <= rate <= high + 1e-9 for rate in rates)
    assert all(abs(a - b) <= steepest + 1e-9 for a, b in pairwise(rates))


@given(RATES, st.lists(st.floats(0, 100), min_size=1, max_size=60), st.integers(0, 5))
@settings(max_examples=50)
def test_a_rate_on_a_plateau_only_falls_and_not_below_its_floor(rate, metrics, patience):
    scheduler = lr.ReduceOnPlateau(rate, patience=patience, min_lr=rate / 50)
    rates = [scheduler()]
    for metric in metrics:
        scheduler.step(metric)
        rates.append(scheduler())
    assert all(a >= b for a, b in pairwise(rates))
    assert rates[-1] >= rate / 50


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(lr.__path__)])
def test_the_examples_run(name):
    module = importlib.import_module(f"scull.optimizer.lr.{name}")
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0
