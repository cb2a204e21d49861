"""What is read of a machine: control groups, features, BLAS, LLVM."""

import pytest

from scull.cli import machine


@pytest.fixture
def files(tmp_path):
    """Writes the files of a machine and returns where they are."""

    def write(table: dict[str, str]):
        for name, text in table.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


def test_the_quota_of_a_control_group_of_version_2(files):
    root = files({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "150000 100000\n"})
    assert machine.cpu_quota(root) == 1.5


def test_the_smallest_quota_on_the_way_up_counts(files):
    root = files(
        {
            "proc/self/cgroup": "0::/a/b\n",
            "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
            "sys/fs/cgroup/a/cpu.max": "200000 100000\n",
            "sys/fs/cgroup/cpu.max": "400000 100000\n",
        }
    )
    assert machine.cpu_quota(root) == 2.0


def test_the_quota_of_a_control_group_of_version_1(files):
    folder = "sys/fs/cgroup/cpu,cpuacct"
    root = files(
        {
            "proc/self/cgroup": "5:cpu,cpuacct:/box\n4:memory:/box\n0::/\n",
            f"{folder}/cpu.cfs_quota_us": "300000\n",
            f"{folder}/cpu.cfs_period_us": "100000\n",
            f"{folder}/box/cpu.cfs_quota_us": "-1\n",
            f"{folder}/box/cpu.cfs_period_us": "100000\n",
        }
    )
    assert machine.cpu_quota(root) == 3.0


def test_without_control_groups_there_is_no_limit(tmp_path):
    assert machine.cpu_quota(tmp_path) is None
    assert machine.memory_limit(tmp_path) is None


@pytest.mark.parametrize(
    ("group", "name", "text", "limit"),
    [
        ("0::/a\n", "a/memory.max", "1073741824\n", 1 << 30),
        ("0::/a\n", "a/memory.max", "max\n", None),
        ("4:memory:/a\n", "memory/a/memory.limit_in_bytes", "4096\n", 4096),
        ("4:memory:/a\n", "memory/a/memory.limit_in_bytes", "9223372036854771712\n", None),
    ],
)
def test_the_memory_a_control_group_allows(files, group, name, text, limit):
    root = files({"proc/self/cgroup": group, f"sys/fs/cgroup/{name}": text})
    assert machine.memory_limit(root) == limit


def test_a_survey_reads_the_processor_and_its_memory(files):
    root = files(
        {
            "proc/cpuinfo": "model name\t: A Processor\nflags\t\t: fpu avx avx2 fma sse4_2\n",
            "proc/meminfo": "MemTotal:       2048 kB\nMemAvailable:   1024 kB\n",
        }
    )
    found = machine.survey(root)
    assert (found.cpu, found.vectors) == ("A Processor", ("sse4_2", "avx", "avx2", "fma"))
    assert (found.memory, found.available) == (2 << 20, 1 << 20)


def test_the_features_of_an_arm_processor_are_read(files):
    root = files({"proc/cpuinfo": "Features\t: fp asimd sve crc32\n"})
    assert machine.survey(root).vectors == ("asimd", "sve")


def test_where_nothing_can_be_read_the_survey_says_so(tmp_path):
    found = machine.survey(tmp_path)
    assert (found.vectors, found.memory, found.available, found.quota) == (None,) * 4
    assert found.cpu and 1 <= found.cores <= found.affinity <= found.present


def test_llvmlite_that_is_not_there_is_no_error(monkeypatch):
    monkeypatch.setattr(machine.importlib.util, "find_spec", lambda name: None)
    assert machine.find_llvm() == (None, None)


def test_llvmlite_that_does_not_load_says_why(monkeypatch):
    def broken(name):
        raise OSError("a library is missing")

    monkeypatch.setattr(machine.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(machine.importlib, "import_module", broken)
    assert machine.find_llvm() == (None, "a library is missing")


def test_a_numpy_without_blas_is_seen(monkeypatch):
    without = {"Build Dependencies": {"blas": {"name": "none", "found": False}}}
    monkeypatch.setattr(machine.np, "show_config", lambda mode: without)
    assert machine.find_blas() is None


def test_denormals_are_kept_while_the_tests_run():
    assert machine.keeps_denormals()


def test_only_changed_settings_are_reported(monkeypatch):
    monkeypatch.setattr(machine, "flag", lambda name: machine.DEFAULTS[name])
    assert machine.survey().settings == {}
    monkeypatch.setattr(machine, "flag", lambda name: {**machine.DEFAULTS, "DEBUG": 2}[name])
    assert machine.survey().settings == {"DEBUG": 2}
