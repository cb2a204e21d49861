"""Metrics gather the numbers of the reference."""

import doctest
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import scull
import scull.metric
from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError, ShapeError
from scull.metric import Accuracy, Auc, Metric, Precision, Recall

CHANCES = arrays.arrays(np.float64, st.integers(1, 50), elements=st.floats(0, 1))

# What the reference gives for the samples of `chances_and_labels`: after 25 of them, after all.
PRECISION = (0.9, 0.8333333333333334)
RECALL = (0.6923076923076923, 0.7142857142857143)
AREA = {
    4095: (0.8717948717948718, 0.8947368421052632),
    10: (0.8557692307692308, 0.8809523809523809),
}
ACCURACY = {
    (1,): ([0.0, 0.2], 0.06666666666666667, ["acc"], [30], [2.0]),
    (1, 3): (
        [[0.0, 0.3], [0.2, 0.4]],
        [0.06666666666666667, 0.3333333333333333],
        ["acc_top1", "acc_top3"],
        [30, 30],
        [2.0, 10.0],
    ),
    (2,): ([0.15, 0.4], 0.23333333333333334, ["acc_top2"], [30], [7.0]),
}


def chances_and_labels():
    random = np.random.RandomState(1)
    chances = random.rand(40)
    labels = (random.rand(40) < chances).astype("int64")
    return chances, labels, random.rand(30, 6).astype("float32"), random.randint(0, 6, 30)


@pytest.mark.parametrize(("kind", "expected"), [(Precision, PRECISION), (Recall, RECALL)])
def test_precision_and_recall_are_those_of_the_reference(kind, expected):
    chances, labels, _, _ = chances_and_labels()
    metric = kind()
    metric.update(chances[:25].astype("float32"), labels[:25])
    first = metric.accumulate()
    metric.update(Tensor(chances[25:].reshape(-1, 1)), Tensor(labels[25:].reshape(-1, 1)))
    assert (first, metric.accumulate()) == expected
    assert metric.name() == kind.__name__.lower()
    metric.reset()
    assert metric.accumulate() == 0.0


@pytest.mark.parametrize("thresholds", AREA)
def test_the_area_is_that_of_the_reference(thresholds):
    chances, labels, _, _ = chances_and_labels()
    both = np.stack([1 - chances, chances], axis=1).astype("float32")
    metric = Auc(num_thresholds=thresholds)
    metric.update(both[:25], labels[:25].reshape(-1, 1))
    first = metric.accumulate()
    metric.update(Tensor(both[25:]), labels[25:])
    assert (first, metric.accumulate()) == AREA[thresholds]
    assert metric.name() == "auc"
    metric.reset()
    assert metric.accumulate() == 0.0


@pytest.mark.parametrize("topk", ACCURACY)
@pytest.mark.parametrize("kind", [Tensor, np.asarray])
def test_accuracy_is_that_of_the_reference(topk, kind):
    _, _, scores, labels = chances_and_labels()
    metric, batches = Accuracy(topk=topk), []
    for part in (slice(0, 20), slice(20, 30)):
        correct = metric.compute(kind(scores[part]), kind(labels[part]))
        batches.append(metric.update(correct))
    gathered = (batches, metric.accumulate(), metric.name(), metric.count, metric.total)
    assert gathered == ACCURACY[topk]
    metric.reset()
    assert metric.accumulate() == (0.0 if len(topk) == 1 else [0.0, 0.0])


def test_labels_may_be_columns_one_hot_rows_or_have_more_axes():
    scores = np.array([[0.3, 0.3, 0.2], [0.1, 0.4, 0.4]])
    one_hot = np.array([[1, 0, 0], [0, 0, 1]])
    column = np.array([[0], [2]])
    for label in (one_hot, column, column[:, 0]):
        assert Accuracy().compute(scores, label).array.tolist() == [[1.0], [0.0]]
    deep = Accuracy(topk=(1, 2)).compute(
        np.random.RandomState(0).rand(2, 3, 4),
        np.array([[[1], [2], [0]], [[3], [3], [1]]]),
    )
    assert deep.array.tolist() == [
        [[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]],
        [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
    ]
    assert Accuracy(topk=(1, 5)).compute(scores, column).array.shape == (2, 3)


def test_correct_ones_may_come_as_an_array():
    assert Accuracy().update(np.array([[1.0], [0.0]])) == 0.5


@given(CHANCES)
def test_half_rounds_up_for_precision_and_to_even_for_recall(chances):
    labels = np.ones(len(chances))
    precision, recall = Precision(), Recall()
    precision.update(chances, labels)
    recall.update(chances, labels)
    assert precision.tp == np.sum(chances + 0.5 >= 1)
    assert recall.tp == np.sum(chances > 0.5)
    assert recall.tp + recall.fn == len(chances)


@given(CHANCES, st.randoms(use_true_random=False))
def test_the_area_is_the_chance_that_a_positive_stands_above_a_negative(chances, random):
    labels = np.array([random.random() < 0.5 for _ in chances])
    metric = Auc()
    metric.update(np.stack([1 - chances, chances], axis=1), labels)
    bins = np.floor(chances * 4095)
    above = np.sign(bins[labels][:, None] - bins[~labels][None, :])
    expected = np.mean((above + 1) / 2) if above.size else 0.0
    assert metric.accumulate() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (
            lambda: Precision().update([1], np.ones(1)),
            ValueError,
            "The 'preds' must be a numpy ndarray or Tensor.",
        ),
        (
            lambda: Recall().update(np.ones(1), [1]),
            ValueError,
            "The 'labels' must be a numpy ndarray or Tensor.",
        ),
        (
            lambda: Auc().update([1], np.ones(1)),
            ValueError,
            "The 'preds' must be a numpy ndarray or Tensor.",
        ),
        (
            lambda: Precision().update(np.ones((1, 2)), np.ones(1)),
            ShapeError,
            "preds is (1, 2) and labels is (1,): not one number a sample",
        ),
        (
            lambda: Auc().update(np.full((1, 2), 2.0), np.ones(1)),
            AssertionError,
            "a chance in `preds` lies outside of 0 to 1",
        ),
        (
            lambda: Auc().update(np.full((1, 2), -1.0), np.ones(1)),
            AssertionError,
            "a chance in `preds` lies outside of 0 to 1",
        ),
        (lambda: Metric(), TypeError, "abstract"),
    ],
)
def test_misuse_is_refused_with_its_reason(use, error, message):
    with pytest.raises(error, match=re.escape(message)):
        use()


def test_names_can_be_given():
    assert Accuracy(topk=(1, 2), name="x").name() == ["x_top1", "x_top2"]
    assert Accuracy(name="y").name() == ["y"]
    assert (Precision("p").name(), Recall("r").name(), Auc(name="a").name()) == ("p", "r", "a")


def test_a_metric_without_a_compute_of_its_own_passes_everything_on():
    assert Precision().compute(1, 2, 3) == (1, 2, 3)


def test_the_examples_run():
    results = doctest.testmod(scull.metric.metric)
    assert results.attempted > 0
    assert results.failed == 0


def test_the_share_of_right_rows_is_one_in_both_modes():
    scores = np.array([[0.1, 0.7, 0.2], [0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], "float32")
    label = np.array([[2], [0], [0]], "int64")
    for k, right in ((1, 1), (2, 2), (3, 3)):
        found = scull.metric.accuracy(scull.to_tensor(scores), scull.to_tensor(label), k=k)
        assert found.shape == [] and found.item() == np.float32(right / 3)
        program = scull.static.Program()
        scull.enable_static()
        with scull.static.program_guard(program):
            x, y = scull.static.data("x", [3, 3]), scull.static.data("y", [3, 1], "int64")
            kept = scull.metric.accuracy(x, y, k=k)
        feed = {"x": scores, "y": label}
        (again,) = scull.static.Executor().run(program, feed=feed, fetch_list=[kept])
        scull.disable_static()
        assert again == found.item()


@pytest.mark.parametrize(
    ("scores", "label", "law"),
    [
        (np.zeros((2, 2), "float32"), scull.zeros([2, 1], "int64"), "`input` of accuracy must be"),
        (scull.zeros([2, 2]), np.zeros((2, 1), "int64"), "`label` of accuracy must be"),
        (scull.zeros([2, 2], "int64"), scull.zeros([2, 1], "int64"), "hold floats, not int64"),
    ],
)
def test_what_accuracy_cannot_count_is_refused(scores, label, law):
    with pytest.raises(ArgumentTypeError, match=law):
        scull.metric.accuracy(scores, label)
