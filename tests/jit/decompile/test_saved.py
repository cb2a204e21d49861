"""Models that PaddlePaddle 2.6.2 saved as source: the same graph again."""

import zipfile
from pathlib import Path

import pytest

import scull as paddle
from scull.errors import UnsupportedError
from scull.files.model import persistables
from scull.files.pickles import load
from scull.files.program import program_of
from scull.jit.decompile.source import exports_of, source_of
from scull.jit.loading import guessed
from scull.jit.opened import opened
from scull.passes.isomorphism import alike
from tests.jit.decompile.trip import module_of, structure

DATA = Path(__file__).parents[2] / "data" / "saved"
# Of the vision models one of each size; each of the others.
LARGE = {
    *("alexnet", "densenet121", "googlenet", "inception_v3", "mobilenet_v1", "mobilenet_v2"),
    *("mobilenet_v3_large", "resnet50", "resnext50_32x4d", "shufflenet_v2_x0_25"),
    *("squeezenet1_0", "vgg11", "wide_resnet50_2"),
}
OF_STEPS = {"trained_in_steps", "watched"}  # their operators have no function that users call
NAMES = sorted({path.stem for path in DATA.glob("*.zip")} - OF_STEPS)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_is_the_same_graph_again(name, request, tmp_path):
    if name in LARGE and not request.config.getoption("--nightly"):
        pytest.skip("large: it runs with --nightly")
    with zipfile.ZipFile(DATA / f"{name}.zip") as file:
        for entry in (n for n in file.namelist() if n.endswith(".pdmodel")):
            data, told = file.read(entry), entry.replace(".pdmodel", ".pdiparams.info")
            if told in file.namelist():
                with file.open(told) as stream:
                    known = load(stream)
            else:
                names = [v.name for v in persistables(program_of(data))]
                known = guessed(opened(program_of(data)), names)
            made = module_of(source_of({"forward": program_of(data)}, known), tmp_path)
            layer = made.Model()
            layer.eval()
            export = exports_of(layer, made.INPUTS)["forward"]
            found = alike(structure(program_of(data)), structure(export.program))
            assert found.differences == []


@pytest.mark.parametrize("name", sorted(OF_STEPS))
def test_a_model_whose_numbers_are_rounded_is_refused_with_its_operators(name, tmp_path):
    with zipfile.ZipFile(DATA / f"{name}.zip") as file:
        file.extractall(tmp_path)
    law = "`quantize_linear` of float32.*: no call records it as it stands"
    with pytest.raises(UnsupportedError, match=law):
        paddle.jit.to_source(str(tmp_path / name))


def test_what_is_written_gives_what_paddle_gave(tmp_path):
    from tests.files.test_saved_models import opened as unpacked

    for name in ("lstm", "looped", "stopped", "cases", "resnet18"):
        inputs, results = unpacked(name, tmp_path)
        made = module_of(paddle.jit.to_source(str(tmp_path / name)), tmp_path)
        layer = made.Model.load(str(tmp_path / name))
        layer.eval()
        found = layer(*map(paddle.to_tensor, inputs))
        for x, y in zip(found if isinstance(found, tuple) else [found], results, strict=True):
            assert abs(x.numpy() - y).max() <= 1e-5 * (1 + abs(y).max()), name
