"""Jobs of a plan: several Programs one after the other in one scope."""

import numpy as np
import pytest

import scull as paddle
from scull.base import core
from scull.errors import ArgumentError, ArgumentTypeError


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    with paddle.utils.unique_name.guard():
        yield
    paddle.disable_static()


def place():
    found = core.Place()
    found.set_place(paddle.CPUPlace())
    return found


def fetching(program, v):
    block = program.global_block()
    kind = core.VarDesc.VarType.FETCH_LIST
    block.create_var(name="fetch", type=kind, persistable=True)
    block.append_op("fetch_v2", {"X": [v]}, {"Out": ["fetch"]}, {"col": 0})


def halves():
    """A Program that leaves a temporary, its name, and a Program that adds one to that."""
    first, second = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(first, paddle.static.Program()):
        h = paddle.assign(paddle.static.data("x", [2]) * 2.0)
    with paddle.static.program_guard(second, paddle.static.Program()):
        found = second.global_block().create_var(name=h.name, shape=[2], dtype="float32")
        fetching(second, found + 1.0)
    return first, h.name, second


def jobs(name, number=0):
    found = core.Job("first"), core.Job("second")
    found[0].set_skip_gc_vars({name})
    for job in found:
        job.set_micro_batch_id(number)
    return list(found)


def test_a_plan_says_which_jobs_it_has_and_what_they_run():
    first, name, second = halves()
    programs = {"first": first.desc, "second": second.desc}
    given = [*jobs(name), *jobs(name, 1)]
    plan = core.Plan(given, programs)
    assert plan.job_list() == given and plan.micro_batch_num() == 2
    assert [j.type() for j in given] == ["first", "second"] * 2
    assert all(plan.program(t) == programs[t] for t in plan.job_types())
    with pytest.raises(ArgumentError, match="no Program for jobs of type `third`"):
        plan.program("third")
    with pytest.raises(ArgumentError, match="no Program for jobs of type `first`"):
        core.Plan(given, {})


@pytest.mark.parametrize("shown", [True, False], ids=["views", "Programs"])
def test_a_job_finds_what_the_job_before_left_in_the_scope(shown):
    first, name, second = halves()
    programs = {"first": first, "second": second}
    programs = {n: p.desc for n, p in programs.items()} if shown else programs
    scope = core.Scope()
    exe = core.StandaloneExecutor(place(), core.Plan(jobs(name), programs), scope)
    for value in ([1.0, 2.0], [3.0, 4.0]):
        core.set_feed_variable(scope, np.array(value, "float32"), "feed", 0)
        (found,) = exe.run(["x"])
        assert np.array_equal(np.array(found), np.array(value) * 2 + 1)


def test_each_part_of_a_batch_is_fetched():
    first, name, second = halves()
    plan = core.Plan([*jobs(name), *jobs(name, 1)], {"first": first, "second": second})
    scope = core.Scope()
    scope.var("x").get_tensor().set(np.array([1.0, 2.0], "float32"), paddle.CPUPlace())
    found = core.StandaloneExecutor(place(), plan, scope).run(["x"])
    assert [np.array(v).tolist() for v in found] == [[3.0, 5.0]] * 2


def test_what_is_no_plan_is_refused():
    with pytest.raises(ArgumentTypeError, match="plan takes a Plan, not list"):
        core.StandaloneExecutor(place(), [], core.Scope())
