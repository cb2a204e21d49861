"""The computations that are measured, by the name that asks for one alone."""

from dataclasses import replace

import numpy as np

from benchmarks.compiled.direct import ADAM, TINY, product
from benchmarks.compiled.network import (
    Network,
    bert,
    classifying,
    gpt,
    lenet,
    mobilenet_v2,
    perceptron,
    resnet18,
    resnet50,
    rows_of_a_block,
)
from benchmarks.compiled.repeated import LSTM, STILL_LAYER
from benchmarks.compiled.workload import Prediction, Training, Workload

TRAINING = ("torch", "torch/compile", "jax")
IMAGES = ("torch", "torch/channels last", "torch/compile", "jax")
SIZES = (64, 128, 256, 512, 1024, 2048)  # of products
PREDICTION = ("onnxruntime", "torch", "torch/compile", "jax")


def normal(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Numbers as data come."""
    return np.random.default_rng(1).standard_normal(shape, np.float32)


def whole(below: int, *shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Labels or words."""
    return np.random.default_rng(2).integers(0, below, shape)


def trained(
    title: str, network: Network, x: np.ndarray, label: np.ndarray, optimizer: str, **kept: object
) -> Training:
    """A step of training."""
    kept = {"peers": TRAINING} | kept
    return Training(
        title=f"step of {title}",
        network=network,
        inputs=(x,),
        label=label,
        optimizer=optimizer,
        **kept,
    )


def predicted(title: str, network: Network, asked: dict[int, float], *x: np.ndarray) -> Prediction:
    """A prediction, from NumPy to NumPy."""
    return Prediction(title=title, network=network, inputs=x, asked=asked, peers=PREDICTION)


def training() -> dict[str, Workload]:
    """Steps of training."""
    return {
        "perceptron": trained(
            "a perceptron 64-64-64-64-10, batch 32, Adam",
            perceptron((64, 64, 64, 64, 10)),
            normal(32, 64),
            whole(10, 32),
            "adam",
            asked={1: 4.0, 2: 4.0},
        ),
        "mlp": trained(
            "a perceptron 784-512-256-10, batch 128, Adam",
            perceptron((784, 512, 256, 10)),
            normal(128, 784),
            whole(10, 128),
            "adam",
            asked={1: 1.2, 2: 1.2},
        ),
        "lenet": trained(
            "LeNet 20-50-500-10, 28 x 28, batch 64, Adam",
            lenet,
            normal(64, 1, 28, 28),
            whole(10, 64),
            "adam",
            asked={1: 1.6, 2: 1.6},
            peers=IMAGES,
        ),
        "resnet18": trained(
            "half-width ResNet-18, 32 x 32, batch 32, momentum",
            resnet18(32),
            normal(32, 3, 32, 32),
            whole(10, 32),
            "momentum",
            asked={1: 1.2, 2: 1.2},
            peers=IMAGES,
            rate=1e-2,
        ),
    } | (convolving() | wide() | generating())


def convolving() -> dict[str, Workload]:
    """Steps of training of deep networks on small images.

    Gradients of first values are large: rounding grows fast at higher rates, in any framework.
    """
    kept = {"asked": {1: 0.0, 2: 0.0}, "peers": IMAGES}
    x, label = normal(8, 3, 64, 64), whole(1000, 8)
    title = "{}, 64 x 64, batch 8, momentum"
    return {
        "mobilenet-training": trained(
            title.format("MobileNetV2"), mobilenet_v2, x, label, "momentum", rate=2e-6, **kept
        ),
        "resnet50-training": trained(
            title.format("ResNet-50"), resnet50, x, label, "momentum", rate=1e-7, **kept
        ),
    }


def wide() -> dict[str, Workload]:
    """A step of training that is memory more than products: few rows read large matrices."""
    title, sizes = "a perceptron 8192-4096-10, batch 4, Adam", (8192, 4096, 10)
    x, label, asked = normal(4, 8192), whole(10, 4), {1: 0.0, 2: 0.0}
    return {"wide": trained(title, perceptron(sizes), x, label, "adam", asked=asked)}


def generating() -> dict[str, Workload]:
    """Steps of training of Transformers."""
    return {
        "gpt": trained(
            "GPT, 4 layers, width 256, 8 heads, length 128, batch 8, AdamW",
            gpt(4, 256, 8, 128, 1024),
            whole(1024, 8, 128),
            whole(1024, 8, 128),
            "adamw",
            asked={1: 1.3, 2: 1.3},
        ),
        "gpt-long": trained(
            "the same GPT, length 1024, batch 1",
            gpt(4, 256, 8, 1024, 1024),
            whole(1024, 1, 1024),
            whole(1024, 1, 1024),
            "adamw",
            asked={1: 0.0, 2: 0.0},
        ),
        "bert-training": trained(
            "BERT-base as a classifier, length 128, batch 1, AdamW",
            classifying(bert(12, 768, 12, 128, 30522), 768, 2),
            whole(30522, 1, 128),
            whole(2, 1),
            "adamw",
            asked={1: 0.0, 2: 0.0},
            rate=1e-5,
        ),
    }


def mixed(rows: dict[str, Workload]) -> dict[str, Workload]:
    """Some steps of training with products in bfloat16."""
    found: dict[str, Workload] = {}
    for name in ("mlp", "resnet18", "gpt"):
        work = rows[name]
        assert isinstance(work, Training)
        found[f"{name}-bfloat16"] = replace(
            work,
            title=f"{work.title}, products in bfloat16",
            asked={1: 0.0, 2: 0.0},
            peers=tuple(p for p in work.peers if p != "jax"),
            tolerance=2e-2,
            mixed=True,
        )
    return found


def prediction() -> dict[str, Workload]:
    """Predictions."""
    image = normal(1, 3, 224, 224)
    return {
        "resnet50": predicted(
            "prediction of ResNet-50, 224 x 224", resnet50, {1: 1.0, 2: 1.0}, image
        ),
        "mobilenet": predicted(
            "prediction of MobileNetV2, 224 x 224", mobilenet_v2, {1: 1.0, 2: 1.0}, image
        ),
        "bert": predicted(
            "prediction of BERT-base, length 128",
            bert(12, 768, 12, 128, 30522),
            {1: 1.05, 2: 1.05},
            whole(30522, 1, 128),
        ),
        "tiny": predicted(
            "prediction of a tiny perceptron", perceptron((4, 8, 2)), {1: 2.0}, normal(1, 4)
        ),
        "block": predicted(
            "gelu, residual, layer_norm, softmax, 4096 x 1024",
            rows_of_a_block,
            {1: 2.5, 2: 2.5},
            normal(4096, 1024),
            normal(4096, 1024),
        ),
    }


def workloads() -> dict[str, Workload]:
    """All of them."""
    direct = {"adam": ADAM, "operators": TINY, "loop": STILL_LAYER, "lstm": LSTM}
    rows = training()
    return rows | mixed(rows) | prediction() | direct | {f"gemm-{n}": product(n) for n in SIZES}
