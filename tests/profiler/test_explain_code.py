"""What a page says of machine code: the kernels of a plan, and why they are what they are."""

import importlib.util
import json
from typing import get_args

import numpy as np
import pytest

import scull as paddle
from scull.compiler.decision import Kind
from scull.flags import flags
from scull.profiler.explain.code_facts import SAID
from scull.profiler.explain.facts import facts_of
from scull.profiler.explain.page import page
from scull.profiler.explain.record import recorded
from tests.profiler.browser import needs_browser
from tests.profiler.programs import Case, described, looped, named, trained

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


def looked_at(case):
    """A recorded run of a case, and its facts."""
    found = recorded(case.executor, case.main, case.feed, case.fetches, case.scope, True)
    return found, facts_of(case.main, found, "title")


@pytest.fixture(scope="module")
def training():
    return looked_at(trained())


def kernels(facts):
    return [kernel for region in facts["code"]["regions"] for kernel in region["kernels"]]


def summed(make, *fetched):
    """A case of two inputs; `make` gives what may be fetched, of which some is."""

    def record():
        x, y = (paddle.static.data(name, [8, 32]) for name in "xy")
        found = make(x, y)
        return [found[number] for number in fetched]

    main, _, fetches = described(record)
    return Case(main, {name: np.ones((8, 32), np.float32) for name in "xy"}, fetches)


def relu_of_sum(x, y):
    total = x + y
    return paddle.nn.functional.relu(total), total


def test_relu_of_a_sum_is_one_kernel_because_the_sum_is_read_once():
    _, facts = looked_at(summed(relu_of_sum, 0))
    (kernel,) = kernels(facts)
    assert kernel["instructions"] == [0, 1]
    assert kernel["because"] == ["tmp_0 is computed within relu_0.tmp_0: read once"]
    assert (kernel["read"], kernel["written"]) == (2 * 8 * 32 * 4, 8 * 32 * 4)
    assert "relu_0.tmp_0[i0, i1] = maximum(x[i0, i1] + y[i0, i1], 0.0)" in kernel["lines"]


def test_where_the_sum_is_fetched_the_kernel_says_so():
    _, facts = looked_at(summed(relu_of_sum, 0, 1))
    (kernel,) = kernels(facts)
    assert kernel["instructions"] == [0, 1]
    assert "tmp_0 is stored, too: it is fetched" in kernel["because"]
    assert kernel["written"] == 2 * 8 * 32 * 4


def sum_and_its_order(x, y):
    total = x + y
    return paddle.nn.functional.relu(total) + paddle.sort(total), None


def test_what_is_used_after_the_region_is_stored_for_that():
    _, facts = looked_at(summed(sum_and_its_order, 0))
    reasons = [reason for kernel in kernels(facts) for reason in kernel["because"]]
    assert "tmp_0 is stored, too: it is used after the region" in reasons


def test_rows_share_a_loop_and_a_contraction_has_none_to_share():
    def make(x, y):
        return (paddle.nn.functional.softmax(paddle.matmul(x, y, transpose_y=True)),)

    _, facts = looked_at(summed(make, 0))
    _, product, rows = kernels(facts)
    assert "laid out anew" in str(product["because"])
    assert product["because"][0] == "A contraction has a kernel of its own."
    assert any("is in the loop over rows of" in reason for reason in rows["because"])
    assert any("reads matmul" in reason for reason in rows["because"])


def test_a_row_that_lies_over_another_says_so():
    def make(x, y):
        functional = paddle.nn.functional
        return (functional.softmax(functional.layer_norm(functional.gelu(x) + y, 32)),)

    _, facts = looked_at(summed(make, 0))
    (kernel,) = kernels(facts)
    (over,) = [reason for reason in kernel["because"] if "lies in the memory of" in reason]
    assert over.endswith(": that is read no more")


def test_every_operator_that_is_compiled_is_in_a_kernel_and_timed(training):
    found, facts = training
    rows, regions = kernels(facts), facts["code"]["regions"]
    types = [step.operator.type for step in found.plan.instructions]
    inside = [i for region in regions for i in region["instructions"]]
    assert sorted(inside) == list(range(len(types)))
    alone = {i for kernel in rows for i in kernel["instructions"]}
    assert alone <= set(inside) and len(alone) > 20
    assert all(kernel["seconds"] > 0 and kernel["share"] > 0 for kernel in rows)
    assert {kernel["bound"] for kernel in rows} <= {"memory", "arithmetic"}
    assert all(facts["code"]["texts"][kernel["text"]]["assembly"] for kernel in rows)


def test_every_kind_of_decision_is_put_in_words():
    assert set(get_args(Kind)) == set(SAID)


def test_an_operator_that_is_in_no_kernel_says_why():
    def make(x, y):
        return (paddle.tanh(paddle.sort(paddle.tanh(x) + y)),)

    _, facts = looked_at(summed(make, 0))
    assert facts["code"]["outside"] == [
        {"instruction": 2, "reason": "`argsort`: sorting is no loop over elements"}
    ]
    assert [region["instructions"] for region in facts["code"]["regions"]] == [[0, 1], [3]]


def test_kernels_of_a_loop_say_which_loop_they_are_in():
    _, facts = looked_at(looped())
    heads = [kernel["lines"][0] for kernel in kernels(facts)]
    assert any(head.startswith("# in: while ") for head in heads)
    assert facts["code"]["outside"] == []


def test_blocks_of_an_arena_that_live_together_lie_apart(training):
    _, facts = training
    arenas = [region["arena"] for region in facts["code"]["regions"]]
    assert any(arena["blocks"] for arena in arenas)
    for arena in arenas:
        for block in arena["blocks"]:
            assert 0 <= block["offset"] <= block["offset"] + block["size"] <= arena["size"]
            for other in arena["blocks"]:
                together = block["first"] <= other["last"] and other["first"] <= block["last"]
                meets = block["offset"] < other["offset"] + other["size"]
                meets = meets and other["offset"] < block["offset"] + block["size"]
                assert block is other or not (together and meets)


def test_a_result_in_the_place_of_an_operand_has_its_own_name(training):
    _, facts = training
    lines = [line for kernel in kernels(facts) for line in kernel["lines"]]
    assert any(line.startswith("tanh_0.tmp_0[i0, i1] = tanh(") for line in lines)


def test_values_and_draws_stay_as_they_are_and_the_timeline_is_of_instructions():
    case = trained()
    before = {name: cell.value.copy() for name, cell in case.scope.cells.items()}
    with flags(COMPILE="eager"):
        found = recorded(case.executor, case.main, case.feed, case.fetches, case.scope, True)
    assert len(found.spans) == len(found.plan.instructions) and found.code.regions
    for name, value in before.items():
        np.testing.assert_array_equal(case.scope.find_var(name).value, value)


def test_what_others_would_see_happens_once_and_no_kernel_is_timed():
    calls = []

    def make():
        x = paddle.static.data("x", [2])
        block = paddle.static.default_main_program().current_block()
        out = block.create_var(name="out", shape=[2], dtype="float32")
        given = paddle.static.py_func(lambda v: calls.append(1) or np.asarray(v), x, out)
        return paddle.tanh(given)

    main, _, found = described(make)
    _, facts = looked_at(Case(main, {"x": np.ones(2, np.float32)}, [found]))
    assert len(calls) == 1 and [k["share"] for k in kernels(facts)] == [None]


def test_loops_and_devices_and_plans_without_kernels_have_what_there_is():
    _, facts = looked_at(looped())
    assert all(region["kernels"] for region in facts["code"]["regions"])
    case = named("x")
    case.executor = paddle.static.Executor(paddle.CustomPlace("sim", 0))
    assert looked_at(case)[1]["code"] is None


def test_pages_show_code_where_it_is_asked_for_or_programs_run_as_such(tmp_path):
    case, path = named("x"), tmp_path / "page.html"
    for mode, asked, shown in (("off", None, 0), ("off", True, 1), ("eager", None, 1)):
        with flags(COMPILE=mode):
            case.explain(path, machine_code=asked)
        assert path.read_text(encoding="utf-8").count('"code":{') == shown


def test_regions_are_printed_with_their_reasons(capfd):
    with flags(COMPILE="eager", DEBUG=5):
        case = summed(relu_of_sum, 0)
        case.executor.run(case.main, case.feed, case.fetches)
    printed = capfd.readouterr().err
    assert "region: 1 kernel, arena of 0 bytes\nkernel 0: relu\n" in printed
    assert "maximum(t0[i0, i1] + t1[i0, i1], 0.0)" in printed
    assert "t2 inlined t3: read once" in printed


@needs_browser
def test_kernels_are_drawn_and_their_code_opens(browser, training, tmp_path):
    found, facts = training
    path = tmp_path / "page.html"
    path.write_text(page(facts, str(found.plan)), encoding="utf-8")
    shown = browser.open(path)
    rows = kernels(facts)
    count = "document.querySelectorAll('{}').length".format
    assert shown.value(count("#code details.kernel")) == len(rows)
    blocks = sum(len(region["arena"]["blocks"]) for region in facts["code"]["regions"])
    assert shown.value(count("#code .item")) == blocks
    assert shown.texts("#code .kernel li") == [r for kernel in rows for r in kernel["because"]]
    assert facts["code"]["outside"] == [] == shown.texts("#code .outside li")
    shown.value("document.querySelectorAll('#code .kernel details').forEach(d => d.open = true)")
    text = "document.querySelectorAll('#code .kernel details pre')[0].textContent"
    ir = facts["code"]["texts"][rows[0]["text"]]["ir"]
    assert shown.becomes(f"{text} === {json.dumps(ir)}", True)
    shown.value("location.hash = 'i=0', show()")
    shown.value("document.querySelector('#chosen td a').click()")
    assert shown.value("document.querySelectorAll('#code .kernel[open]').length") == 1
    assert shown.problems == [] and shown.requests == [path.as_uri()]


@needs_browser
def test_what_is_in_no_kernel_is_drawn_with_its_reason(browser, tmp_path):
    found, facts = looked_at(summed(lambda x, y: (paddle.sort(paddle.tanh(x) + y),), 0))
    path = tmp_path / "page.html"
    path.write_text(page(facts, str(found.plan)), encoding="utf-8")
    shown = browser.open(path)
    (told,) = shown.texts("#code .outside li")
    assert facts["code"]["outside"][0]["reason"] in told
    assert shown.problems == [] and shown.requests == [path.as_uri()]


def batched(make):
    """A case of an input whose batch has any size."""
    main, _, fetches = described(lambda: [make(paddle.static.data("x", [None, 8]))])
    return Case(main, {"x": np.ones((6, 8), np.float32)}, fetches)


def test_it_is_told_what_becomes_of_batches_of_other_sizes():
    said = [
        looked_at(batched(make))[1]["code"]["batch"]
        for make in (paddle.tanh, lambda x: x - paddle.mean(x, 0))
    ]
    assert said[0].startswith("a batch of any size is computed in slices")
    assert said[1].endswith("code of its own: `reduce_mean` reads the whole batch")
    assert looked_at(summed(relu_of_sum, 0))[1]["code"]["batch"] == ""


@needs_browser
def test_what_becomes_of_batches_is_on_the_page(browser, tmp_path):
    found, facts = looked_at(batched(paddle.tanh))
    path = tmp_path / "page.html"
    path.write_text(page(facts, str(found.plan)), encoding="utf-8")
    shown = browser.open(path)
    assert facts["code"]["batch"] in shown.texts("#code .batch")[0]
    assert shown.problems == []
