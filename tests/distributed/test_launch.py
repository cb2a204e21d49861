"""A launcher and `spawn` start one process, which knows that it is alone."""

import os
import subprocess
import sys

import pytest

from scull import distributed
from scull.distributed.launch.main import main
from scull.errors import ArgumentError, RunError, UnsupportedError
from tests.runtime.child import needs_fork

# Python 3.12 warns of every fork of a process with threads; those of scull may fork.
pytestmark = [
    needs_fork,
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]
SCRIPT = """
import os, sys
import paddle
print(paddle.__name__, __name__, sys.argv[1:], os.environ["PADDLE_TRAINER_ENDPOINTS"].count(":"))
print(os.environ["PADDLE_TRAINER_ID"], os.environ["PADDLE_TRAINERS_NUM"])
print("to stderr", file=sys.stderr)
sys.exit(len(sys.argv) - 1)
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SCRIPT)
    return "train.py"


def test_a_script_is_run_with_its_arguments_its_output_is_kept_and_its_status_handed_on(script):
    command = [sys.executable, "-m", "scull.distributed.launch", script, "--lr=1", "x"]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = ["scull __main__ ['--lr=1', 'x'] 1", "0 1", "to stderr"]
    assert (done.stdout.splitlines(), done.stderr, done.returncode) == (lines, "", 2)
    with open("log/workerlog.0", encoding="utf-8") as log:
        assert log.read().splitlines() == lines


def test_a_program_that_is_no_python_is_run_as_it_is(script, capfd):
    assert main(["--log_dir", "here", "/bin/sh", "-c", "echo $PADDLE_NNODES; exit 3"]) == 3
    assert capfd.readouterr().out == "1\n" and os.path.exists("here/workerlog.0")


@pytest.mark.parametrize(
    "options",
    [
        ["--nnodes", "2"],
        ["--nproc_per_node", "2"],
        ["--devices", "0,1"],
        ["--run_mode", "ps"],
        ["--servers", "127.0.0.1:1"],
    ],
)
def test_several_processes_are_refused_before_anything_is_made(script, options, capsys):
    with pytest.raises(SystemExit):
        main([*options, script])
    assert f"{' '.join(options[:1])}" in capsys.readouterr().err and not os.path.exists("log")


def told(path, *words):
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(f"{os.environ['PADDLE_TRAINERS_NUM']} {' '.join(words)}")


def failing():
    raise KeyError("lost")


def leaving():
    sys.exit(4)


@pytest.mark.parametrize("options", [{"start_method": "fork"}, {"nprocs": 1}])
def test_a_process_of_its_own_calls_the_function(tmp_path, options):
    found = distributed.spawn(told, (str(tmp_path / "told"), "a", "b"), **options)
    assert (tmp_path / "told").read_text() == "1 a b"
    assert found.join() and [p.exitcode for p in found.processes] == [0]


def test_nobody_waits_unless_asked_to(tmp_path):
    found = distributed.spawn(told, (str(tmp_path / "told"),), join=False, start_method="fork")
    while not found.join(timeout=0.1):
        pass
    assert (tmp_path / "told").exists()


@pytest.mark.parametrize(
    ("function", "words"), [(failing, "KeyError: 'lost'"), (leaving, "with exit code 4")]
)
def test_what_goes_wrong_there_is_told_here(function, words):
    with pytest.raises(RunError, match=words):
        distributed.spawn(function, start_method="fork")


def test_an_unknown_option_and_several_processes_are_refused():
    with pytest.raises(ArgumentError, match=r"option \(what\)"):
        distributed.spawn(told, what=1)
    with pytest.raises(UnsupportedError, match="2 processes"):
        distributed.spawn(told, nprocs=2)
