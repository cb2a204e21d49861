"""Branches, loops and lists in Programs: what they give, and what is refused."""

import doctest
import importlib
import re
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    RangeError,
)
from scull.files.program import bytes_of, program_of
from scull.flags import flags
from scull.ir.verify import verify
from scull.static.nn.control_flow import (
    ConditionalBlock,
    Switch,
    While,
    select_input,
    select_output,
)

FILES = Path(__file__).parent.parent / "data" / "files"
FLOWS = sorted(FILES.glob("flow_*.program"))
nn = paddle.static.nn


@pytest.fixture
def main():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        yield main
    paddle.disable_static()


def number(value):
    return paddle.full([1], value, "int64")


def run(main, fetches, **feed):
    feed = {n: np.asarray(v, "float32") for n, v in feed.items()}
    return [v.tolist() for v in paddle.static.Executor().run(main, feed=feed, fetch_list=fetches)]


@pytest.mark.parametrize("path", FLOWS, ids=lambda p: p.stem)
def test_programs_of_the_reference_give_what_it_gave(main, path):
    program = program_of(path.read_bytes())
    verify(program)
    held = np.load(path.with_suffix(".npz"))
    names = [str(n) for n in held["names"]]
    feed = {n: held[n] for n in ("x", "y")}
    for same in (program, program.clone(), program_of(bytes_of(program.clone()))):
        found = paddle.static.Executor().run(same, feed=feed, fetch_list=names)
        for i, value in enumerate(found):
            assert np.allclose(value, held[str(i)], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("form", ["in-graph", "primitives"])
@pytest.mark.parametrize("rounds", [0, 3], ids=["flat", "in a loop"])
def test_what_is_handed_to_one_of_two_leaves_the_other_as_it_was(main, form, rounds):
    x = paddle.static.data("x", [2])
    outs = [paddle.full([2], v) for v in (5.0, 6.0)]

    def hand(number, value):
        index = paddle.cast(paddle.reshape(number, [1]), "int32")
        nn.control_flow.select_output(value, outs, index)

    hand(paddle.full([1], 1, "int64"), x)
    i, most = paddle.full([1], 0, "int64"), paddle.full([1], rounds, "int64")
    if rounds:
        holds = paddle.less_than(i, most)
        with nn.control_flow.While(holds).block():
            hand(i % 2, x + paddle.cast(i, "float32"))
            paddle.increment(i)
            paddle.assign(paddle.less_than(i, most), holds)
    fetches = [v * 1.0 for v in outs]
    expected = [[3.0] * 2, [2.0] * 2] if rounds else [[5.0] * 2, [1.0] * 2]
    with flags(CONTROL_FLOW=form):
        assert run(main, fetches, x=[1.0, 1.0]) == expected


def test_a_branch_returns_structures(main):
    x = paddle.static.data("x", [1])
    found = nn.cond(
        x < 1.0,
        lambda: {"a": [x, (x + 1.0,)], "b": x},
        lambda: {"a": [x, (x + 2.0,)], "b": x + 5.0},
    )
    assert isinstance(found["a"][1], tuple)
    fetches = [found["a"][0], found["a"][1][0], found["b"]]
    assert run(main, fetches, x=[0.0]) == [[0.0], [1.0], [0.0]]
    assert run(main, fetches, x=[3.0]) == [[3.0], [5.0], [8.0]]


def test_numbers_that_branches_return_become_variables_where_they_differ(main):
    x = paddle.static.data("x", [1])
    with pytest.warns(UserWarning, match="not same type|the same rank"):
        same, other, mixed = nn.cond(x < 1.0, lambda: (1, 2.0, x), lambda: (1, 3.0, 4.0))
    assert same == 1
    assert run(main, [other, mixed], x=[0.0]) == [2.0, [0.0]]
    assert run(main, [other, mixed], x=[3.0]) == [3.0, 4.0]


@pytest.mark.parametrize(
    ("true_fn", "false_fn", "kind"),
    [
        (lambda x: x + 1.0, lambda x: [x], list),
        (lambda x: 3.0, lambda x: (x,), tuple),
        (lambda x: [x + 1.0], lambda x: x, paddle.static.Variable),
        (lambda x: (x + 1.0,), lambda x: 4.0, paddle.static.Variable),
        (lambda x: [{"a": x + 1.0}], lambda x: {"a": x}, dict),
    ],
)
def test_one_result_and_a_list_of_one_go_together_in_the_form_of_the_other_branch(
    main, true_fn, false_fn, kind
):
    x = paddle.static.data("x", [1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a number and a variable
        found = nn.cond(x < 1.0, lambda: true_fn(x), lambda: false_fn(x))
    assert isinstance(found, kind)
    for value, function in ((-2.0, true_fn), (2.0, false_fn)):
        (given,) = run(main, paddle.utils.flatten(found), x=[value])
        assert np.ravel(given).tolist() == paddle.utils.flatten(function(value))


def a_list(x):
    return paddle.tensor.create_array("float32", [x])


@pytest.mark.parametrize(
    ("true_fn", "false_fn"),
    [
        (lambda x: x + 1.0, lambda x: None),
        (lambda x: None, lambda x: [x + 1.0]),
        (lambda x: 3, lambda x: "text"),
        (lambda x: 3, lambda x: a_list(x)),
        (lambda x: a_list(x), lambda x: 2.5),
        (lambda x: (1, 2), lambda x: 3),
        (lambda x: {"a": 1}, lambda x: {"b": 1}),
    ],
)
def test_branches_that_do_not_go_together_are_shown_with_their_lines(main, true_fn, false_fn):
    x = paddle.static.data("x", [1])
    with pytest.raises((ArgumentError, ArgumentTypeError)) as error:
        nn.cond(x < 1.0, partial(true_fn, x), partial(false_fn, x))
    for name, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        line = function.__code__.co_firstlineno
        assert re.search(rf"{name}: \S*test_control_flow.py:{line}\b", str(error.value))


@pytest.mark.parametrize(
    ("false_fn", "law"),
    [
        (lambda x: (x, x), "true fn returns 1 vars, but false fn returns 2 vars"),
        (lambda x: None, "true_fn returns non-None while false_fn returns None"),
        (lambda x: {"a": x}, r"float32\[1\] made at .*test_control_flow.py:\d+ while false_fn"),
        (lambda x: "text", "false_fn returns str 'text' and true_fn returns float32"),
    ],
)
def test_branches_of_other_results_are_refused(main, false_fn, law):
    x = paddle.static.data("x", [1])
    with pytest.raises((ArgumentError, ArgumentTypeError), match=law):
        nn.cond(x < 1.0, lambda: x + 1.0, lambda: false_fn(x))


def test_what_is_no_condition_is_refused(main):
    x = paddle.static.data("x", [2])
    with pytest.raises(ArgumentTypeError, match="'pred' in cond must be a Variable"):
        nn.cond(1, lambda: x, lambda: x)
    with pytest.raises(DtypeError, match="must be of bool, but `x` is float32"):
        nn.cond(x, lambda: x, lambda: x)
    with pytest.raises(ArgumentTypeError, match="The true_fn in cond must be callable"):
        nn.cond(x < 1.0, x, lambda: x)
    with pytest.raises(ArgumentTypeError, match=r"must have one element, but `.*` is bool\[2\]"):
        While(x < 1.0)


@pytest.mark.parametrize(("value", "expected"), [(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)])
def test_the_first_case_that_holds_runs(main, value, expected):
    x, y = paddle.static.data("x", [1]), paddle.zeros([1])
    found = nn.case([(x < 1.0, lambda: x + 1.0), (x < 2.0, lambda: x + 2.0)], lambda: x + 3.0)
    with Switch() as switch:
        with switch.case(x < 1.0):
            paddle.assign(x + 1.0, y)
        with switch.case(x < 2.0):
            paddle.assign(x + 2.0, y)
        with switch.default():
            paddle.assign(x + 3.0, y)
    assert run(main, [found, y], x=[value]) == [[expected], [expected]]


@pytest.mark.parametrize(("value", "expected"), [(1, 11.0), (2, 12.0), (7, 13.0)])
def test_a_number_chooses_a_function(main, value, expected):
    x, index = paddle.static.data("x", [1]), number(value)
    branches = {1: lambda: x + 11.0, 2: lambda: x + 12.0}
    found = nn.switch_case(index, branches, lambda: x + 13.0)
    last = nn.switch_case(index, [(3, lambda: x), *branches.items()])
    other = {1: 11.0, 2: 12.0}.get(value, 0.0)
    assert run(main, [found, last], x=[0.0]) == [[expected], [other]]


def test_functions_by_number_are_checked(main):
    x = paddle.static.data("x", [1])
    with pytest.raises(DtypeError, match="uint8, int32 or int64"):
        nn.switch_case(x, [lambda: x])
    with pytest.raises(ArgumentError, match="'1' appears more than once"):
        nn.switch_case(number(0), [(1, lambda: x), (1, lambda: x)])
    with pytest.raises(ArgumentTypeError, match="type of function for key 2"):
        nn.switch_case(number(0), [(2, x)])


def test_a_loop_swaps_its_variables(main):
    a, b = paddle.zeros([1]), paddle.ones([1])
    i, n = number(0), number(3)
    _, a, b = nn.while_loop(lambda i, a, b: i < n, lambda i, a, b: [i + 1, b, a], [i, a, b])
    assert run(main, [a, b]) == [[1.0], [0.0]]


def test_a_variable_that_a_loop_begins_with_twice_changes_by_turns(main):
    i, x = paddle.zeros([1], "int64"), paddle.ones([1])
    _, one, other = nn.while_loop(
        lambda i, *_: i < 3, lambda i, a, b: [i + 1, a * 2, b + 10], [i, x, x]
    )
    found = paddle.static.Executor().run(main, fetch_list=[one, other])
    assert [v.tolist() for v in found] == [[8.0], [31.0]]


def test_a_loop_carries_structures(main):
    state = {"h": paddle.ones([2]), "c": [paddle.zeros([2])]}
    i, n = number(0), number(2)

    def body(i, state):
        return [i + 1, {"h": state["h"] * 2.0, "c": [state["c"][0] + state["h"]]}]

    _, state = nn.while_loop(lambda i, _: i < n, body, [i, state])
    assert run(main, [state["h"], state["c"][0]]) == [[4.0, 4.0], [3.0, 3.0]]


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("float32", 3), ("float32", 0.5), ("float32", True), ("float64", 0.1), ("int32", 7)]
    + [("int64", False), ("complex64", 2), ("bfloat16", 0.5)],
)
def test_a_number_from_the_body_takes_the_element_type_of_its_variable(main, dtype, value):
    start = paddle.zeros([1], dtype)
    _, y = nn.while_loop(lambda i, y: i < 2, lambda i, y: [i + 1, value], [number(0), start])
    (found,) = paddle.static.Executor().run(main, fetch_list=[y], return_numpy=False)
    assert y.dtype.name == found._dtype().name == dtype
    expected = paddle.static.Executor().run(main, fetch_list=[paddle.full([1], value, dtype)])
    assert np.array_equal(np.array(found), expected[0])


def test_a_body_of_another_structure_is_refused(main):
    i = number(0)
    with pytest.raises(ArgumentError, match=r"it gets \[int64\[1\].*returns \[int64.*, int64"):
        nn.while_loop(lambda i: i < 3, lambda i: [i, i], [i])
    with pytest.raises(ArgumentError, match="should not be empty"):
        nn.while_loop(lambda: True, lambda: [], [])
    with pytest.raises(ArgumentTypeError, match="body in while_loop should be callable"):
        nn.while_loop(lambda i: i < 3, None, [i])
    with pytest.raises(DtypeError, match="must be of bool"):
        nn.while_loop(lambda i: i, lambda i: [i], [i])


def test_a_loop_in_eager_mode_is_python():
    i, s = paddle.to_tensor([0]), paddle.to_tensor([1.0], stop_gradient=False)
    j, t = nn.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * 2.0), (i, s))
    t.backward()
    assert (j.tolist(), t.tolist(), s.grad.tolist(), i.tolist()) == ([3], [8.0], [8.0], [0])
    assert nn.cond(paddle.to_tensor(False), lambda: 1, None) is None


def test_a_list_is_written_read_and_joined(main):
    x = paddle.static.data("x", [2])
    array = paddle.tensor.create_array("float32", [x, x * 2.0])
    array = paddle.tensor.array_write(x * 3.0, number(2), array)
    paddle.tensor.array_write(x * 4.0, number(0), array)
    length = paddle.tensor.array_length(array)
    first = paddle.tensor.array_read(array, number(0))
    stacked, joined = paddle.stack(array, axis=1), paddle.concat([array])
    one, sizes = paddle.tensor.manipulation.tensor_array_to_tensor(array, axis=0)
    found = run(main, [length, first, stacked, joined, one, sizes], x=[1.0, 2.0])
    rows = [4.0, 8.0, 2.0, 4.0, 3.0, 6.0]
    assert found == [[3], [4.0, 8.0], [[4.0, 2.0, 3.0], [8.0, 4.0, 6.0]], rows, rows, [2, 2, 2]]


def test_what_is_read_of_a_list_stays_when_the_list_changes(main):
    x = number(1)
    array = paddle.tensor.array_write(x, number(0))
    read = paddle.tensor.array_read(array, number(0))
    paddle.increment(read)
    paddle.tensor.array_write(number(9), number(0), array)
    paddle.increment(x)
    again = paddle.tensor.array_read(array, number(0))
    assert run(main, [read, again, x]) == [[2], [9], [2]]


def test_places_outside_a_list_are_refused(main):
    x = paddle.static.data("x", [1])
    array = paddle.tensor.array_write(x, number(2))
    for place, law in ((5, "place 5 of a list of 3"), (1, "place 1 of a list of 3")):
        y = paddle.tensor.array_read(array, number(place))
        with pytest.raises(RangeError, match=law):
            run(main, [y], x=[1.0])
        main.global_block().ops.pop()
        main.changed()
    with pytest.raises(RangeError, match="nothing was written at place 0"):
        run(main, [paddle.stack(array)], x=[1.0])
    with pytest.raises(ArgumentTypeError, match="should be tensor array variable"):
        paddle.tensor.array_read(x, number(0))
    with pytest.raises(DtypeError, match="must be int64"):
        paddle.tensor.array_write(x, x, array)


def test_a_list_that_only_a_branch_writes_is_empty_where_that_does_not_run(main):
    x = paddle.static.data("x", [1])
    array = paddle.tensor.create_array("float32")
    nn.cond(x < 1.0, lambda: paddle.tensor.array_write(x, number(0), array) and None, None)
    length = paddle.tensor.array_length(array)
    assert [run(main, [length], x=[v]) for v in (0.0, 3.0)] == [[[1]], [[0]]]


def test_branches_return_lists_of_tensors(main):
    x = paddle.static.data("x", [2])

    def times(*factors):
        return lambda: paddle.tensor.create_array("float32", [x * f for f in factors])

    array = nn.cond(paddle.sum(x) < 2.0, times(1.0), times(2.0, 3.0))
    found = [paddle.tensor.array_length(array), paddle.tensor.array_read(array, number(0))]
    assert run(main, found, x=[0.0, 1.0]) == [[1], [0.0, 1.0]]
    assert run(main, found, x=[3.0, 4.0]) == [[2], [6.0, 8.0]]


def test_a_block_runs_where_its_inputs_have_elements(main):
    x, y = paddle.static.data("x", [-1]), paddle.zeros([1])
    with ConditionalBlock([x]).block():
        paddle.assign(paddle.sum(x, keepdim=True), y)
    assert run(main, [y], x=[1.0, 2.0]) == [[3.0]]
    assert run(main, [y], x=[]) == [[0.0]]


def test_choices_are_made_by_number(main):
    x = paddle.static.data("x", [2])
    mask = paddle.full([1], 1, "int32")
    outs = [main.current_block().create_var(shape=[2], dtype="float32") for _ in range(3)]
    select_output(x, outs, mask)
    assert run(main, [select_input(outs, mask)], x=[1.0, 2.0]) == [[1.0, 2.0]]
    with pytest.raises(ArgumentTypeError, match="'outputs' in select_output must be list or tuple"):
        select_output(x, x, mask)
    with pytest.raises(DtypeError, match="'mask' in select_input must be int32"):
        select_input(outs, number(0))


def test_a_program_with_blocks_is_pruned_to_what_is_asked(main):
    x = paddle.static.data("x", [1])
    y = nn.cond(x < 1.0, lambda: x + 1.0, lambda: x + 2.0)
    nn.cond(x < 2.0, lambda: x + 3.0, lambda: x + 4.0)
    pruned = main._prune([y])
    assert sum(o.type == "conditional_block" for o in pruned.global_block().ops) == 2
    assert run(pruned, [y.name], x=[0.0]) == [[1.0]]


MODULES = (
    "scull.static.nn.block",
    "scull.static.nn.branch",
    "scull.static.nn.control_flow",
    "scull.static.nn.loop",
    "scull.static.nn.recurrence",
    "scull.tensor.array",
    "scull.tensor.blank",
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted
    assert results.failed == 0


def test_a_tensor_without_a_value_gets_it_in_a_branch_or_at_once(main):
    x, out = paddle.static.data("x", [1]), paddle.tensor.create_tensor("float32", "out")
    with ConditionalBlock([x]).block():
        paddle.assign(x * 2.0, out)
    assert run(main, ["out"], x=[3.0]) == [[6.0]]
    paddle.disable_static()
    eager = paddle.tensor.create_tensor("float32", "out", persistable=True)
    told = eager.name, eager.persistable, eager.dtype, eager.shape, eager._is_initialized()
    assert told == ("out", True, paddle.float32, [], False)
    paddle.assign(paddle.ones([2]), eager)
    assert (eager.tolist(), eager._is_initialized()) == ([1.0, 1.0], True)
