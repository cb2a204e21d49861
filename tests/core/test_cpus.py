"""How many CPUs may be used."""

import os

import pytest

from scull.core import cpus


@pytest.mark.parametrize(
    ("affine", "quota", "count"),
    [(8, None, 8), (8, 2.5, 3), (2, 4.0, 2), (1, 0.1, 1), (4, 0.0, 4)],
)
def test_a_quota_lets_as_many_cpus_be_busy_as_it_is_worth(affine, quota, count):
    assert cpus.usable(affine, quota) == count


@pytest.mark.parametrize(
    ("group", "files", "quota"),
    [
        ("0::/box", {"sys/fs/cgroup/box/cpu.max": "150000 100000"}, 1.5),
        ("0::/box", {"sys/fs/cgroup/box/cpu.max": "max 100000"}, None),
        (
            "3:cpu,cpuacct:/box",
            {
                "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us": "50000",
                "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us": "100000",
            },
            0.5,
        ),
    ],
)
def test_both_versions_of_control_groups_tell_a_quota(tmp_path, group, files, quota):
    for name, text in {"proc/self/cgroup": group, **files}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    assert cpus.cpu_quota(tmp_path) == quota


def test_this_process_may_use_one_cpu_at_least():
    assert 1 <= cpus.usable_cpus() <= cpus.affinity() <= (os.cpu_count() or 1)
