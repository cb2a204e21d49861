"""Functions of networks: values, gradients and what they refuse."""

import numpy as np
import pytest
from scipy import special

import scull as paddle
from scull.core import session
from scull.errors import ShapeError
from scull.nn import functional as F
from scull.tensor import ones, to_tensor, zeros

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((4, 6)).astype("float32")
LABELS = np.array([0, 5, 2, 2])
WEIGHTS = np.linspace(0.5, 2.0, 6).astype("float32")
LOGS = special.log_softmax(X.astype("float64"), axis=1)
CHOSEN = -LOGS[np.arange(4), LABELS]


def close(found, expected):
    np.testing.assert_allclose(found.numpy(), expected, rtol=2e-6, atol=1e-6)


def test_cross_entropy_is_the_mean_of_what_each_label_costs():
    close(F.cross_entropy(to_tensor(X), to_tensor(LABELS)), CHOSEN.mean())
    column = to_tensor(LABELS[:, None])
    close(F.cross_entropy(to_tensor(X), column, reduction="none"), CHOSEN[:, None])
    close(F.cross_entropy(to_tensor(X), to_tensor(LABELS), reduction="sum"), CHOSEN.sum())


def test_ignored_labels_count_for_nothing():
    labels = to_tensor(np.where(LABELS == 2, -100, LABELS))
    close(F.cross_entropy(to_tensor(X), labels), CHOSEN[LABELS != 2].mean())
    close(
        F.cross_entropy(to_tensor(X), to_tensor(LABELS), ignore_index=2),
        CHOSEN[LABELS != 2].mean(),
    )
    nothing = to_tensor(np.full(4, -100))
    assert F.cross_entropy(to_tensor(X), nothing).item() == 0


@pytest.mark.parametrize("ignored", [-100, 2])
def test_a_weighted_mean_is_over_the_weights_of_labels_that_count(ignored):
    own = np.where(ignored == LABELS, 0, WEIGHTS[LABELS])
    found = F.cross_entropy(
        to_tensor(X), to_tensor(LABELS), to_tensor(WEIGHTS), ignore_index=ignored
    )
    close(found, (CHOSEN * own).sum() / own.sum())


def test_classes_may_lie_along_another_axis():
    images = to_tensor(np.ascontiguousarray(X.T).reshape(1, 6, 2, 2))
    labels = to_tensor(LABELS.reshape(1, 2, 2))
    found = F.cross_entropy(images, labels, to_tensor(WEIGHTS), axis=1, reduction="none")
    close(found, (CHOSEN * WEIGHTS[LABELS]).reshape(1, 2, 2))


def test_labels_may_be_likelihoods():
    likely = special.softmax(RANDOM.standard_normal((4, 6)), axis=1).astype("float32")
    costs = -(likely * LOGS).sum(1)
    close(F.cross_entropy(to_tensor(X), to_tensor(likely), soft_label=True), costs.mean())
    weights = likely @ WEIGHTS
    found = F.cross_entropy(to_tensor(X), to_tensor(likely), to_tensor(WEIGHTS), soft_label=True)
    close(found, (costs * weights).sum() / weights.sum())


def test_smoothed_labels_spread_a_part_over_all_classes():
    likely = np.eye(6)[LABELS] * 0.9 + 0.1 / 6
    found = F.cross_entropy(to_tensor(X), to_tensor(LABELS), label_smoothing=0.1)
    close(found, -(likely * LOGS).sum(1).mean())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_likelihoods_are_smoothed_like_the_labels_they_stand_for(dtype):
    likely = np.eye(X.shape[1])[LABELS].astype(dtype)
    found = F.cross_entropy(to_tensor(X), to_tensor(likely), label_smoothing=0.1)
    of_labels = F.cross_entropy(to_tensor(X), to_tensor(LABELS), label_smoothing=0.1)
    close(found, of_labels.numpy())


def test_a_softmax_may_be_given_instead_of_scores():
    chances = to_tensor(special.softmax(X, axis=1))
    close(F.cross_entropy(chances, to_tensor(LABELS), use_softmax=False), CHOSEN.mean())


def test_the_gradient_of_cross_entropy_is_softmax_less_label():
    x = to_tensor(X, stop_gradient=False)
    F.cross_entropy(x, to_tensor(LABELS)).backward()
    close(x.grad, (np.exp(LOGS) - np.eye(6)[LABELS]) / 4)


@pytest.mark.parametrize(
    ("call", "law"),
    [
        (lambda x, y: F.cross_entropy(x, y, reduction="q"), "'reduction' in softmax_cross"),
        (lambda x, y: F.cross_entropy(x, zeros([4, 1, 1], "int64")), "label_dims 3"),
        (lambda x, y: F.cross_entropy(x, x, soft_label=True, ignore_index=1), "'-100'"),
        (lambda x, y: F.cross_entropy(x, y, weight=ones([4])), "class_dimension"),
        (lambda x, y: F.mse_loss(x, x, "q"), "'mse_loss'"),
        (lambda x, y: F.l1_loss(x, x, "q"), "L1Loss"),
        (lambda x, y: F.dropout(x, 1.5), "between 0 and 1"),
        (lambda x, y: F.dropout(x, 0.5, mode="q"), "'downscale_in_infer'"),
        (lambda x, y: F.dropout(x, 0.5, axis=3), "less than dimensions of x:2"),
        (lambda x, y: F.dropout2d(x), "should be 4, but received 2 != 4"),
        (lambda x, y: F.embedding(y, x, padding_idx=8), r"within \[-4, 4\)"),
        (lambda x, y: F.embedding(zeros([1], "int64") + 7, x), "7"),
        (lambda x, y: F.layer_norm(x, 4), r"Given normalized_shape is \[4\]"),
        (lambda x, y: F.conv2d(zeros([1, 2, 4, 4]), zeros([1, 2, 2, 2]), padding="foo"), "'foo'"),
        (lambda x, y: F.conv2d(zeros([1, 2, 4, 4]), zeros([1, 3, 2, 2])), "3"),
        (lambda x, y: F.conv2d(x, x, data_format="HW"), "'NCHW' or 'NHWC'"),
        (lambda x, y: F.pad(x, [1, 1], "q"), "mode should be one of"),
        (lambda x, y: F.linear(x, x), "x has 6 columns and y has 4 rows"),
        (lambda x, y: F.glu(zeros([3])), "odd number"),
        (lambda x, y: F.batch_norm(zeros([3]), zeros([3]), ones([3])), "larger than 1"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_law(call, law):
    with pytest.raises((ValueError, IndexError), match=law):
        call(to_tensor(X), to_tensor(LABELS))


def test_losses_of_differences():
    x, y = to_tensor([1.0, 2.0, 5.0]), to_tensor([1.0, 4.0, 1.0])
    assert F.mse_loss(x, y).item() == pytest.approx(20 / 3)
    assert F.mse_loss(x, y, "sum").item() == 20
    assert F.square_error_cost(x, y).tolist() == F.mse_loss(x, y, "none").tolist() == [0, 4, 16]
    assert F.l1_loss(x, y).item() == 2
    assert F.smooth_l1_loss(x, y, "none", delta=2.0).tolist() == [0, 2, 6]


def test_losses_of_chances():
    p, y = to_tensor(special.expit(X)), to_tensor(np.abs(np.sin(X)))
    expected = -(y.numpy() * np.log(p.numpy()) + (1 - y.numpy()) * np.log1p(-p.numpy()))
    close(F.binary_cross_entropy(p, y, reduction="none"), expected)
    close(F.binary_cross_entropy_with_logits(to_tensor(X), y, reduction="none"), expected)
    columns = p.reshape([-1, 1]), y.reshape([-1, 1])
    close(F.log_loss(*columns, epsilon=1e-12), expected.reshape(-1, 1))
    assert F.binary_cross_entropy(zeros([1]), ones([1])).item() == pytest.approx(100, 1e-3)
    kl = special.rel_entr(y.numpy(), np.exp(LOGS)).astype("float32")
    close(F.kl_div(to_tensor(LOGS.astype("float32")), y, "batchmean"), kl.sum() / 4)


def test_nll_loss_of_a_log_softmax_is_cross_entropy():
    logs = F.log_softmax(to_tensor(X))
    close(F.nll_loss(logs, to_tensor(LABELS)), CHOSEN.mean())
    own = np.where(LABELS == 2, 0, WEIGHTS[LABELS])
    found = F.nll_loss(logs, to_tensor(LABELS), to_tensor(WEIGHTS), ignore_index=2)
    close(found, (CHOSEN * own).sum() / own.sum())
    close(F.nll_loss(logs, to_tensor(LABELS), reduction="none"), CHOSEN)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_nll_loss_of_a_matrix_takes_its_labels_as_a_column(reduction):
    logs, labels = F.log_softmax(to_tensor(X), axis=1), to_tensor(LABELS)
    options = {"weight": to_tensor(WEIGHTS), "ignore_index": 2, "reduction": reduction}
    found = F.nll_loss(logs, labels.unsqueeze(1), **options)
    close(found, F.nll_loss(logs, labels, **options).numpy())
    with pytest.raises(ShapeError, match="input has 2 axes and label 2"):
        F.nll_loss(logs, to_tensor(np.zeros((len(LABELS), 2), "int64")))


def test_dropout_keeps_the_mean_and_says_nothing_in_use():
    session.generator().manual_seed(0)
    x = ones([200, 100])
    kept = F.dropout(x, 0.25).numpy()
    assert set(np.unique(kept).tolist()) == {0.0, np.float32(1 / 0.75).item()}
    assert abs(kept.mean() - 1) < 0.02
    assert F.dropout(x, 0.25, training=False).numpy().all()
    close(F.dropout(x, 0.25, training=False, mode="downscale_in_infer"), 0.75)
    assert F.dropout(x, 0) is x


def test_dropout_of_a_program_with_a_seed_drops_the_same_in_every_run():
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        main.random_seed = 7
        with paddle.static.program_guard(main):
            results = [F.dropout(paddle.ones([64]), 0.5) for _ in range(2)]
            exe = paddle.static.Executor()
            first, second = (exe.run(main, fetch_list=results) for _ in "ab")
    finally:
        paddle.disable_static()
    assert first[0].tolist() == second[0].tolist() == second[1].tolist()
    assert 0 < np.count_nonzero(first[0]) < 64
    made = [o for o in main.global_block().ops if o.type == "dropout"]
    assert [(o.attr("seed"), o.attr("fix_seed")) for o in made] == [(7, True)] * 2


def test_dropout_along_axes_drops_the_others_together():
    session.generator().manual_seed(0)
    rows = F.dropout(ones([50, 7]), 0.5, axis=0).numpy()
    assert all(len(set(row)) == 1 for row in rows.tolist())
    images = F.dropout2d(ones([5, 9, 3, 3]), 0.5).numpy().reshape(45, 9)
    assert all(len(set(channel)) == 1 for channel in images.tolist())
    assert 0 < images.mean() < 2


def test_alpha_dropout_keeps_mean_and_variance():
    session.generator().manual_seed(0)
    x = to_tensor(RANDOM.standard_normal((400, 100)).astype("float32"))
    found = F.alpha_dropout(x, 0.3).numpy()
    assert abs(found.mean()) < 0.02
    assert abs(found.var() - 1) < 0.05


def test_batch_norm_counts_statistics_in_training_only():
    x = to_tensor(RANDOM.standard_normal((8, 3, 2, 2)).astype("float32") * 3 + 1)
    mean, variance = zeros([3]), ones([3])
    out = F.batch_norm(x, mean, variance, training=True, momentum=0.5)
    own = x.numpy().mean((0, 2, 3)), x.numpy().var((0, 2, 3))
    close(mean, own[0] / 2)
    close(variance, (1 + own[1]) / 2)
    np.testing.assert_allclose(out.numpy().mean((0, 2, 3)), 0, atol=1e-6)
    before = mean.numpy()
    used = F.batch_norm(x, mean, variance)
    assert (mean.numpy() == before).all()
    shape = (1, 3, 1, 1)
    scaled = (x.numpy() - mean.numpy().reshape(shape)) / np.sqrt(
        variance.numpy().reshape(shape) + 1e-5
    )
    close(used, scaled)


def test_the_gradient_of_batch_norm_survives_another_step_of_training():
    x = to_tensor(RANDOM.standard_normal((4, 3)).astype("float32"), stop_gradient=False)
    mean, variance = zeros([3]), ones([3])
    first = F.batch_norm(x, mean, variance, training=True, data_format="NC")
    F.batch_norm(x, mean, variance, training=True, data_format="NC")
    first.backward(ones([4, 3]))
    np.testing.assert_allclose(x.grad.numpy(), 0, atol=1e-5)


def test_layer_norm_needs_no_weight():
    close(F.layer_norm(to_tensor([[1.0, 3.0]]), [2], epsilon=0.0), [[-1.0, 1.0]])


@pytest.mark.parametrize("p", [1, 2, 3, float("inf")])
def test_a_normalized_vector_has_length_one(p):
    found = F.normalize(to_tensor(X), p=p).numpy()
    np.testing.assert_allclose(np.linalg.norm(found, p, axis=1), 1, rtol=1e-5)


def test_a_vector_of_zeros_is_normalized_to_zeros_with_a_gradient():
    x = zeros([1, 3])
    x.stop_gradient = False
    out = F.normalize(x)
    out.backward(ones([1, 3]))
    assert out.tolist() == [[0.0, 0.0, 0.0]]
    assert np.isfinite(x.grad.numpy()).all()


PADDED = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@pytest.mark.parametrize("mode", PADDED)
def test_padding_is_numpys(mode):
    x = np.arange(12, dtype="float32").reshape(1, 1, 3, 4)
    found = F.pad(to_tensor(x), [2, 1, 0, 2], mode)
    close(found, np.pad(x, [(0, 0), (0, 0), (0, 2), (2, 1)], PADDED[mode]))


def test_padding_of_all_axes_goes_in_their_order():
    close(
        F.pad(to_tensor(X), [1, 0, 0, 2], value=7.0), np.pad(X, [(1, 0), (0, 2)], constant_values=7)
    )
    last = F.pad(to_tensor(X[None]), [1, 2], data_format="NLC")
    close(last, np.pad(X[None], [(0, 0), (1, 2), (0, 0)]))
    assert F.pad(to_tensor(X[None]), [-1, -2], data_format="NCL").shape == [1, 4, 3]


def test_convolutions_take_paddings_in_every_form():
    x, w = zeros([1, 2, 8, 8]), zeros([3, 2, 3, 3])
    for padding, shape in [
        (1, [8, 8]),
        ("same", [8, 8]),
        ("VALID", [6, 6]),
        ([1, 2], [8, 10]),
        ([1, 2, 3, 4], [9, 13]),
        ([[0, 0], [0, 0], [1, 2], [3, 4]], [9, 13]),
    ]:
        assert F.conv2d(x, w, padding=padding).shape == [1, 3, *shape]
    assert F.conv1d(zeros([2, 2, 8]), zeros([3, 2, 3]), zeros([3]), padding=1).shape == [2, 3, 8]


def test_pools_divide_images():
    x = to_tensor(np.arange(16, dtype="float32").reshape(1, 1, 4, 4))
    assert F.max_pool2d(x, 2).tolist() == [[[[5.0, 7.0], [13.0, 15.0]]]]
    assert F.avg_pool2d(x, 2).tolist() == [[[[2.5, 4.5], [10.5, 12.5]]]]
    assert F.avg_pool2d(x, 2, divisor_override=2).tolist() == [[[[5.0, 9.0], [21.0, 25.0]]]]
    assert F.adaptive_avg_pool2d(x, [1, None]).tolist() == [[[[6.0, 7.0, 8.0, 9.0]]]]
    assert F.adaptive_max_pool2d(x, 1).tolist() == [[[[15.0]]]]
    rows = to_tensor(np.arange(6, dtype="float32").reshape(1, 1, 6))
    assert F.max_pool1d(rows, 2).tolist() == [[[1.0, 3.0, 5.0]]]
    assert F.adaptive_avg_pool1d(rows, 2).tolist() == [[[1.0, 4.0]]]


def test_functions_in_place_change_their_operand():
    x = to_tensor([-1.0, 2.0])
    assert F.relu_(x) is x
    assert x.tolist() == [0.0, 2.0]
    leaf = to_tensor([1.0], stop_gradient=False)
    with pytest.raises(ValueError, match="can't use inplace strategy"):
        F.tanh_(leaf)


def test_every_function_is_public():
    assert all(callable(getattr(F, name)) for name in F.__all__)


def test_the_chance_of_dropout_may_be_a_tensor():
    x = ones([4])
    assert F.dropout(x, to_tensor(1.0)).tolist() == [0.0] * 4
    with pytest.raises(ValueError, match="between 0 and 1"):
        F.dropout(x, to_tensor(2.0))


@pytest.mark.parametrize("masked", [False, True])
def test_sparse_attention_is_attention_to_the_keys_that_are_listed(masked):
    q, k, v = (to_tensor(np.random.default_rng(i).normal(size=[1, 2, 3, 4])) for i in range(3))
    offset = to_tensor(np.array([[[0, 2, 3, 5], [0, 1, 2, 5]]], "int32"))
    columns = to_tensor(np.array([[[0, 1, 2, 0, 2], [2, 0, 1, 2, 0]]], "int32"))
    seen = np.zeros([1, 2, 3, 3])
    for head, (bounds, keys) in enumerate(
        [((0, 2, 3, 5), (0, 1, 2, 0, 2)), ((0, 1, 2, 5), (2, 0, 1, 2, 0))]
    ):
        for row in range(3):
            seen[0, head, row, list(keys[bounds[row] : bounds[row + 1]])] = 1
    masks = {}
    if masked:
        masks = {"key_padding_mask": zeros([1, 3]) + to_tensor([1.0, 1.0, 0.0])}
        masks["attn_mask"] = to_tensor([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
        seen = seen * [1, 1, 0] * masks["attn_mask"].numpy()
    weights = np.exp(q.numpy() @ k.numpy().swapaxes(-1, -2) / 2) * seen
    total = weights.sum(-1, keepdims=True)
    expected = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0) @ v.numpy()
    close(F.sparse_attention(q, k, v, offset, columns, **masks), expected)


def test_functions_are_found_where_paddle_has_them():
    assert F.diag_embed(to_tensor([1.0, 2.0])).tolist() == [[1.0, 0.0], [0.0, 2.0]]
    places, classes = F.class_center_sample(to_tensor([3, 1, 3]), 20, 6)
    assert places.tolist() == [1, 0, 1]
    assert classes.tolist()[:2] == [1, 3]
    assert len(set(classes.tolist())) == 6


def test_celu_of_a_negative_alpha_bends_as_its_formula_says():
    x = to_tensor([-1.0, 1.0], stop_gradient=False)
    out = F.celu(x, -2.0)
    close(out, [-2.0 * (np.exp(0.5) - 1.0), 1.0])
    out.sum().backward()
    close(x.grad, [np.exp(0.5), 1.0])


def test_one_slope_of_prelu_may_be_a_number():
    slope = to_tensor(0.5, stop_gradient=False)
    out = F.prelu(to_tensor([-2.0, 2.0]), slope)
    assert out.tolist() == [-1.0, 2.0]
    out.sum().backward()
    assert slope.grad.shape == [] and slope.grad.item() == -2.0


def test_a_pooling_window_wider_than_the_image_is_cut_to_it():
    x = paddle.arange(16.0).reshape([1, 1, 4, 4])
    x.stop_gradient = False
    out = F.avg_pool2d(x, 7)
    assert out.tolist() == [[[[7.5]]]]
    out.sum().backward()
    close(x.grad, np.full([1, 1, 4, 4], 1 / 16))
    assert F.max_pool2d(x, [2, 7]).tolist() == [[[[7.0], [15.0]]]]
    assert F.avg_pool2d(x, 7, padding=1, exclusive=False).item() == pytest.approx(120 / 36)
    with pytest.raises(ValueError, match="does not fit"):
        F.max_pool2d(x, 9, stride=5)


def test_the_sizes_of_adaptive_pooling_may_be_a_tensor():
    x = paddle.arange(8.0).reshape([1, 1, 2, 4])
    assert F.adaptive_avg_pool2d(x, to_tensor([1, 2])).tolist() == [[[[2.5, 4.5]]]]
    assert F.adaptive_avg_pool2d(x, to_tensor(1)).tolist() == [[[[3.5]]]]


@pytest.mark.parametrize("spell", [np.array, lambda sizes: tuple(np.array(sizes))])
def test_windows_and_sizes_may_be_numpy_integers(spell):
    x, w = paddle.arange(16.0).reshape([1, 1, 4, 4]), paddle.ones([1, 1, 2, 2])
    assert F.max_pool2d(x, spell([2, 4]), spell([2, 1])).tolist() == [[[[7.0], [15.0]]]]
    assert F.adaptive_avg_pool2d(x, spell([1, 2])).tolist() == [[[[6.5, 8.5]]]]
    assert F.conv2d(x, w, stride=spell([3, 3]), padding=spell([0, 1])).shape == [1, 1, 1, 2]
    assert F.interpolate(x, size=spell([2, 2])).tolist() == [[[[0.0, 2.0], [8.0, 10.0]]]]
    assert paddle.nn.Conv2D(3, 4, spell([2, 3])).weight.shape == [4, 3, 2, 3]
    assert paddle.nn.LayerNorm(spell([3])[0]).weight.shape == [3]


def test_multi_margin_loss_takes_any_power():
    found = F.multi_margin_loss(to_tensor([[1.0, 3.0]]), to_tensor([0]), p=3)
    assert found.item() == 13.5  # (3 - 1 + 1) ** 3 / 2


def test_more_than_all_of_a_label_is_not_spread():
    with pytest.raises(ValueError, match="label_smoothing is"):
        F.cross_entropy(to_tensor([[1.0, 3.0]]), to_tensor([0]), label_smoothing=1.1)


def test_margins_of_losses_are_checked_where_paddle_does():
    x, y = to_tensor([[1.0, 0.0]]), to_tensor([[1.0, 0.0]])
    assert F.cosine_embedding_loss(x, y, to_tensor([-1]), margin=-2.0).item() == 3.0
    with pytest.raises(ValueError, match="margin"):
        paddle.nn.CosineEmbeddingLoss(1.5)
    with pytest.raises(ValueError, match="epsilon"):
        paddle.nn.PoissonNLLLoss(epsilon=0)


def test_distances_that_are_none_are_refused():
    x = to_tensor([[1.0, 0.0]])
    with pytest.raises(ValueError, match="not greater than 0"):
        F.triplet_margin_with_distance_loss(x, x, x, lambda a, b: (a - b).sum(-1))


def test_whole_counts_are_numbers_of_the_rates_beside_them():
    rates, counts = paddle.to_tensor([0.5, 1.5]), paddle.to_tensor([1, 3])
    options = {"full": True, "reduction": "none"}
    whole = F.poisson_nll_loss(rates, counts, **options)
    assert whole.tolist() == F.poisson_nll_loss(rates, counts.astype("float32"), **options).tolist()
