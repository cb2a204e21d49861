"""A file is wholly old or wholly new, whatever happens while it is written."""

import os
import stat

import pytest

from scull.errors import ArgumentError
from scull.files.atomic import atomic_file


def test_a_new_file_holds_what_was_written(tmp_path):
    path = tmp_path / "deeper" / "file"
    with atomic_file(path) as stream:
        stream.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == ["file"]


def test_an_exception_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), atomic_file(path) as stream:
        stream.write(b"new")
        raise ZeroDivisionError
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_a_failing_call_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, call):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*arguments, **options):
        raise OSError("no space left")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="no space left"), atomic_file(path) as stream:
        stream.write(b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_the_bytes_reach_the_disk_before_the_name_does(tmp_path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *a, name=name, real=real: (calls.append(name), real(*a))
        )
    with atomic_file(tmp_path / "file") as stream:
        stream.write(b"new")
    assert calls[:2] == ["fsync", "replace"]
    assert calls[2:] == (["fsync"] if os.name == "posix" else [])


@pytest.mark.skipif(os.name != "posix", reason="permissions and links are those of POSIX")
def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    with atomic_file(link) as stream:
        stream.write(b"new")
    assert link.is_symlink() and path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="the mask of permissions is that of POSIX")
def test_a_new_file_has_the_permissions_of_any_other(tmp_path):
    with atomic_file(tmp_path / "file") as stream:
        stream.write(b"new")
    (tmp_path / "other").touch()
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_what_is_no_ordinary_file_is_never_replaced(tmp_path):
    with pytest.raises(ArgumentError, match="is not an ordinary file"), atomic_file(tmp_path):
        pass
    with pytest.raises(ArgumentError, match="is not an ordinary file"), atomic_file(os.devnull):
        pass
