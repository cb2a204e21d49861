"""What PaddlePaddle makes of images: tests/data/reference/images.json.

    python tools/harvest_images.py tests/data/reference/images.json

with paddlepaddle 2.6.2, Pillow and opencv-python 4.10. Each call is made of an array, of a Tensor
and of an image of Pillow, where Paddle can; of the result are kept shape, dtype and some numbers.
"""

import json
import random
import sys
from pathlib import Path

import numpy as np

POINTS = "[[0, 0], [11, 0], [11, 8], [0, 8]], [[1, 2], [10, 1], [11, 7], [2, 8]]"
PLAIN = [
    "F.to_tensor(image)",
    "F.resize(image, 6)",
    "F.resize(image, (15, 20))",
    "F.resize(image, (5, 7), 'nearest')",
    "F.resize(image, (14, 7), 'bicubic')",
    "F.resize(image, (4, 5), 'area')",
    "F.resize(image, (14, 25), 'area')",
    "F.resize(image, (14, 25), 'lanczos')",
    "F.pad(image, (1, 2, 3, 4), fill=0)",
    "F.pad(image, [1, 2], padding_mode='edge')",
    "F.pad(image, 2, padding_mode='reflect')",
    "F.pad(image, 2, padding_mode='symmetric')",
    "F.crop(image, 1, 2, 5, 6)",
    "F.center_crop(image, (4, 7))",
    "F.hflip(image)",
    "F.vflip(image)",
    "F.adjust_brightness(image, 1.4)",
    "F.adjust_contrast(image, 1.4)",
    "F.to_grayscale(image)",
    "F.to_grayscale(image, 3)",
    "F.normalize(image, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], data_format=layout)",
    "F.erase(image, 1, 2, 3, 4, value)",
    "T.RandomCrop(5, padding=2)(image)",
    "T.RandomResizedCrop(6, interpolation='nearest')(image)",
    "T.RandomHorizontalFlip()(image)",
    "T.RandomVerticalFlip(0.9)(image)",
    "T.RandomErasing(1.0, value=(1, 2, 3))(image)",
    "T.Compose([T.Transpose(), T.Normalize(127.5, 127.5)])(image)",
    "T.Resize((4, 4), 'nearest')(image)",
    "T.CenterCrop(3)(image)",
    "T.Grayscale()(image)",
    "T.Pad([1, 2])(image)",
]
WARPED = [
    "F.affine(image, 30, [2, -1], 1.3, [10, -5])",
    "F.affine(image, 30, [2, -1], 0.8, [10, -5], 'bilinear')",
    "F.affine(image, -20, [0, 0], 1.0, 0.0, 'bicubic')",
    "F.affine(image, 30, [0, 0], 1.0, [0, 0], center=(3, 4))",
    "F.rotate(image, 33)",
    "F.rotate(image, 90)",
    "F.rotate(image, 33, expand=True, fill=3)",
    "F.rotate(image, -50, 'bilinear', center=(2, 3), fill=(1, 2, 3))",
    f"F.perspective(image, {POINTS})",
    f"F.perspective(image, {POINTS}, 'bilinear')",
    "T.RandomRotation(40)(image)",
    "T.RandomAffine(40, (0.2, 0.3), (0.5, 1.5), (-10, 10, -5, 5))(image)",
    "T.RandomPerspective(1.0)(image)",
]
COLORED = [
    "F.adjust_saturation(image, 1.6)",
    "F.adjust_hue(image, 0.2)",
    "F.adjust_hue(image, -0.4)",
    "T.ColorJitter(0.3, 0.4, 0.5, 0.1)(image)",
]
KINDS = ("array", "tensor", "pil")
SEED, MOST = 5, 40


def pixels(height=9, width=12):
    """An image of bytes that only a formula decides."""
    y, x, c = np.mgrid[:height, :width, :3]
    return ((x * 37 + y * 59 + c * 83 + x * y * 7 + (x * x * c) % 11 * 13) % 256).astype("uint8")


def made(kind, to_tensor, pillow):
    """The image of a kind, its layout, and what comes where it is erased."""
    image = pixels()
    if kind == "tensor":
        value = to_tensor(np.float32([0.1, 0.2, 0.3]).reshape(3, 1, 1))
        return to_tensor(np.float32(image.transpose(2, 0, 1) / 255.0)), "CHW", value
    value = np.array([5, 6, 7])
    return (image if kind == "array" else pillow.fromarray(image)), "HWC", value


def called(call, functional, transforms, given):
    """The result of a call as an array."""
    image, layout, value = given
    names = {"F": functional, "T": transforms, "image": image, "layout": layout, "value": value}
    random.seed(SEED)
    np.random.seed(SEED)
    found = eval(call, names)
    return np.asarray(found.numpy() if hasattr(found, "numpy") else found)


def facts(array):
    """Shape, dtype and some numbers of an array, evenly spaced."""
    flat = array.astype("float64").ravel()
    numbers = [round(v, 7) for v in flat[:: -(-flat.size // MOST)].tolist()]
    return {"shape": list(array.shape), "dtype": array.dtype.name, "numbers": numbers}


def main(path):
    import paddle
    from paddle.vision import transforms
    from PIL import Image

    found = {}
    for kind in KINDS:
        for call in [*PLAIN, *WARPED, *COLORED]:
            given = made(kind, paddle.to_tensor, Image)
            try:
                array = called(call, transforms.functional, transforms, given)
            except (KeyError, RuntimeError, TypeError, ValueError) as error:
                print(f"{kind}: {call}: {type(error).__name__}")
                continue
            found.setdefault(kind, {})[call] = facts(array)
    text = json.dumps(found, separators=(",", ":")).replace('},"', '},\n"')
    Path(path).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
