"""Write tests/data/saved/: models that PaddlePaddle saved, with their inputs and results.

Run with the Python that has the reference installed, with PYTHONPATH=. and PYTHONHASHSEED=0, from
the root of the checkout. The models are those of tests/files/saved. Each becomes one archive: the
Program without the lines of this script, its parameters where they are few (else they are those of
`tests.files.saved.values.parameter`), its inputs (those of the networks for pictures are of
`tests.files.saved.values.uniform`) and what the reference computes.
"""

import io
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import paddle
from harvest_models import tidy

from tests.files.saved.catalogue import LAYERS, PROGRAMS, layer_of, program_of
from tests.files.saved.vision import SIZES

ROOT = Path(__file__).resolve().parent.parent
SAVED = ROOT / "tests" / "data" / "saved"
MOST = 40_000  # bytes of parameters that are kept


def leaves(found) -> list[np.ndarray]:
    """The arrays in what a model gives, in order."""
    if isinstance(found, list | tuple):
        return [array for each in found for array in leaves(each)]
    return [np.asarray(found)]


def save_layer(name: str, path: str) -> tuple[list, list]:
    """Save a layer; its inputs and results."""
    layer, specs, arrays = layer_of(name)
    with paddle.utils.unique_name.guard():
        paddle.jit.save(paddle.jit.to_static(layer, input_spec=specs), path)
    loaded = paddle.jit.load(path)
    return arrays, leaves(loaded(*map(paddle.to_tensor, arrays)))


def save_program(name: str, path: str) -> tuple[list, list]:
    """Save a Program; its inputs and results."""
    paddle.enable_static()
    with paddle.static.scope_guard(paddle.static.Scope()):
        main, executor, inputs, arrays, results = program_of(name)
        paddle.static.save_inference_model(path, inputs, results, executor, program=main)
    with paddle.static.scope_guard(paddle.static.Scope()):
        program, names, targets = paddle.static.load_inference_model(path, executor)
        found = executor.run(
            program, feed=dict(zip(names, arrays, strict=True)), fetch_list=targets
        )
    paddle.disable_static()
    return arrays, leaves(found)


def archive(name: str, path: str, arrays: list, results: list) -> None:
    """Put what was saved under `path` into the archive of a model."""
    tidy(path)
    entries = {f"{name}{end}": Path(path + end) for end in (".pdmodel", ".pdiparams.info")}
    contents = {key: file.read_bytes() for key, file in entries.items() if file.exists()}
    parameters = Path(path + ".pdiparams")
    if parameters.exists() and parameters.stat().st_size <= MOST:
        contents[f"{name}.pdiparams"] = parameters.read_bytes()
    for kind, values in (("input", arrays), ("result", results)):
        for i, value in enumerate(values):
            if name not in SIZES or kind == "result":
                stream = io.BytesIO()
                np.save(stream, value)
                contents[f"{kind}_{i}.npy"] = stream.getvalue()
    with zipfile.ZipFile(SAVED / f"{name}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for key, content in contents.items():
            file.writestr(zipfile.ZipInfo(key), content, zipfile.ZIP_DEFLATED)


def main() -> None:
    """Write the archives named on the command line, or all."""
    SAVED.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or [*LAYERS, *PROGRAMS]:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/{name}"
            save = save_layer if name in LAYERS else save_program
            archive(name, path, *save(name, path))
        print(name, (SAVED / f"{name}.zip").stat().st_size)


if __name__ == "__main__":
    main()
