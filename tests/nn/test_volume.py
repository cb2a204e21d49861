"""Convolution and pooling of volumes, what undoes pooling, and their layers."""

import inspect

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, RangeError, ShapeError
from scull.nn import functional as F

RANDOM = np.random.default_rng(3)


def tensor(*shape):
    made = paddle.to_tensor(RANDOM.standard_normal(shape).astype("float32"))
    made.stop_gradient = False
    return made


def same(found, expected):
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-5)


def deep(x, axis=2):
    """A volume one layer deep."""
    return x.unsqueeze(axis)


FLAT = {
    "conv2d": lambda x, w: (
        F.conv2d(x, w, stride=2, padding=[1, 0], dilation=[1, 2], groups=2),
        F.conv3d(deep(x), deep(w), None, [1, 2, 2], [0, 1, 0], [1, 1, 2], 2),
    ),
    "conv2d SAME": lambda x, w: (
        F.conv2d(x, w, None, 2, "SAME", groups=2),
        F.conv3d(deep(x), deep(w), None, [1, 2, 2], "SAME", groups=2),
    ),
    "conv2d_transpose": lambda x, w: (
        F.conv2d_transpose(x, w, None, 2, 1, [0, 1], groups=2),
        F.conv3d_transpose(deep(x), deep(w), None, [1, 2, 2], [0, 1, 1], [0, 0, 1], 2),
    ),
    "max_pool2d": lambda x, w: (
        F.max_pool2d(x, 3, 2, [[0, 0], [0, 0], [1, 0], [0, 1]], ceil_mode=True),
        F.max_pool3d(deep(x), [1, 3, 3], [1, 2, 2], [0, 0, 1, 0, 0, 1], ceil_mode=True),
    ),
    "avg_pool2d": lambda x, w: (
        F.avg_pool2d(x, [2, 3], 2, 1, exclusive=False),
        F.avg_pool3d(deep(x), [1, 2, 3], [1, 2, 2], [0, 1, 1], exclusive=False),
    ),
    "avg_pool2d by 5": lambda x, w: (
        F.avg_pool2d(x, 2, divisor_override=5),
        F.avg_pool3d(deep(x), [1, 2, 2], divisor_override=5),
    ),
    "adaptive_avg_pool2d": lambda x, w: (
        F.adaptive_avg_pool2d(x, [None, 3]),
        F.adaptive_avg_pool3d(deep(x), [1, None, 3]),
    ),
    "adaptive_max_pool2d": lambda x, w: (
        F.adaptive_max_pool2d(x, 4),
        F.adaptive_max_pool3d(deep(x), [None, 4, 4]),
    ),
}


@pytest.mark.parametrize("name", FLAT)
def test_a_volume_one_deep_gives_what_its_image_gives(name):
    x, w = tensor(2, 4, 7, 6), tensor(4, 2, 3, 2)
    image, volume = FLAT[name](x, w)
    same(volume.squeeze(2), image)
    dout = tensor(*image.shape)
    first = paddle.grad([image], [x, w], [dout], allow_unused=True)
    second = paddle.grad([volume], [x, w], [deep(dout)], allow_unused=True)
    for one, other in zip(first, second, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            same(other, one)


def last(x):
    """The same volumes with the channels on the last axis."""
    return x.transpose([0, 2, 3, 4, 1])


def test_the_channels_may_be_the_last_axis():
    x, w, b = tensor(1, 2, 4, 5, 3), tensor(4, 2, 2, 2, 2), tensor(4)
    same(F.conv3d(last(x), w, b, data_format="NDHWC"), last(F.conv3d(x, w, b)))
    spread = tensor(2, 3, 2, 2, 2)
    out = F.conv3d_transpose(last(x), spread, b[:3], 2, data_format="NDHWC")
    same(out, last(F.conv3d_transpose(x, spread, b[:3], 2)))
    same(F.max_pool3d(last(x), 2, data_format="NDHWC"), last(F.max_pool3d(x, 2)))
    same(F.adaptive_avg_pool3d(last(x), 2, "NDHWC"), last(F.adaptive_avg_pool3d(x, 2)))


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_unpooling_puts_the_largest_elements_back(axes):
    x = tensor(2, 3, *(6, 4, 4)[:axes])
    pool, unpool = (getattr(F, f"max_{kind}{axes}d") for kind in ("pool", "unpool"))
    out, places = pool(x, 2, return_mask=True)
    back = unpool(out, places, 2)
    assert back.shape == x.shape
    kept = back.numpy() != 0
    assert kept.sum() == np.prod(out.shape)
    np.testing.assert_array_equal(back.numpy()[kept], x.numpy()[kept])
    (dx,) = paddle.grad([back.sum()], [x])
    np.testing.assert_array_equal(dx.numpy(), kept)


def test_unpooling_may_be_told_its_size():
    x = tensor(1, 1, 5, 5)
    out, places = F.max_pool2d(x, 2, return_mask=True)
    assert F.max_unpool2d(out, places, 2).shape == [1, 1, 4, 4]
    assert F.max_unpool2d(out, places, 2, output_size=[5, 5]).shape == [1, 1, 5, 5]
    assert F.max_unpool2d(out, places, 2, output_size=[1, 1, 5, 4]).shape == [1, 1, 5, 4]
    rows, spots = F.max_pool1d(tensor(1, 1, 5), 2, return_mask=True)
    for size in ([5], [1, 5], [1, 1, 5]):
        assert F.max_unpool1d(rows, spots, 2, output_size=size).shape == [1, 1, 5]


V, W, MASK = tensor(1, 2, 4, 4, 4), tensor(2, 2, 2, 2, 2), paddle.zeros([1, 2, 4, 4, 4], "int32")
MISTAKES = {
    "axes": (ShapeError, lambda: F.conv3d(V[0], W)),
    "filter": (ShapeError, lambda: F.conv3d(V, W[0])),
    "channels": (ShapeError, lambda: F.conv3d(V[:, :1], W)),
    "order": (ArgumentError, lambda: F.conv3d(V, W, data_format="NCHW")),
    "padding": (ArgumentError, lambda: F.conv3d(V, W, padding=-1)),
    "paddings": (ArgumentError, lambda: F.conv3d(V, W, padding=[1, 1])),
    "size of output": (ArgumentError, lambda: F.conv3d_transpose(V, W, output_size=9)),
    "output twice": (
        ArgumentError,
        lambda: F.conv3d_transpose(V, W, stride=2, output_size=9, output_padding=1),
    ),
    "window": (ArgumentError, lambda: F.max_pool3d(V, [2, 2])),
    "large window": (ShapeError, lambda: F.max_pool3d(V, 5, stride=1)),
    "mask": (
        ArgumentError,
        lambda: F.max_pool3d(V, 2, return_mask=True, data_format="NDHWC"),
    ),
    "valid ceiling": (ArgumentError, lambda: F.avg_pool3d(V, 2, padding="VALID", ceil_mode=True)),
    "parts": (ArgumentError, lambda: F.adaptive_avg_pool3d(V, [2, 2])),
    "image": (ShapeError, lambda: F.adaptive_max_pool3d(V[0], 2)),
    "unpooled size": (ArgumentError, lambda: F.max_unpool3d(V, MASK, 2, output_size=[8, 8, 10])),
    "unpooled axes": (ArgumentError, lambda: F.max_unpool3d(V, MASK, 2, output_size=[8])),
    "unpooled number": (ArgumentTypeError, lambda: F.max_unpool3d(V, MASK, 2, output_size=8)),
    "place": (RangeError, lambda: F.max_unpool3d(V, MASK + 512, 2)),
    "places": (ShapeError, lambda: F.max_unpool3d(V, MASK[:, :1], 2)),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_refused(mistake):
    error, call = MISTAKES[mistake]
    with pytest.raises(error):
        call()


LAYERS = {
    "Conv3D(2, 3, 3, padding=1, padding_mode='circular')": V,
    "Conv3D(2, 4, [1, 2, 2], groups=2, data_format='NDHWC')": last(V),
    "Conv3DTranspose(2, 3, 2, stride=2, output_padding=1)": V,
    "MaxPool3D(2, stride=1)": V,
    "AvgPool3D(2, padding=1, exclusive=False)": V,
    "AdaptiveAvgPool3D([1, None, 3])": V,
    "AdaptiveMaxPool3D(3)": V,
    "BatchNorm3D(2)": V,
    "InstanceNorm3D(2)": V,
    "SyncBatchNorm(2)": V,
    "GroupNorm(1, 2)": V,
    "SpectralNorm([1, 2, 4, 4, 4], dim=1, power_iters=3)": V,
}


@pytest.mark.parametrize("call", LAYERS)
def test_a_layer_gives_the_same_in_a_program(call):
    x, results = LAYERS[call].numpy(), []
    for static in (False, True):
        paddle.seed(5)
        if not static:
            results.append(eval(f"paddle.nn.{call}")(paddle.to_tensor(x)).numpy())
            continue
        main, startup = paddle.static.Program(), paddle.static.Program()
        paddle.enable_static()
        try:
            with paddle.static.program_guard(main, startup):
                out = eval(f"paddle.nn.{call}")(paddle.static.data("x", list(x.shape)))
            executor = paddle.static.Executor()
            executor.run(startup)
            results += executor.run(main, feed={"x": x}, fetch_list=[out])
        finally:
            paddle.disable_static()
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5, atol=1e-6)


REPRESENTATIONS = """
Conv3D(3, 4, kernel_size=[3, 3, 3], stride=[2, 2, 2], padding=1, data_format=NCDHW)
Conv3DTranspose(4, 4, kernel_size=[3, 3, 3], data_format=NCDHW)
MaxPool3D(kernel_size=2, stride=None, padding=0)
MaxUnPool2D(output_size=None)
AdaptiveMaxPool3D(output_size=2, return_mask=False)
SyncBatchNorm(num_features=3, momentum=0.9, epsilon=1e-05)
SpectralNorm()
""".strip().splitlines()


def test_layers_print_as_the_reference_prints_them():
    nn = paddle.nn
    layers = [nn.Conv3D(3, 4, 3, 2, 1), nn.Conv3DTranspose(4, 4, 3), nn.MaxPool3D(2)]
    layers += [nn.MaxUnPool2D(2), nn.AdaptiveMaxPool3D(2), nn.SyncBatchNorm(3)]
    assert [repr(layer) for layer in [*layers, nn.SpectralNorm([2, 2])]] == REPRESENTATIONS


def test_batch_norms_become_synchronous_ones_with_their_numbers():
    net = paddle.nn.Sequential(
        paddle.nn.Conv2D(3, 5, 3), paddle.nn.Sequential(paddle.nn.BatchNorm2D(5, weight_attr=False))
    )
    old = net[1][0]
    old._mean.set_value(np.arange(5, dtype="float32"))
    found = paddle.nn.SyncBatchNorm.convert_sync_batchnorm(net)
    new = found[1][0]
    assert found is net
    assert isinstance(new, paddle.nn.SyncBatchNorm)
    assert new.weight is None
    assert new.bias is old.bias
    assert new._mean.tolist() == [0, 1, 2, 3, 4]


def test_groups_without_attributes_have_ones_and_zeros_that_stay():
    layer = paddle.nn.GroupNorm(2, 4, weight_attr=False, bias_attr=False)
    assert (layer.weight.tolist(), layer.bias.tolist()) == ([1.0] * 4, [0.0] * 4)
    assert layer.weight.stop_gradient
    assert layer.bias.stop_gradient
    assert list(layer.state_dict()) == ["weight", "bias"]


def test_the_vectors_of_a_spectral_norm_are_kept_and_not_learned():
    layer = paddle.nn.SpectralNorm([4, 3, 2], dim=1)
    assert {n: v.shape for n, v in layer.state_dict().items()} == {"weight_u": [3], "weight_v": [8]}
    before = layer.weight_u.numpy().copy()
    layer(tensor(4, 3, 2))
    np.testing.assert_array_equal(layer.weight_u.numpy(), before)
    assert not layer.weight_u.trainable
    for shape, dim in (([4, 0], 0), ([2, 2], 2)):
        with pytest.raises(ArgumentError):
            paddle.nn.SpectralNorm(shape, dim)


def test_each_instance_norm_names_its_own_order_of_axes():
    for axes, order in ((1, "NCL"), (2, "NCHW"), (3, "NCDHW")):
        made = inspect.signature(getattr(paddle.nn, f"InstanceNorm{axes}D").__init__)
        assert made.parameters["data_format"].default == order


@pytest.mark.parametrize("number", [1, np.int64(1), np.int32(1)])
def test_one_number_pads_every_side_whether_it_is_of_python_or_of_numpy(number):
    x = paddle.to_tensor([[[1.0, 2.0, 3.0]]])
    around = [[[2.0, 1.0, 2.0, 3.0, 2.0]]]
    assert paddle.nn.Pad1D(number, mode="reflect")(x).tolist() == around
    assert F.pad(x, number, mode="reflect", data_format="NCL").tolist() == around
    assert paddle.nn.Pad2D(number)(paddle.ones([1, 1, 1, 2])).shape == [1, 1, 3, 4]
