"""Convolutions, pooling and attention of sparse tensors against those of whole ones; layers."""

import itertools

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, AssertError, DtypeError, ShapeError, UnsupportedError
from tests.sparse.drawn import at_places, check, drawn

sparse = paddle.sparse
F = sparse.nn.functional
DIMS = pytest.mark.parametrize("dims", [2, 3])


def images(dims, seed=0, share=0.2, channels=2):
    sizes = [2, 7, 6, 5][: dims + 1]
    return drawn(seed, [*sizes, channels], share, axes=dims + 1)


def filters(dims, kernel, channels=2, out=3):
    values = np.random.default_rng(1).standard_normal([*kernel[:dims], channels, out])
    return paddle.to_tensor(values, stop_gradient=False)


def dense_conv(dims, x, weight, **how):
    last = "NHWC" if dims == 2 else "NDHWC"
    turned = weight.transpose([dims + 1, dims, *range(dims)])
    convolve = getattr(paddle.nn.functional, f"conv{dims}d")
    return convolve(x, turned, data_format=last, **how)


@DIMS
@pytest.mark.parametrize("kernel", [(1, 1, 1), (2, 2, 2), (3, 2, 1), (3, 3, 3)])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"stride": 2},
        {"padding": 1},
        {"dilation": 2},
        {"stride": [2, 1, 3], "padding": [1, 0, 2], "dilation": [1, 2, 1]},
    ],
    ids=str,
)
def test_a_convolution_is_that_of_the_whole(how, kernel, dims):
    how = {n: v if isinstance(v, int) else v[:dims] for n, v in how.items()}
    x, weight = images(dims), filters(dims, kernel)

    def convolved(x, w):
        return getattr(F, f"conv{dims}d")(x, w, **how)

    found = check(convolved, lambda x, w: dense_conv(dims, x, w, **how), x, weight)
    ones = paddle.ones_like(weight)
    met = dense_conv(dims, (x.to_dense() != 0).astype("float64"), ones, **how).numpy()[..., 0] > 0.5
    assert np.array_equal(found.indices().numpy(), np.array(met.nonzero()))


@DIMS
@pytest.mark.parametrize("kernel", [(1, 1, 1), (3, 1, 5), (3, 3, 3)])
@pytest.mark.parametrize("dilation", [1, 2])
def test_a_convolution_that_stays_has_the_places_of_its_operand(dilation, kernel, dims):
    x, weight = images(dims), filters(dims, kernel)
    stored = (x.to_dense().abs().sum(-1, keepdim=True) > 0).astype("float64")
    padding = [k // 2 * dilation for k in kernel[:dims]]

    def staying(x, w):
        return getattr(F, f"subm_conv{dims}d")(x, w, dilation=dilation)

    def whole(x, w):
        return dense_conv(dims, x, w, padding=padding, dilation=dilation) * stored

    found = check(staying, whole, x, weight)
    assert found.lies_as(x)


def test_half_precision_is_convolved_in_float32_and_rounded_once():
    x, weight = images(3), filters(3, (3, 3, 3))
    half, other = sparse.cast(x, None, "bfloat16"), weight.astype("bfloat16")
    found = F.subm_conv3d(half, other)
    exact = F.subm_conv3d(sparse.cast(half, None, "float32"), other.astype("float32"))
    assert found.values().tolist() == exact.values().astype("bfloat16").tolist()
    found.backward()
    assert x.grad.dtype is weight.grad.dtype is paddle.float64


def test_a_table_and_a_search_find_the_same_neighbours():
    few = sparse.sparse_coo_tensor(
        [[0, 0], [5, 5], [50, 51], [70, 70]], [[2.0], [3.0]], [1, 100, 100, 100, 1]
    )
    out = F.subm_conv3d(few, paddle.ones([3, 3, 3, 1, 1]))
    assert out.values().tolist() == [[5.0], [5.0]]
    spread = F.conv3d(few, paddle.ones([2, 2, 2, 1, 1]))
    assert spread.nnz() == 12 and spread.values().sum().item() == 8 * 5.0


def test_convolutions_that_stay_work_out_their_neighbours_once():
    x, weight = images(3), filters(3, (3, 3, 3), 2, 2)
    once = F.subm_conv3d(x, weight)
    rules = dict(x.rules)
    again = F.subm_conv3d(F.relu(once), weight, key="any")
    assert again.rules is x.rules and len(rules) == len(x.rules)
    assert all(x.rules[how] is made for how, made in rules.items())


def test_elements_in_any_order_and_stored_twice_are_put_in_order():
    places = [[0, 0, 0], [2, 0, 2], [1, 1, 1]]
    x = sparse.sparse_coo_tensor(places, [[1.0], [2.0], [4.0]], [1, 3, 3, 1])
    found = F.subm_conv2d(x, paddle.ones([1, 1, 1, 1]))
    assert found.indices().tolist() == [[0, 0], [0, 2], [1, 1]]
    assert found.values().tolist() == [[2.0], [5.0]]


def test_images_without_elements_go_through_every_layer():
    places = np.zeros((4, 0), int)
    x = sparse.sparse_coo_tensor(places, np.zeros((0, 2)), [1, 4, 4, 4, 2], stop_gradient=False)
    weight = filters(3, (3, 3, 3))
    for found in (F.conv3d(x, weight), F.subm_conv3d(x, weight), F.max_pool3d(x, 2)):
        assert found.nnz() == 0
        found.backward()
    assert x.grad.values().shape == [0, 2] and not weight.grad.numpy().any()


def test_gradients_of_gradients_of_convolutions_are_those_of_the_whole():
    def squares(x, w, convolve):
        dx, dw = paddle.grad((convolve(x, w) ** 3).sum(), [x, w], create_graph=True)
        dx = dx.values() if dx.is_sparse() else dx[tuple(places)]
        return (dx**2).sum() + (dw**2).sum()

    x, w = images(2), filters(2, (3, 2))
    places = x.indices().numpy()
    whole = paddle.to_tensor(x.numpy(), stop_gradient=False)
    found = paddle.grad(squares(x, w, lambda x, w: F.conv2d(x, w).values()), [x, w])
    expected = paddle.grad(squares(whole, w, lambda x, w: dense_conv(2, x, w)), [whole, w])
    assert np.allclose(found[0].values().numpy(), at_places(x, expected[0].numpy()))
    assert np.allclose(found[1].numpy(), expected[1].numpy())


@pytest.mark.parametrize("stride", [None, 1, [2, 1, 2]])
@pytest.mark.parametrize("padding", [0, 1])
def test_the_greatest_of_a_window_is_one_that_is_stored(stride, padding):
    x, kernel = drawn(0, [2, 5, 4, 6, 2], 0.2, axes=4), (2, 3, 2)
    x = x.like((x.values() - 1.0).detach())  # all below 0
    x.stop_gradient = False
    steps = kernel if stride is None else (1, 1, 1) if stride == 1 else stride
    least = np.where(x.numpy() == 0, -np.inf, x.numpy())
    pads = [(0, 0), *[(padding, padding)] * 3, (0, 0)]
    least = np.pad(least, pads, constant_values=-np.inf)
    ranges = [
        range(0, n - k + 1, s) for n, k, s in zip(least.shape[1:], kernel, steps, strict=False)
    ]
    found, total = F.max_pool3d(x, list(kernel), stride, padding), 0
    for image, *spot in itertools.product(range(2), *map(enumerate, ranges)):
        window = least[(image, *(slice(b, b + k) for (_, b), k in zip(spot, kernel, strict=True)))]
        greatest = window.max((0, 1, 2))
        if np.isfinite(greatest).all():
            total += 1
            assert np.allclose(found.numpy()[(image, *(i for i, _ in spot))], greatest)
    assert found.nnz() == total
    found.backward()
    assert x.grad.values().sum().item() == 2 * total


def test_stored_elements_are_normalised_and_running_statistics_kept():
    layer = sparse.nn.BatchNorm(2, momentum=0.5)
    x = drawn(0, [2, 3, 4, 5, 2], 0.3, axes=4, dtype="float32")
    values = x.values().numpy()
    mean, variance = values.mean(0), values.var(0)
    out = layer(x)
    assert np.allclose(out.values().numpy(), (values - mean) / np.sqrt(variance + 1e-5), atol=1e-5)
    assert np.allclose(layer._mean.numpy(), mean / 2, atol=1e-6)
    (out * out).backward()
    assert np.allclose(layer.bias.grad.numpy(), 2 * out.values().numpy().sum(0), atol=1e-3)
    layer.eval()
    running = layer._variance.numpy() + 1e-5
    used = (values - layer._mean.numpy()) / np.sqrt(running)
    assert np.allclose(layer(x).values().numpy(), used, atol=1e-5)
    with pytest.raises(ArgumentError, match="sparse BatchNorm only support"):
        sparse.nn.BatchNorm(2, data_format="NCDHW")(x)
    with pytest.raises(UnsupportedError, match="is no SparseCooTensor"):
        layer(x.to_dense())


def test_layers_of_batch_normalisation_become_those_of_all_processes():
    layers = sparse.nn.BatchNorm(2), paddle.nn.BatchNorm2D(2), sparse.nn.ReLU()
    net = sparse.nn.SyncBatchNorm.convert_sync_batchnorm(paddle.nn.Sequential(*layers))
    own, dense, other = net
    assert type(own) is sparse.nn.SyncBatchNorm and type(dense) is paddle.nn.SyncBatchNorm
    assert own.weight is layers[0].weight and other is layers[2]
    x = drawn(0, [2, 3, 4, 5, 2], 0.3, axes=4, dtype="float32")
    assert np.array_equal(own(x).values().numpy(), sparse.nn.BatchNorm(2)(x).values().numpy())


@pytest.mark.parametrize("shape", [[4, 6], [2, 3, 4]])
def test_softmax_of_rows_is_that_of_what_is_stored(shape):
    x = drawn(0, shape, 0.5, "csr")
    stored = paddle.to_tensor(x.numpy() != 0)

    def whole(x):
        return paddle.where(stored, paddle.nn.functional.softmax(x + least), zero)

    least = paddle.where(
        stored, paddle.to_tensor(0.0, "float64"), paddle.to_tensor(-1e30, "float64")
    )
    zero = paddle.zeros(shape, "float64")
    check(F.softmax, whole, x)
    found = F.softmax(x)
    assert np.allclose(found.to_dense().sum(-1).numpy()[stored.numpy().any(-1)], 1.0)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_of_coordinates_goes_along_any_axis(axis):
    x = drawn(0, [3, 4, 5], 0.4)
    raised = np.exp(x.numpy()) * (x.numpy() != 0)
    found = F.softmax(x, axis).numpy()
    total = raised.sum(axis, keepdims=True)
    assert np.allclose(found, raised / np.where(total == 0, 1, total))
    behind = drawn(0, [3, 4], 0.9, axes=1)
    assert np.allclose(F.softmax(behind).values().sum(-1).numpy(), 1.0)
    with pytest.raises(UnsupportedError, match="the last axis"):
        F.softmax(x.to_sparse_csr(), 1)


def test_activations_are_those_of_the_stored_elements():
    x = sparse.sparse_csr_tensor([0, 2, 3], [0, 2, 1], [-2.0, 3.0, 9.0], [2, 3])
    assert F.relu(x).values().tolist() == sparse.nn.ReLU()(x).values().tolist() == [0.0, 3.0, 9.0]
    assert F.relu6(x).values().tolist() == sparse.nn.ReLU6()(x).values().tolist() == [0.0, 3.0, 6.0]
    assert F.leaky_relu(x, 0.5).values().tolist() == [-1.0, 3.0, 9.0]
    assert sparse.nn.LeakyReLU(0.5)(x).values().tolist() == [-1.0, 3.0, 9.0]
    assert sparse.nn.Softmax()(x).values()[2].item() == 1.0
    assert str(sparse.nn.Softmax(name="n")) == "Softmax(name=n)"


@pytest.mark.parametrize("masks", [(), ("padding",), ("attn",), ("padding", "attn")])
def test_attention_looks_where_the_mask_stores(masks):
    rng = np.random.default_rng(0)
    query, key, value = (
        paddle.to_tensor(rng.standard_normal((2, 3, 5, 4)), stop_gradient=False) for _ in range(3)
    )
    mask = drawn(1, [6, 5, 5], 0.5, "csr").detach()
    seen = (mask.numpy() != 0).reshape(2, 3, 5, 5)
    given = {}
    if "padding" in masks:
        given["key_padding_mask"] = rng.integers(0, 2, (2, 5)).astype("float64")
        seen &= given["key_padding_mask"][:, None, None] != 0
    if "attn" in masks:
        given["attn_mask"] = rng.integers(0, 2, (5, 5)).astype("float64")
        seen &= given["attn_mask"] != 0
    given = {n: paddle.to_tensor(v) for n, v in given.items()}

    def whole(query, key, value):
        scores = paddle.matmul(query, key, transpose_y=True) / 2.0
        raised = paddle.exp(scores) * paddle.to_tensor(seen * 1.0)
        total = raised.sum(-1, keepdim=True)
        return (raised / (total + (total == 0).astype("float64"))) @ value

    check(lambda *v: F.attention(*v, mask, **given), whole, query, key, value)


def test_a_network_of_sparse_layers_learns():
    paddle.seed(0)
    net = paddle.nn.Sequential(
        sparse.nn.SubmConv3D(2, 8, 3),
        sparse.nn.BatchNorm(8),
        sparse.nn.ReLU(),
        sparse.nn.Conv3D(8, 8, 3, stride=2, padding=1),
        sparse.nn.MaxPool3D(2),
    )
    head = paddle.nn.Linear(8, 1)
    parameters = [*net.parameters(), *head.parameters()]
    adam = paddle.optimizer.Adam(0.02, parameters=parameters)
    x = drawn(0, [4, 8, 8, 8, 2], 0.1, axes=4, dtype="float32").detach()
    target = paddle.to_tensor([[0.0], [1.0], [0.0], [1.0]])
    losses = []
    for _ in range(25):
        out = head(net(x).to_dense().mean([1, 2, 3]))
        loss = ((out - target) ** 2).mean()
        loss.backward()
        adam.step()
        adam.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.1 * losses[0]
    names = [p.name for p in parameters]
    assert names[0].startswith("subm_conv3d_") and net.state_dict()["0.weight"].shape == [
        *(3, 3, 3, 2, 8)
    ]


def test_layers_show_themselves_as_paddle_shows_them():
    conv = sparse.nn.SubmConv3D(2, 3, 3, stride=2, padding=1, dilation=2, key="a")
    assert str(conv) == (
        "SubmConv3D(2, 3, kernel_size=[3, 3, 3], stride=[2, 2, 2], padding=1, "
        "dilation=[2, 2, 2], data_format=NDHWC)"
    )
    assert str(sparse.nn.MaxPool3D(2, 2, 1)) == "MaxPool3D(kernel_size=2, stride=2, padding=1)"
    assert str(sparse.nn.SubmConv2D(2, 3, 3, bias_attr=False)) == (
        "SubmConv2D(2, 3, kernel_size=[3, 3], data_format=NHWC)"
    )


X, W = images(3), filters(3, (2, 2, 2))


@pytest.mark.parametrize(
    ("call", "error", "law"),
    [
        (lambda: F.conv3d(X, W, groups=2), AssertError, "groups=1"),
        (lambda: F.conv3d(X, W, data_format="NCDHW"), ArgumentError, "should be 'NDHWC'"),
        (lambda: F.conv2d(X, W), ShapeError, "should be 4D"),
        (lambda: F.conv3d(X.to_dense(), W), UnsupportedError, "is no SparseCooTensor"),
        (lambda: F.conv3d(X, W[..., :1, :]), ShapeError, "do not fit 2 channels"),
        (lambda: F.conv3d(X, W[0]), ShapeError, "do not fit"),
        (lambda: F.conv3d(X, W.astype("float32")), DtypeError, "cast one"),
        (lambda: F.conv3d(X, W, padding="SAME"), UnsupportedError, "one number an axis"),
        (lambda: F.conv3d(X, W, padding=[1, 0, 1, 1, 0, 1]), UnsupportedError, "one number"),
        (lambda: F.conv3d(X, W, stride=[1, 2]), ArgumentError, "length should be 3"),
        (lambda: F.subm_conv3d(drawn(0, [1, 2, 2, 2, 2], 1), W), ShapeError, "alone are a dense"),
        (lambda: F.conv3d(X, W, dilation=9), ShapeError, "does not fit 7 and 0 zeros"),
        (lambda: F.conv3d(X, W, stride=0), ArgumentError, "a window of 2 places 1 apart, each 0"),
        (lambda: F.conv3d(X, W, padding=2**31 - 1), ArgumentError, "more than an int64 can count"),
        (lambda: F.max_pool3d(X, 99), ShapeError, "does not fit"),
        (lambda: F.max_pool3d(X.to_dense(), 2), AssertError, "SparseCooTensor"),
        (lambda: F.max_pool3d(X, 2, data_format="NCDHW"), AssertError, "NDHWC"),
        (lambda: F.max_pool3d(X, 2, ceil_mode=True), UnsupportedError, "ceil_mode"),
        (lambda: F.relu(X.to_dense()), UnsupportedError, "is no Sparse"),
        (lambda: F.attention(W, W, W, X), ShapeError, "4 axes"),
        (lambda: sparse.nn.Conv3D(2, 3, 3, groups=2), AssertError, "groups=1"),
        (lambda: sparse.nn.Conv3D(2, 3, 3, padding_mode="reflect"), AssertError, "zeros"),
        (lambda: sparse.nn.Conv3D(2, 3, 3, weight_attr=False), AssertError, "weight_attr"),
        (lambda: sparse.nn.Conv2D(2, 3, 3, data_format="NCHW"), ArgumentError, "must be 'NHWC'"),
    ],
)
def test_what_no_layer_computes_is_refused_by_a_law(call, error, law):
    with pytest.raises(error, match=law):
        call()
