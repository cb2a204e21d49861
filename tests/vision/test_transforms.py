"""Images are transformed as PaddlePaddle 2.6.2 does: tests/data/reference/images.json."""

import doctest
import json
import pickle
import random
import re
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, AssertError, UnsupportedError
from scull.vision import transforms as T
from scull.vision.transforms import chance, functional, pillow, transform
from scull.vision.transforms import functional as F
from scull.vision.transforms.geometry import origins, perspective_matrix
from tools.harvest_images import COLORED, KINDS, MOST, PLAIN, WARPED, called, facts, made, pixels

DATA = Path(__file__).resolve().parent.parent / "data" / "reference"
FACTS = json.loads((DATA / "images.json").read_text(encoding="utf-8"))
LEVELS = {"uint8": 1, "float32": 2e-5, "float64": 2e-5}  # the peer rounds bytes by fixed point

# Where scull does what Paddle's documentation says, and Paddle does not.
OTHER = {
    "tensor": {
        "F.affine(image, 30, [0, 0], 1.0, [0, 0], center=(3, 4))",  # width and height exchanged
        "F.rotate(image, 33, expand=True, fill=3)",  # a row more than of the other kinds
        f"{WARPED[8]}",  # between two pixels it takes the other one
        "T.RandomPerspective(1.0)(image)",
    },
}


def expected(kind, call):
    """What Paddle gives; arrays are turned as its images of Pillow, their colours too."""
    return FACTS["pil" if kind == "array" and call in WARPED + COLORED else kind].get(call)


CASES = [
    (kind, call)
    for kind in KINDS
    for call in [*PLAIN, *WARPED, *COLORED[: 4 if kind != "array" else 1]]
    if expected(kind, call) and call not in OTHER.get(kind, ())
]


def on_borders(call, shape, *, channels_first):
    """Which of the numbers come from the very border of two pixels.

    A matrix that a library solves for, whose last bit depends on the CPU, says from which of them.
    """
    borders = np.zeros(shape, bool)
    if call == WARPED[8]:
        size = shape[-2:] if channels_first else shape[:2]
        points = map(json.loads, re.findall(r"\[\[.*?\]\]", call))
        places = origins(perspective_matrix(*points), size)
        near = np.any([np.abs(x - np.round(x)) < 1e-9 for x in places], axis=0)
        assert near.sum() == 2
        borders[:] = near if channels_first or len(shape) == 2 else near[..., None]
    flat = borders.ravel()
    return flat[:: -(-flat.size // MOST)]


@pytest.mark.parametrize("module", [chance, functional, transform])
def test_the_examples_print_what_they_say(module):
    results = doctest.testmod(module)
    assert results.attempted and not results.failed


@pytest.mark.parametrize(("kind", "call"), CASES)
def test_an_image_becomes_what_paddle_makes_of_it(kind, call):
    if kind == "pil" and not pillow.is_installed():
        pytest.skip("Pillow is not installed")
    image = pillow.part("Image") if kind == "pil" else None
    found = facts(called(call, F, T, made(kind, paddle.to_tensor, image)))
    wanted = expected(kind, call)
    assert found["shape"] == wanted["shape"] or found["shape"] == [*wanted["shape"], 1]
    assert found["dtype"] == wanted["dtype"]
    told = ~on_borders(call, found["shape"], channels_first=kind == "tensor")
    difference = np.abs(np.subtract(found["numbers"], wanted["numbers"]))[told].max()
    assert difference <= LEVELS[found["dtype"]]


@pytest.mark.parametrize("factor", [0.2, -0.4])
def test_colours_of_an_array_move_as_those_of_a_tensor(factor):
    moved = F.adjust_hue(pixels(), factor)
    tensor = F.adjust_hue(F.to_tensor(pixels()), factor).numpy().transpose(1, 2, 0) * 255
    assert np.abs(moved - tensor).max() <= 0.51
    assert np.array_equal(F.adjust_hue(pixels(), 0.0), pixels())
    assert np.array_equal(F.adjust_hue(pixels()[..., :1], 0.3), pixels()[..., :1])


@pytest.mark.parametrize("call", [*PLAIN[1:4], *PLAIN[8:20], *WARPED[:2], *COLORED[:2]])
def test_a_tensor_of_bytes_is_transformed_in_its_range(call):
    if "symmetric" in call:
        pytest.skip("Tensors have no symmetric border")
    image = paddle.to_tensor(pixels().transpose(2, 0, 1))
    found = called(call, F, T, (image, "CHW", None))
    floats = called(call, F, T, (image.astype("float32") / 255, "CHW", None))
    assert found.dtype == np.uint8
    assert np.abs(found - np.rint(floats * 255)).max() <= 1


@pytest.mark.parametrize(
    "call",
    ["F.resize(image, 6)", "F.rotate(image, 33)", "F.pad(image, 2)", "F.hflip(image)"]
    + ["F.normalize(image, [1.0] * 3, [2.0] * 3)", "F.adjust_hue(image, 0.2)"]
    + ["F.erase(image, 1, 2, 3, 4, 0.5)", "F.to_grayscale(image, 3)", "F.center_crop(image, 4)"],
)
def test_a_program_transforms_as_eager_mode_does(call):
    x = np.float32(pixels().transpose(2, 0, 1) / 255)
    wanted = eval(call, {"F": F, "image": paddle.to_tensor(x)}).numpy()
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            out = eval(call, {"F": F, "image": paddle.static.data("x", x.shape)})
            with pytest.raises(UnsupportedError, match="would draw once"):
                T.RandomCrop(3)(out)
            with pytest.raises(UnsupportedError, match="declare its height and width"):
                F.resize(paddle.static.data("unknown", [3, -1, -1]), 4)
        [found] = paddle.static.Executor().run(main, feed={"x": x}, fetch_list=[out])
    finally:
        paddle.disable_static()
    assert np.allclose(found, wanted, atol=1e-6)


def test_images_of_one_channel_and_of_none_keep_their_axes():
    for image in (pixels()[..., :1], pixels()[..., 0]):
        for function in (
            F.hflip,
            F.vflip,
            lambda i: F.resize(i, (9, 12)),
            lambda i: F.rotate(i, 7),
        ):
            assert function(image).shape == image.shape
    assert F.to_tensor(pixels()[..., 0], "hwc").shape == [9, 12, 1]
    batch = paddle.to_tensor(np.float32(pixels().transpose(2, 0, 1)[None]))
    assert F.resize(batch, 6).shape == [1, 3, 6, 8]
    assert F.rotate(batch, 90, expand=True).shape == [1, 3, 12, 9]


def test_parts_of_a_sample_are_transformed_by_their_keys():
    class Move(T.BaseTransform):
        def _get_params(self, inputs):
            return len(inputs)

        def _apply_image(self, image):
            return image + self.params

        def _apply_boxes(self, boxes):
            return boxes - self.params

    assert Move(("image", "boxes"))((1, 5, "label")) == (4, 2, "label")
    with pytest.raises(UnsupportedError, match="keypoints is unsupported"):
        Move(("keypoints",))
    with pytest.raises(ArgumentError, match="keys should be a sequence"):
        Move(3)
    with pytest.raises(UnsupportedError, match="no `_apply_image`"):
        T.BaseTransform()(1)


def test_a_transform_of_your_own_asks_what_an_image_is():
    kinds = *(made(k, paddle.to_tensor, pytest.importorskip("PIL.Image"))[0] for k in KINDS), 3
    asked = F._is_numpy_image, F._is_pil_image, F._is_tensor_image
    found = [[is_kind(image) for is_kind in asked] for image in kinds]
    assert found == [[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0]]


def test_a_list_of_transforms_names_the_one_that_failed():
    steps = T.Compose([T.Resize(4), T.ToTensor("CWH")])
    assert repr(steps).startswith("Compose(\n    <")
    with pytest.raises(ArgumentError, match="should be CHW or HWC") as caught:
        steps(pixels())
    assert "in the transform <" in caught.value.__notes__[0]


def test_random_transforms_travel_to_workers_and_draw_what_is_possible():
    random.seed(0)
    np.random.seed(0)
    jitter = pickle.loads(pickle.dumps(T.ColorJitter(0.4, 0.4, 0.4, 0.4)))
    assert jitter(pixels()).shape == (9, 12, 3)
    for value in (3, "random", (1, 2, 3)):
        erased = T.RandomErasing(1.0, value=value)(pixels())
        assert (erased != pixels()).any()
    assert (T.RandomErasing(1.0, value="random")(F.to_tensor(pixels())).numpy() > 1).any()
    assert T.RandomCrop(20, pad_if_needed=True)(pixels()).shape == (20, 20, 3)
    assert T.RandomResizedCrop(4, scale=(9.0, 9.0))(pixels()).shape == (4, 4, 3)
    assert np.array_equal(T.ColorJitter()(pixels()), pixels())


def test_images_of_pillow_need_pillow():
    if pillow.is_installed():
        pytest.skip("Pillow is installed")
    with pytest.raises(ImportError, match="pip install pillow, or use arrays"):
        pillow.part("Image")
    assert not pillow.is_image(pixels())


@pytest.mark.parametrize(
    ("call", "error", "law"),
    [
        (lambda i: F.resize("image", 3), ArgumentTypeError, "should be PIL Image or Tensor Image"),
        (lambda i: F.resize(i, "3"), ArgumentTypeError, "inappropriate size arg: 3"),
        (lambda i: F.resize(i, (3, 0)), ArgumentError, r"positive, not \(3, 0\)"),
        (lambda i: T.Resize(-1)(i), ArgumentError, "sizes of an image are positive"),
        (lambda i: F.resize(i, 3, "best"), ArgumentError, "not 'best'"),
        (lambda i: F.pad(i, "1"), ArgumentTypeError, "inappropriate padding arg"),
        (lambda i: F.pad(i, 1, fill=None), ArgumentTypeError, "inappropriate fill arg"),
        (lambda i: F.pad(i, 1, padding_mode=1), ArgumentTypeError, "padding_mode arg"),
        (lambda i: F.pad(i, 1, padding_mode="wrap"), AssertError, "constant, edge, reflect"),
        (lambda i: F.pad(i, (1, 2, 3)), ArgumentError, "not a 3 element tuple"),
        (lambda i: F.pad(F.to_tensor(i), 1, padding_mode="symmetric"), ArgumentError, "a Tensor"),
        (lambda i: F.pad(F.to_tensor(i), 1, fill=(1, 2, 3)), ArgumentError, "one number"),
        (lambda i: F.adjust_hue(i, 0.6), ArgumentError, r"0.6 is not in \[-0.5, 0.5\]"),
        (lambda i: F.adjust_contrast(i, -1), AssertError, "should be non-negative"),
        (lambda i: F.adjust_contrast(paddle.ones([2, 3, 3]), 1), ArgumentError, "either 1 or 3"),
        (lambda i: F.to_grayscale(i, 2), ArgumentError, "either 1 or 3"),
        (lambda i: F.affine(i, "a", [0, 0], 1, 0), ArgumentTypeError, "int or float"),
        (lambda i: F.affine(i, 1, 2, 1, 0), ArgumentTypeError, "translate should be a sequence"),
        (lambda i: F.affine(i, 1, [2], 1, 0), ArgumentError, "of length 2"),
        (lambda i: F.affine(i, 1, [2, 1], 0, 0), ArgumentError, "scale should be positive"),
        (lambda i: F.affine(i, 1, [2, 1], 1, "a"), ArgumentTypeError, "Shear should be"),
        (lambda i: F.affine(i, 1, [2, 1], 1, [1, 2, 3]), ArgumentError, "two values"),
        (lambda i: F.affine(i, 1, [2, 1], 1, 0, center=1), ArgumentTypeError, "center should be"),
        (lambda i: F.rotate(i, 1, "area"), ArgumentError, "nearest, bilinear, bicubic"),
        (lambda i: F.rotate(i, 1, 3), ArgumentTypeError, "should be a string"),
        (lambda i: T.Resize("a"), AssertError, "a number or two, not 'a'"),
        (lambda i: T.RandomHorizontalFlip(2), AssertError, "in range .0, 1., not 2"),
        (lambda i: T.RandomCrop(20)(i), ArgumentError, "9 x 12, and 20 x 20 are cut"),
        (lambda i: T.RandomResizedCrop(3, (2, 1)), AssertError, r"kind \(min, max\)"),
        (lambda i: T.RandomResizedCrop(3, 1), AssertError, "a tuple or list"),
        (lambda i: T.RandomRotation(-1), ArgumentError, "it must be positive"),
        (lambda i: T.RandomRotation([1]), ArgumentError, "sequence of length 2"),
        (lambda i: T.RandomAffine(1, 3), ArgumentTypeError, "translate should be a sequence"),
        (lambda i: T.RandomAffine(1, (2, 0)), ArgumentError, "between 0 and 1"),
        (lambda i: T.RandomAffine(1, scale=(0, 1)), ArgumentError, "should be positive"),
        (lambda i: T.RandomAffine(1, fill={}), ArgumentTypeError, "a sequence or a number"),
        (lambda i: T.RandomPerspective(0.5, 2), AssertError, "distortion_scale"),
        (lambda i: T.RandomErasing(scale=(0, 2)), AssertError, r"in range \[0, 1\]"),
        (lambda i: T.RandomErasing(value={}), AssertError, "number, tuple, list or str"),
        (lambda i: T.RandomErasing(value="a"), ArgumentError, "must be 'random'"),
        (lambda i: T.RandomErasing(1.0, value=(1, 2))(i), ArgumentError, "image's channel"),
        (lambda i: T.BrightnessTransform(-1), ArgumentError, "must be non negative"),
        (lambda i: T.ContrastTransform("a"), ArgumentTypeError, "a single number or"),
        (lambda i: T.HueTransform((-1, 1)), ArgumentError, r"between \(-0.5, 0.5\)"),
        (lambda i: T.Pad((1, 2, 3)), ArgumentError, "not a 3 element tuple"),
    ],
)
def test_what_cannot_be_done_to_an_image_is_refused(call, error, law):
    with pytest.raises(error, match=law):
        call(pixels())


def test_a_transform_of_users_own_may_ask_from_where_to_where_a_factor_is_drawn():
    ask = T.transforms._check_input
    assert ask(0.25, "brightness") == [0.75, 1.25]
    assert ask(2, "contrast") == [0, 3]
    assert ask(0.5, "hue", center=0, bound=(-0.5, 0.5), clip_first_on_zero=False) == [-0.5, 0.5]
    assert ask(0, "saturation") is None
    with pytest.raises(ArgumentError, match="values should be between"):
        ask((0, 2), "hue", center=0, bound=(-0.5, 0.5))
