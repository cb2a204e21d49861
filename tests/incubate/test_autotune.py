"""Settings of tuning are checked; epochs of automatic checkpoints are counted."""

import json
import subprocess
import sys

import pytest

from scull.errors import ArgumentError, ArgumentTypeError, AssertError
from scull.incubate import autotune
from scull.incubate.checkpoint import auto_checkpoint

WHOLE = {
    "kernel": {"enable": True, "tuning_range": [1, 5]},
    "layout": {"enable": False},
    "dataloader": {"enable": True, "tuning_steps": 3},
}


@pytest.mark.parametrize("config", [None, {}, WHOLE, {"kernel": {}}])
def test_what_paddle_takes_is_taken(config):
    assert autotune.set_config(config) is None


def test_a_file_says_the_same(tmp_path):
    path = tmp_path / "tuning.json"
    path.write_text(json.dumps(WHOLE))
    autotune.set_config(str(path))
    path.write_text('{"kernels": {}}')
    with pytest.raises(ArgumentError, match="not 'kernels'"):
        autotune.set_config(str(path))


def test_a_file_that_cannot_be_read_gives_a_warning(tmp_path):
    for path in (tmp_path / "missing.json", tmp_path):
        with pytest.warns(UserWarning, match="Use default configuration"):
            autotune.set_config(str(path))


@pytest.mark.parametrize(
    ("kind", "given"),
    [("kernel", {"enable": 1}), ("layout", {"enable": "x"}), ("kernel", {"tuning_range": (1, 2)})],
)
def test_another_type_gives_a_warning(kind, given):
    with pytest.warns(UserWarning, match=f"configuration of the {kind} is incorrect"):
        autotune.set_config({kind: given})


@pytest.mark.parametrize(
    ("config", "error", "words"),
    [
        ({"speed": {}}, ArgumentError, "are tuned, not 'speed'"),
        ({"layout": {"fast": True}}, ArgumentError, "not 'fast'"),
        ({"kernel": True}, ArgumentTypeError, "`kernel` is a dictionary"),
        (3, ArgumentTypeError, "`config` is a dictionary"),
        ({"kernel": {"tuning_range": [1]}}, AssertError, "begins and ends"),
    ],
)
def test_what_is_not_known_is_refused(config, error, words):
    with pytest.raises(error, match=words):
        autotune.set_config(config)


def test_what_is_seldom_used_loads_when_it_is_asked_for():
    code = "import scull.incubate as i, sys\n"
    code += "before = 'scull.incubate.multiprocessing' in sys.modules\n"
    code += (
        "print(before, i.multiprocessing.Queue is not None, i.checkpoint.auto_checkpoint.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False True scull.incubate.checkpoint.auto_checkpoint\n", done.stderr


def test_epochs_are_counted_and_a_warning_says_that_nothing_is_saved(caplog):
    assert list(auto_checkpoint.train_epoch_range(3, save_checkpoint_inter=1)) == [0, 1, 2]
    assert "PaddleCloud" in caplog.text
    with pytest.raises(ArgumentError, match="-1 epochs"):
        list(auto_checkpoint.train_epoch_range(-1))
