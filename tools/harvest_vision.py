"""Write tests/data/reference/vision.json, and a LeNet in tests/data/models: networks for images.

Run with the Python that has the reference installed; tests/data/reference/README.md says what
the entries are.
"""

import hashlib
import json

import numpy as np
import paddle
from harvest_types import REFERENCE
from harvest_values import filled, images, sampled
from paddle.base import unique_name
from paddle.vision import models

RATE = 0.01

# The networks whose numbers are recorded: the call, the shape of the images, and the element type
# of the training step, which is float64 where batch norms of few numbers magnify the last digit.
CALLS = {
    "LeNet()": ([4, 1, 28, 28], "float32"),
    "alexnet(num_classes=0)": ([2, 3, 67, 67], "float32"),
    "vgg11(batch_norm=True, num_classes=0)": ([2, 3, 32, 32], "float64"),
    "mobilenet_v1(scale=0.25, num_classes=7)": ([4, 3, 64, 64], "float64"),
    "mobilenet_v2(scale=0.25, num_classes=7)": ([4, 3, 64, 64], "float64"),
    "mobilenet_v3_small(scale=0.35, num_classes=7)": ([4, 3, 64, 64], "float32"),
    "mobilenet_v3_large(scale=0.35, num_classes=7)": ([4, 3, 64, 64], "float64"),
    "squeezenet1_0(num_classes=7)": ([2, 3, 64, 64], "float32"),
    "squeezenet1_1(num_classes=7)": ([2, 3, 64, 64], "float32"),
    "shufflenet_v2_x0_25(num_classes=7)": ([4, 3, 64, 64], "float64"),
    "shufflenet_v2_swish(num_classes=7)": ([4, 3, 64, 64], "float32"),
    "densenet121(num_classes=7)": ([4, 3, 64, 64], "float64"),
    "googlenet(num_classes=7)": ([1, 3, 192, 192], "float64"),
    "inception_v3(num_classes=7)": ([2, 3, 107, 107], "float64"),
    "resnet18(num_classes=7)": ([4, 3, 64, 64], "float32"),
    "resnext50_32x4d(num_classes=7)": ([4, 3, 64, 64], "float64"),
}


def digest(lines: list) -> str:
    """The start of the hash of some lines of text."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def described(call: str) -> dict:
    """The parameters and buffers of a network, and how it prints, as hashes."""
    with unique_name.guard():
        network = eval(call, vars(models))
    state = network.state_dict()
    return {
        "count": len(state),
        "size": sum(int(np.prod(value.shape)) for value in state.values()),
        "state": digest([f"{name} {list(value.shape)}" for name, value in state.items()]),
        "names": digest([value.name for value in state.values()]),
        "printed": digest([repr(network)]),
    }


def operators(call: str, shape: list) -> str:
    """The types of the operators of the Program of a network, as a hash."""
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        eval(call, vars(models))(paddle.static.data("x", [-1, *shape[1:]]))
    paddle.disable_static()
    return digest([operator.type for operator in main.global_block().ops])


def prepared(call: str) -> paddle.nn.Layer:
    """A network with the parameters that only its names decide, which drops nothing."""
    network = eval(call, vars(models))
    state = network.state_dict()
    network.set_state_dict({name: filled(name, value.shape) for name, value in state.items()})
    for layer in network.sublayers():
        if isinstance(layer, paddle.nn.Dropout):
            layer.p = 0.0
    return network


def scores(network: paddle.nn.Layer, x: paddle.Tensor) -> paddle.Tensor:
    """What a network gives, in one row an image."""
    results = network(x)
    results = results if isinstance(results, list) else [results]
    return paddle.concat([paddle.flatten(result, 1) for result in results], axis=1)


def trained(call: str, shape: list, dtype: str) -> dict:
    """The numbers of a network: in use, and of a training step."""
    network, x = prepared(call), paddle.to_tensor(images(shape))
    network.eval()
    result = {"images": shape, "dtype": dtype, "operators": operators(call, shape)}
    result["eval"] = sampled(scores(network, x).numpy())
    network, x = network.to(dtype=dtype), x.astype(dtype)
    network.train()
    optimizer = paddle.optimizer.SGD(RATE, parameters=network.parameters())
    loss = paddle.mean(paddle.tanh(scores(network, x)) ** 2)
    loss.backward()
    result["loss"] = float(loss)
    result["gradients"] = {
        name: float(np.linalg.norm(value.grad.numpy().astype(np.float64)))
        for name, value in network.named_parameters()
        if value.grad is not None
    }
    optimizer.step()
    network.eval()
    result["after"] = sampled(scores(network, x).numpy())
    return result


def rounded(value: object) -> object:
    """Numbers to the digits that float32 has."""
    if isinstance(value, float):
        return float(f"{value:.8g}")
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


def variants() -> list:
    """A call for each public network."""
    functions = [name for name in models.__all__ if name[0].islower()]
    normalised = [f"{name}(batch_norm=True)" for name in functions if name.startswith("vgg")]
    scaled = [
        f"{name}(scale={scale})"
        for name in functions
        if name.startswith("mobilenet")
        for scale in (0.35, 0.5, 1.3)
    ]
    return ["LeNet()", *(f"{name}()" for name in functions), *normalised, *scaled]


def main() -> None:
    entries = {f"state: {call}": described(call) for call in variants()}
    entries |= {f"numbers: {call}": rounded(trained(call, *CALLS[call])) for call in CALLS}
    lines = [f"{json.dumps(key)}: {json.dumps(entries[key])}" for key in entries]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (REFERENCE / "vision.json").write_text(text, encoding="utf-8")
    lenet = prepared("LeNet(num_classes=0)")
    saved = REFERENCE.parent / "models" / "lenet.pdparams"
    paddle.save(lenet.state_dict(), str(saved))
    maps = lenet(paddle.to_tensor(images(CALLS["LeNet()"][0]))).numpy()
    np.savez_compressed(saved.with_suffix(".npz"), maps=maps)


if __name__ == "__main__":
    main()
