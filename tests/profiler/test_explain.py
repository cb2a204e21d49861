"""What a page holds is what the plan says and what the run did."""

import json
import os
from collections import Counter

import numpy as np
import pytest

import scull as paddle
from scull.core import session
from scull.core.timeline import filling
from scull.errors import ArgumentError, ArgumentTypeError, FeedError, RunError
from scull.executor.alias import written
from scull.executor.plan import FIRST
from scull.flags import flags
from scull.profiler.explain.facts import facts_of
from scull.profiler.explain.record import recorded
from tests.profiler.programs import Case, described, looped, named, trained


def looked_at(case):
    """A recorded run of a case, and its facts."""
    found = recorded(case.executor, case.main, case.feed, case.fetches, case.scope)
    return found, facts_of(case.main, found, "title")


@pytest.fixture(scope="module")
def training():
    return looked_at(trained())


def test_who_writes_reads_and_frees_a_variable_is_what_the_plan_says(training):
    found, facts = training
    plan = found.plan
    steps = [step for step in plan.steps if not step.is_shape]
    assert len(steps) < len(plan.steps)  # it holds steps that keep a shape alone
    for slot, v in enumerate(plan.variables[FIRST:], FIRST):
        shown = facts["variables"][slot - FIRST]
        numbers = range(len(steps))
        makers = [i for i in numbers if slot in steps[i].writes or v in written(steps[i].operator)]
        readers = [i for i in numbers if slot in steps[i].reads and slot not in steps[i].shapes]
        assert (shown["name"], shown["writers"], shown["readers"]) == (v.name, makers, readers)
        assert shown["shapes"] == [i for i in numbers if slot in steps[i].shapes]
        freed = [n for n, step in enumerate(plan.steps) if slot in step.frees]
        assert shown["frees"] == [steps.index(last_before(plan, n)) for n in freed]
        assert shown["kept"] == (slot in plan.kept)
    kinds = Counter(v["kind"] for v in facts["variables"])
    assert kinds["fed"] == 2 and kinds["parameter"] == 4 and kinds["persistable"] > 8
    assert any(v["frees"] for v in facts["variables"]) and any(
        v["shapes"] for v in facts["variables"]
    )


def last_before(plan, number):
    """The instruction that a step is or follows."""
    return next(step for step in plan.steps[number::-1] if not step.is_shape)


def test_the_last_users_in_any_order_are_those_of_the_plan(training):
    found, facts = training
    expected = Counter((life.slot - FIRST, i) for life in found.plan.lifetimes for i in life.last)
    shown = Counter((n, i) for n, v in enumerate(facts["variables"]) for i in v["last"])
    assert shown == expected and len(shown) > 10


def test_edges_are_those_of_the_graph_with_their_kinds(training):
    found, facts = training
    expected = [(e.before, e.after, {r.kind for r in e.reasons}) for e in found.plan.graph.edges]
    shown = [(e["before"], e["after"], set(e["kinds"])) for e in facts["edges"]]
    assert shown == expected
    assert {"RAW", "WAR"} <= {kind for e in facts["edges"] for kind in e["kinds"]}


def test_every_instruction_is_timed_once_in_its_order(training):
    found, facts = training
    instructions, starts, lengths = zip(*((i, s, n) for i, _, s, n in facts["spans"]), strict=True)
    assert list(instructions) == list(range(len(found.plan.instructions)))
    assert starts[0] == 0 and list(starts) == sorted(starts) and min(lengths) > 0
    ends = [start + length for start, length in zip(starts, lengths, strict=True)]
    assert all(end <= start for end, start in zip(ends[:-1], starts[1:], strict=True))


def test_buffers_add_up_to_what_is_live_and_to_the_planned_peak(training):
    found, facts = training
    size = len(facts["instructions"])
    buffers = [
        (b["size"], b["born"], size if b["freed"] is None else b["freed"]) for b in facts["buffers"]
    ]
    for i in range(size):
        assert facts["live"][i] == sum(n for n, born, freed in buffers if born <= i < freed)
    during = [sum(n for n, born, freed in buffers if born <= i <= freed) for i in range(size)]
    assert max(during) == facts["peak"]["size"] == found.peak.size > 0
    assert facts["peak"]["because"] == ""


def test_a_view_and_what_takes_its_place_lie_in_one_buffer(training):
    _, facts = training
    together = [{facts["variables"][v]["name"] for v in b["variables"]} for b in facts["buffers"]]
    (found,) = [names for names in together if "reshape2_0.tmp_0" in names]
    assert "dropout_0.tmp_0" in found
    (found,) = [names for names in together if "tanh_0.tmp_0" in names]
    assert {"linear_1.tmp_0", "linear_1.tmp_1"} < found


def test_a_result_in_the_place_of_an_operand_is_found_by_its_own_name(training):
    found, facts = training
    shown = {v["name"]: v for v in facts["variables"]}
    tanh, place = shown["tanh_0.tmp_0"], facts["variables"][shown["tanh_0.tmp_0"]["place"]]
    (maker,) = tanh["writers"]
    step = found.plan.instructions[maker]
    assert step.operator.type == "tanh" and step.operator.over.name == place["name"]
    assert maker in place["writers"] and not tanh["planned"] and tanh["inside"] == []
    read = [
        facts["operators"][facts["instructions"][i]["operator"]]["type"] for i in tanh["readers"]
    ]
    assert read == ["dropout", "tanh_grad"] and tanh["frees"] == place["frees"] != []
    assert shown["linear_1.tmp_1"]["frees"] == []  # whose memory tanh takes
    assert all(v["place"] is None for v in facts["variables"] if v["planned"])


def test_a_run_to_explain_changes_neither_values_nor_draws_nor_the_ledger(tmp_path):
    case = trained()
    before = {name: cell.value.copy() for name, cell in case.scope.cells.items()}
    state, ledger = session.generator().get_state(), case.executor.ledger
    case.explain(tmp_path / "page.html")
    assert session.generator().get_state() == state and case.executor.ledger is ledger
    assert before.keys() == case.scope.cells.keys() and len(before) > 10
    for name, value in before.items():
        np.testing.assert_array_equal(case.scope.find_var(name).value, value)


def test_a_timeline_that_is_being_filled_disturbs_nothing():
    with filling() as timeline:
        found, facts = looked_at(trained())
    assert [i for i, *_ in facts["spans"]] == list(range(len(found.plan.instructions)))
    assert any("step" in (span.arguments or {}) for t in timeline.tracks for span in t.spans)


def test_what_others_would_see_happens_once():
    calls = []

    def make():
        x = paddle.static.data("x", [2])
        block = paddle.static.default_main_program().current_block()
        out = block.create_var(name="out", shape=[2], dtype="float32")
        return paddle.static.py_func(lambda v: calls.append(1) or np.asarray(v), x, out)

    main, _, found = described(make)
    found, facts = looked_at(Case(main, {"x": np.ones(2, np.float32)}, [found]))
    assert len(calls) == 1 and len(facts["spans"]) == len(facts["live"]) == 1


def test_threads_are_lanes_and_every_instruction_runs_on_one():
    main, _, found = described(lambda: square_sums(4))
    with flags(HOST_THREADS=2):
        _, facts = looked_at(Case(main, {"x": np.ones((512, 512), np.float32)}, [found]))
    assert sorted(i for i, *_ in facts["spans"]) == list(range(len(facts["instructions"])))
    assert facts["threads"][0] == "MainThread"
    assert {thread for _, thread, *_ in facts["spans"]} == set(range(len(facts["threads"])))


def square_sums(count):
    """Large products that do not wait for each other."""
    x = paddle.static.data("x", [512, 512])
    return paddle.add_n([paddle.matmul(x, x) for _ in range(count)])


def test_an_operator_with_blocks_is_one_instruction_and_its_blocks_are_listed():
    _, facts = looked_at(looped())
    (loop,) = [o for o in facts["operators"] if o["type"] == "while"]
    assert facts["blocks"][1]["parent"] == 0 and len(facts["blocks"]) == 2
    inner = [facts["operators"][n] for n in facts["blocks"][1]["operators"]]
    assert loop["instruction"] is not None and all(o["instruction"] is None for o in inner)
    assert ("sub_block", "block 1") in loop["attrs"]
    total = next(
        v for v in facts["variables"] if loop["instruction"] in v["readers"] and v["inside"]
    )
    assert total["planned"]
    own = [v for v in facts["variables"] if v["block"] == 1]
    assert own and all(v["inside"] and not v["planned"] for v in own)


def test_the_users_lines_are_shown_with_their_source(training):
    _, facts = training
    operator = next(o for o in facts["operators"] if o["type"] == "tanh")
    assert operator["line"].rpartition(":")[0] == os.path.join(
        os.path.dirname(__file__), "programs.py"
    )
    assert operator["source"] == "hidden = paddle.tanh(paddle.nn.Linear(32, 64)(x))"
    roles = Counter(o["role"] for o in facts["operators"])
    assert roles["forward"] > 5 and roles["backward"] > 5 and roles["update"] >= 4


def test_a_variable_of_an_inner_block_that_shadows_another_has_a_key_of_its_own():
    case = looped()
    outer = next(iter(case.main.block(0).vars))
    inner = case.main.block(1).create_var(name=outer, shape=[1], dtype="int64")
    _, facts = looked_at(case)
    keys = [v["key"] for v in facts["variables"] if v["name"] == inner.name]
    assert sorted(keys) == [outer, f"{outer}@1"]


def test_facts_are_plain_json_and_few(training):
    _, facts = training
    text = json.dumps(facts, allow_nan=False)
    assert json.loads(text)["title"] == "title" and len(text) < 100_000


def test_an_empty_program_has_a_page(tmp_path):
    case = Case(paddle.static.Program(), {}, [])
    path = case.explain(str(tmp_path / "empty.html"))
    assert path == str(tmp_path / "empty.html") and os.path.getsize(path) > 10_000


def test_a_compiled_program_and_a_pruned_run_are_explained():
    case = trained()
    (loss,) = case.fetches
    case.main = paddle.static.CompiledProgram(case.main)
    _, facts = looked_at(case)
    assert any(o["type"] == "adam" for o in facts["operators"])
    forward = next(v for v in loss.block.vars.values() if v.name == "tanh_0.tmp_0")
    case.fetches = [forward]
    assert [o["type"] for o in looked_at(case)[1]["operators"]].count("adam") == 4


def test_a_run_that_fails_leaves_no_page(tmp_path):
    case = trained()
    with pytest.raises(FeedError, match="`y`"):
        case.executor.explain(
            case.main, {"x": case.feed["x"]}, case.fetches, tmp_path / "a.html", case.scope
        )
    assert list(tmp_path.iterdir()) == []


def test_a_closed_executor_and_a_path_that_is_none_are_refused(tmp_path):
    case = named("x")
    with pytest.raises(ArgumentTypeError, match="path is a int"):
        case.explain(3)
    with pytest.raises(ArgumentError, match="not an ordinary file"):
        case.explain(tmp_path)
    case.executor.close()
    with pytest.raises(RunError, match="closed"):
        case.explain(tmp_path / "page.html")
