"""Schedules: which state each step has."""

import warnings

import pytest

from scull.profiler import ProfilerState, make_scheduler
from scull.profiler.scheduler import between

LETTERS = {"CLOSED": "c", "READY": "r", "RECORD": "R", "RECORD_AND_RETURN": "X"}


def states(schedule, count=12):
    return "".join(LETTERS[schedule(step).name] for step in range(count))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"closed": 1, "ready": 1, "record": 2}, "crRXcrRXcrRX"),
        ({"closed": 1, "ready": 1, "record": 2, "repeat": 1}, "crRXcccccccc"),
        ({"closed": 1, "ready": 1, "record": 2, "repeat": 2, "skip_first": 2}, "cccrRXcrRXcc"),
        ({"closed": 0, "ready": 1, "record": 1}, "rXrXrXrXrXrX"),
        ({"closed": 2, "ready": 2, "record": 1, "skip_first": 1}, "cccrrXccrrXc"),
    ],
)
def test_periods_follow_each_other(arguments, expected):
    assert states(make_scheduler(**arguments)) == expected


def test_recording_at_once_is_warned_of():
    with pytest.warns(UserWarning, match="Profiler will record data"):
        schedule = make_scheduler(closed=1, ready=0, record=2)
    assert states(schedule) == "cRXcRXcRXcRX"


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(2, 5, "crRRXccccccc"), (1, 2, "rXcccccccccc"), (3, 4, "ccrXcccccccc")],
)
def test_two_numbers_are_the_steps_from_the_first_until_before_the_second(start, end, expected):
    assert states(between(start, end)) == expected


def test_steps_before_the_first_are_not_there_to_record():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert states(between(-3, 2), 6) == states(between(0, 2), 6) == "RXcccc"


@pytest.mark.parametrize(
    "wrong",
    [{"closed": -1}, {"ready": -1}, {"record": 0}, {"repeat": -1}, {"skip_first": -1}],
)
def test_numbers_that_are_no_schedule_are_refused_with_their_values(wrong):
    arguments = {"closed": 1, "ready": 1, "record": 1, **wrong}
    name, value = next(iter(wrong.items()))
    with pytest.raises(AssertionError, match=f"Invalid profiler scheduler.*{name}={value}"):
        make_scheduler(**arguments)


def test_an_end_before_the_start_is_refused():
    with pytest.raises(AssertionError, match="end at 2, before they start at 3"):
        between(3, 2)


@pytest.mark.parametrize("wrong", ["2", 1.5, None])
def test_what_is_no_number_of_steps_is_refused(wrong):
    with pytest.raises(TypeError, match="counts steps"):
        make_scheduler(closed=1, ready=1, record=wrong)
    with pytest.raises(TypeError, match="counts steps"):
        between(0, wrong)


def test_steps_count_from_zero():
    with pytest.raises(AssertionError, match="from 0, got -1"):
        make_scheduler(closed=1, ready=1, record=1)(-1)


def test_states_have_the_numbers_of_paddle():
    assert [state.value for state in ProfilerState] == [0, 1, 2, 3]
