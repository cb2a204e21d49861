"""How much memory may be taken, and results that are refused before they take more."""

import numpy as np
import pytest

import scull as paddle
from scull.core import memory
from scull.errors import ResourceError

GROUP = "sys/fs/cgroup"


@pytest.fixture
def root(tmp_path):
    """Writes the files of a machine and returns where they are."""

    def write(table: dict[str, str]):
        for name, text in table.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


def test_what_is_free_of_the_machine_counts_without_control_groups(root):
    assert memory.free(root({"proc/meminfo": "MemTotal: 64 kB\nMemAvailable: 7 kB\n"})) == 7168


def test_the_group_with_the_least_room_counts_and_files_it_keeps_can_be_given_back(root):
    files = {
        "proc/meminfo": "MemAvailable: 1000 kB\n",
        "proc/self/cgroup": "0::/a/b\n",
        f"{GROUP}/a/b/memory.max": "max\n",
        f"{GROUP}/a/memory.max": "90000\n",
        f"{GROUP}/a/memory.current": "50000\n",
        f"{GROUP}/a/memory.stat": "anon 1\ninactive_file 2000\n",
    }
    assert memory.free(root(files)) == 42000


def test_the_room_in_a_group_of_version_1(root):
    files = {
        "proc/self/cgroup": "4:memory:/a\n",
        f"{GROUP}/memory/a/memory.limit_in_bytes": "5000\n",
        f"{GROUP}/memory/a/memory.usage_in_bytes": "6000\n",
    }
    assert memory.free(root(files)) == 0


def test_this_machine_has_memory_and_some_of_it_is_free():
    assert 0 < memory.free() <= memory.memory()


@pytest.mark.parametrize(
    "make",
    [
        lambda: paddle.zeros([30000, 40000]),
        lambda: paddle.rand([30000, 40000]),
        lambda: paddle.eye(40000),
        lambda: paddle.randperm(10**9),
        lambda: paddle.tile(paddle.ones([1000]), [10**6]),
        lambda: paddle.expand(paddle.ones([1]), [10**9]),
        lambda: paddle.nn.functional.one_hot(paddle.zeros([10**4], "int64"), 10**5),
        lambda: paddle.nn.functional.pad(paddle.ones([2, 2]), [0, 10**9, 0, 0]),
        lambda: paddle.arange(10**9),
        lambda: paddle.linspace(0, 1, 10**9),
    ],
)
def test_a_result_with_no_room_is_refused_before_it_is_made(make, monkeypatch):
    monkeypatch.setattr(memory, "free", lambda: 10**9)
    with pytest.raises(ResourceError, match=r"takes \d+ bytes, 1000000000 are free"):
        make()


def test_a_result_with_room_is_made_without_asking(monkeypatch):
    monkeypatch.setattr(memory, "free", lambda: 0)
    assert np.add.reduce(paddle.ones([1000, 1000]).numpy(), None) == 10**6


def test_a_size_too_long_to_be_written_is_told_all_the_same():
    with pytest.raises(ResourceError, match=r"takes \d{30,40} bytes"):
        paddle.tile(paddle.ones([2]), [2**20] * 3000)
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(paddle.static.Program()):
        paddle.enable_static()
        try:
            y = paddle.tile(paddle.static.data("x", [2]), [2**20] * 3000)
            executor = paddle.static.Executor()
            executor.max_memory = 1000
            with pytest.raises(ResourceError, match=r"the run takes .*\d{30,40} bytes"):
                executor.run(feed={"x": np.ones(2, "float32")}, fetch_list=[y])
        finally:
            paddle.disable_static()
