"""Single tensors in files, by the functions of the older core."""

import numpy as np
import pytest

from scull.base import core
from scull.errors import RunError


def test_a_tensor_comes_back_with_its_levels(tmp_path):
    tensor, found = core.LoDTensor(), core.LoDTensor()
    tensor.set(np.arange(6, dtype="float32").reshape(3, 2), None)
    tensor.set_recursive_sequence_lengths([[2, 1]])
    path = str(tmp_path / "tensor")
    size = core.save_lod_tensor(tensor, path)
    assert size == (tmp_path / "tensor").stat().st_size == core.load_lod_tensor(found, path)
    assert np.array(found).tolist() == [[0, 1], [2, 3], [4, 5]] and found.lod() == [[0, 2, 3]]


def test_some_rows_come_back(tmp_path):
    rows, found = core.SelectedRows([0, 4], 5), core.SelectedRows()
    rows.get_tensor().set(np.ones((2, 3), "float32"), None)
    path = str(tmp_path / "rows")
    core.save_selected_rows(rows, path)
    core.load_selected_rows(found, path)
    assert (found.rows(), found.height()) == ([0, 4], 5)
    assert np.array(found.get_tensor()).tolist() == [[1, 1, 1]] * 2


def test_a_folder_or_file_that_is_missing_is_named(tmp_path):
    path = str(tmp_path / "no" / "file")
    with pytest.raises(RunError, match=r"no.file"):
        core.save_lod_tensor(core.LoDTensor(), path)
    for load, kind in ((core.load_lod_tensor, core.LoDTensor), (core.load_selected_rows, None)):
        with pytest.raises(RuntimeError, match=r"no.file"):
            load((kind or core.SelectedRows)(), path)
