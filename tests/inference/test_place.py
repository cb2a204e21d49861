"""Where the files of a model are found, whichever of its names is given."""

import shutil

import numpy as np
import pytest

from scull.errors import FileError, MissingFileError, RunError
from scull.inference import Config, create_predictor
from scull.inference.place import place_of
from tests.inference.models import perceptron, saved

X = np.ones((2, 4), "float32")


@pytest.fixture
def prefix(tmp_path):
    return saved(tmp_path / "folder", perceptron)


@pytest.mark.parametrize("name", ["", ".pdmodel", ".pdiparams", "/.."])
def test_a_model_has_four_names(prefix, name):
    path = prefix.rpartition("/")[0] if name == "/.." else prefix + name
    assert place_of(path) == (f"{prefix}.pdmodel", f"{prefix}.pdiparams")
    assert create_predictor(Config(path))(X).shape == (2, 2)


@pytest.mark.parametrize("values", ["__params__", "weights"])
def test_an_old_model_has_names_of_its_own(prefix, tmp_path, values):
    old = tmp_path / "old"
    old.mkdir()
    shutil.copy(f"{prefix}.pdmodel", old / "__model__")
    shutil.copy(f"{prefix}.pdiparams", old / values)
    combined = str(old / values) if values == "__params__" else str(old)
    for path in (old, old / "__model__"):
        assert place_of(path) == (str(old / "__model__"), combined)
    config = Config(str(old / "__model__"), str(old / values))
    assert create_predictor(config)(X).shape == (2, 2)


def test_a_model_that_is_not_there_or_not_alone_is_told(prefix, tmp_path):
    folder = prefix.rpartition("/")[0]
    saved(tmp_path / "folder", perceptron, "other")
    with pytest.raises(FileError, match=r"several models in the folder .*: net.pdmodel, other"):
        place_of(folder)
    with pytest.raises(MissingFileError, match=r"there is no model .*none\.pdmodel"):
        place_of(tmp_path / "none")
    with pytest.raises(MissingFileError, match="no model in the folder"):
        place_of(tmp_path)
    with pytest.raises(RunError, match="there is no model"):
        create_predictor(Config(str(tmp_path / "none")))
