"""A file is wholly old or wholly new, whatever happens while it is written."""

import os
import stat

import pytest

from scull.errors import ArgumentError
from scull.files import atomic
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


@pytest.mark.skipif(os.name != "posix", reason="whose a file is, is known by the locks of POSIX")
def test_what_a_killed_writer_left_is_removed_and_what_another_writes_is_not(tmp_path):
    path = tmp_path / "file"
    left = [f".file.{'0' * 12}.tmp", f".file.{'a' * 12}.tmp"]
    others = [".file.tmp", f".other.{'0' * 12}.tmp", f".file2.{'0' * 12}.tmp"]
    for name in left + others:
        (tmp_path / name).touch()
    with atomic_file(path) as outer:
        outer.write(b"outer")
        with atomic_file(path) as inner:
            inner.write(b"inner")
        assert path.read_bytes() == b"inner"
    assert path.read_bytes() == b"outer"
    assert set(os.listdir(tmp_path)) == {"file", *others}


def test_a_temporary_file_that_is_taken_for_a_left_one_is_made_again(tmp_path, monkeypatch):
    made, real = [], atomic.lock

    def lock(descriptor, shared=False):
        real(descriptor, shared)
        if not made:
            made.extend(name for name in os.listdir(tmp_path) if name.endswith(".tmp"))
            os.unlink(tmp_path / made[0])

    monkeypatch.setattr(atomic, "lock", lock)
    with atomic_file(tmp_path / "file") as stream:
        stream.write(b"new")
    assert made and (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_folder_that_may_not_be_written_is_told_of_and_keeps_its_file(tmp_path, monkeypatch):
    path, real = tmp_path / "file", os.open
    path.write_bytes(b"old")

    def refuse(name, flags, *rest):
        if flags & os.O_CREAT:
            raise PermissionError(13, "Permission denied", str(name))
        return real(name, flags, *rest)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError, match="file"), atomic_file(path) as stream:
        stream.write(b"new")
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("name", ["n" * 255, "ü" * 127, "n" * 200 + ".pdparams"])
def test_the_longest_names_are_written(tmp_path, name):
    with atomic_file(tmp_path / name) as stream:
        stream.write(b"new")
    assert os.listdir(tmp_path) == [name]


def test_what_is_no_ordinary_file_is_never_replaced(tmp_path):
    with pytest.raises(ArgumentError, match="is not an ordinary file"), atomic_file(tmp_path):
        pass
    with pytest.raises(ArgumentError, match="is not an ordinary file"), atomic_file(os.devnull):
        pass
