"""The cache of object code: what it keeps, what it refuses, and how it survives everything."""

import importlib.util
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from scull.flags import flags
from scull.runtime import llvm
from scull.runtime import object_cache as module
from scull.runtime.entry import address_of, entry
from scull.runtime.object_cache import (
    ABANDONED_AFTER,
    FORMAT,
    HEADER,
    ObjectCache,
    key_of,
    object_cache,
)
from tests.runtime.child import ended, fork, needs_fork
from tests.runtime.test_llvm import INCREMENT

pytestmark = pytest.mark.skipif(not module.SAFE, reason="no folder can be kept private here")

KEY, CODE = key_of("text", "cpu"), bytes(range(256)) * 4


class Maker:
    """Makes code, and counts how often."""

    def __init__(self, code=CODE):
        self.code, self.calls = code, 0

    def __call__(self):
        self.calls += 1
        return self.code


@pytest.fixture
def folder(tmp_path):
    """A folder for a cache, which is not there yet."""
    return tmp_path / "scull" / "objects"


@pytest.fixture
def kept(folder):
    """A cache with CODE in it."""
    cache = ObjectCache(folder, 1 << 20)
    assert cache.get(KEY, Maker()) == CODE
    return cache


def entry_path(cache, key=KEY):
    """The file of a key."""
    return cache.folder / key.hex()


def look_again(cache, key=KEY):
    """What another process finds, and whether it had to make it."""
    make = Maker()
    found = ObjectCache(cache.folder, cache.limit).get(key, make)
    assert found == CODE
    return make.calls == 0


def test_what_was_made_is_found_again(kept):
    make = Maker()
    assert kept.get(KEY, make) == CODE
    assert make.calls == 0
    assert look_again(kept)
    seen = kept.statistics
    assert (seen.hits, seen.misses, seen.rejected) == (1, 1, 0)
    assert (seen.bytes_read, seen.bytes_written) == (len(CODE), len(CODE))
    (entry,) = kept.entries()
    assert (entry.name, entry.size) == (KEY.hex(), HEADER.size + len(CODE))


def test_another_key_is_another_entry(kept):
    make = Maker(b"other")
    assert kept.get(key_of("text", "another cpu"), make) == b"other"
    assert make.calls == 1 and len(kept.entries()) == 2


def test_a_key_tells_its_parts_apart():
    keys = [key_of("ab", "c"), key_of("a", "bc"), key_of("abc"), key_of("abc", ""), key_of()]
    assert len(set(keys)) == 5 and {len(key) for key in keys} == {32}
    assert key_of("ab", "c") == keys[0]


def test_folder_and_files_are_the_users_alone(kept):
    assert stat.S_IMODE(kept.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry_path(kept).stat().st_mode) == 0o600


def test_a_lenient_mask_of_modes_changes_nothing(folder):
    before = os.umask(0)
    try:
        ObjectCache(folder, 1 << 20).get(KEY, Maker())
    finally:
        os.umask(before)
    assert look_again(ObjectCache(folder, 1 << 20))


def damaged(content):
    """Each part of an entry changed in some way, and the whole in others."""
    fields = {"format": 0, "key": 8, "length": 40, "digest": 48, "code": HEADER.size}
    for name, start in fields.items():
        for position in (start, start + 7):
            for bit in (0x01, 0x80):
                other = bytearray(content)
                other[position] ^= bit
                yield f"{name} {position} {bit}", bytes(other)
    last = bytearray(content)
    last[-1] ^= 1
    yield "the last byte", bytes(last)
    for length in (0, 1, HEADER.size - 1, HEADER.size, len(content) - 1):
        yield f"{length} bytes", content[:length]
    yield "a byte more", content + b"\0"
    yield "twice", content + content
    yield "zeros", bytes(len(content))
    yield "another format", b"scullo00" + content[8:]
    yield "text", b"hello\n"


def test_a_damaged_entry_is_made_again_and_then_found(kept):
    path = entry_path(kept)
    content = path.read_bytes()
    assert content.startswith(FORMAT)
    for name, other in damaged(content):
        path.write_bytes(other)
        assert not look_again(kept), name
        assert look_again(kept), name
        assert path.read_bytes() == content


def test_every_byte_of_an_entry_is_verified(folder):
    cache = ObjectCache(folder, 1 << 20)
    cache.get(KEY, Maker(b"code"))
    path = entry_path(cache)
    content = path.read_bytes()
    for position in range(len(content)):
        other = bytearray(content)
        other[position] ^= 0x10
        path.write_bytes(bytes(other))
        make = Maker(b"code")
        assert cache.get(KEY, make) == b"code" and make.calls == 1
    assert cache.statistics.rejected == len(content)


def test_the_entry_of_another_kernel_under_this_name_is_not_used(kept):
    other = key_of("other")
    entry_path(kept).rename(entry_path(kept, other))
    assert not look_again(kept, other)


def test_what_is_rejected_is_told_in_one_line(kept, capsys):
    entry_path(kept).write_bytes(b"")
    with flags(DEBUG=1):
        for _ in range(2):
            kept.get(KEY, Maker())
            entry_path(kept).write_bytes(b"")
    assert capsys.readouterr().err == (f"object cache: {KEY.hex()} is cut short: compiled again\n")


def test_a_file_others_may_write_is_not_used(kept):
    entry_path(kept).chmod(0o666)
    assert not look_again(kept)
    assert look_again(kept)  # there is a new one


def test_a_link_in_place_of_a_file_is_not_followed(kept, tmp_path):
    path = entry_path(kept)
    target = tmp_path / "elsewhere"
    path.rename(target)
    path.symlink_to(target)
    assert not look_again(kept)
    assert look_again(kept) and not path.is_symlink()


def test_a_pipe_in_place_of_a_file_is_not_waited_for(kept):
    path = entry_path(kept)
    path.unlink()
    os.mkfifo(path, 0o600)
    assert not look_again(kept)


def test_a_folder_in_place_of_a_file_is_no_cache_for_its_key(kept):
    path = entry_path(kept)
    path.unlink()
    path.mkdir(0o700)
    assert not look_again(kept)
    assert not look_again(kept)
    assert kept.clear() == 0


def test_a_folder_others_may_enter_is_not_used(kept, capsys):
    kept.folder.chmod(0o755)
    with flags(DEBUG=1):
        assert not look_again(kept)
    assert "open to other users" in kept.problem()
    assert "open to other users: code is compiled each time" in capsys.readouterr().err


def test_the_folder_of_another_user_is_not_used(kept, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert not look_again(kept)
    assert "another user's" in kept.problem()


def test_a_link_in_place_of_the_folder_is_not_followed(kept, tmp_path):
    kept.folder.rename(tmp_path / "moved")
    kept.folder.symlink_to(tmp_path / "moved")
    assert not look_again(kept)
    assert kept.problem()


def test_a_file_in_place_of_the_folder_means_no_cache(tmp_path):
    (tmp_path / "objects").write_text("")
    for folder in (tmp_path / "objects", tmp_path / "objects" / "inside"):
        cache = ObjectCache(folder, 1 << 20)
        assert cache.get(KEY, Maker()) == CODE
        assert cache.entries() == [] and cache.clear() == 0


@pytest.mark.parametrize("failing", ["open", "rename"])
def test_a_disk_that_takes_nothing_means_no_cache(kept, monkeypatch, failing):
    def fail(*arguments, **keywords):
        raise OSError(30, "Read-only file system")

    def open_to_read(path, how, *arguments, **keywords):
        return fail() if how & os.O_CREAT else opening(path, how, *arguments, **keywords)

    opening, make, other = os.open, Maker(b"other"), key_of("other")
    monkeypatch.setattr(os, failing, open_to_read if failing == "open" else fail)
    for _ in range(2):
        assert kept.get(other, make) == b"other"
    assert make.calls == 2
    assert [x.name for x in kept.folder.iterdir()] == [KEY.hex()]  # nothing unfinished is left
    assert kept.get(KEY, make) == CODE  # what is there is found


FULL = """
import resource, signal, sys
from pathlib import Path
from scull.runtime.object_cache import ObjectCache, key_of
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
folder = Path(sys.argv[1])
code = ObjectCache(folder, 1 << 20).get(key_of("x"), lambda: bytes(100_000))
print(len(code), len(list(folder.iterdir())))
"""


def test_a_disk_that_is_full_means_no_cache(folder):
    done = subprocess.run([sys.executable, "-c", FULL, folder], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("100000 0\n", "")


def test_the_entries_used_last_stay_when_there_are_too_many(folder):
    cache = ObjectCache(folder, 10_000)
    keys = [key_of(str(k)) for k in range(8)]
    for k, key in enumerate(keys):
        cache.get(key, Maker())
        os.utime(entry_path(cache, key), (k, k))
    cache.get(keys[0], Maker())  # the oldest is used once more
    for k in range(8, 11):
        cache.get(key_of(str(k)), Maker())
    found = cache.entries()
    names = {x.name for x in found}
    assert sum(x.size for x in found) <= cache.limit
    assert {keys[0].hex(), key_of("10").hex()} <= names
    assert not names & {key.hex() for key in keys[1:3]}
    assert cache.statistics.evicted == 11 - len(found)


def test_the_folder_is_measured_now_and_then_not_at_each_entry(folder, monkeypatch):
    counted = Counter()
    monkeypatch.setattr(ObjectCache, "_evict", lambda self, place: counted.update(["measured"]))
    cache = ObjectCache(folder, 160_000)
    for k in range(100):
        cache.get(key_of(str(k)), Maker())  # ten of them are over a sixteenth of the limit
    assert counted["measured"] == 10


def test_what_nobody_finished_goes_when_it_is_old(kept):
    old, new = (kept.folder / f".{name}" for name in ("old", "new"))
    for path in (old, new):
        path.write_bytes(b"half")
    then = time.time() - ABANDONED_AFTER - 1
    os.utime(old, (then, then))
    ObjectCache(kept.folder, 1 << 20).get(key_of("more"), Maker())
    assert not old.exists() and new.exists()
    assert len(kept.entries()) == 2
    assert kept.clear() == 3


def test_clearing_removes_all_and_the_next_use_makes_anew(kept):
    assert kept.clear() == 1
    assert kept.entries() == [] and kept.clear() == 0
    assert not look_again(kept) and look_again(kept)


def test_looking_makes_no_folder(folder):
    cache = ObjectCache(folder, 1 << 20)
    assert (cache.entries(), cache.clear(), cache.problem()) == ([], 0, None)
    assert not folder.parent.exists()


def test_the_settings_name_the_folder(tmp_path, monkeypatch):
    def place(setting):
        module._at.cache_clear()
        with flags(CACHE_DIR=setting):
            return object_cache().folder

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", "/people/someone")
    assert place("/a/b") == Path("/a/b/objects")
    assert place("off") is None
    assert place("") == tmp_path / "scull" / "objects"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert place("") == Path("/people/someone/.cache/scull/objects")
    module._at.cache_clear()
    with flags(CACHE_DIR="/a/b", CACHE_MEGABYTES=3):
        assert object_cache().limit == 3 << 20
        assert object_cache() is object_cache()


def test_nothing_is_kept_where_it_is_switched_off():
    cache, make = ObjectCache(None, 0), Maker()
    assert cache.get(KEY, make) == cache.get(KEY, make) == CODE
    assert make.calls == 2 and cache.problem() == "switched off"


def test_threads_share_a_cache(folder):
    cache = ObjectCache(folder, 1 << 20)
    codes = {key_of(str(k)): bytes([k]) * 500 for k in range(6)}
    wrong = []

    def work():
        for _ in range(5):
            for key, code in codes.items():
                if cache.get(key, lambda code=code: code) != code:
                    wrong.append(key)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen = cache.statistics
    assert not wrong and seen.rejected == 0
    assert seen.hits + seen.misses == 180 and len(cache.entries()) == 6


@pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
@needs_fork
def test_eight_processes_compile_the_same_kernels_at_once(tmp_path):
    llvm.build([llvm.Module(INCREMENT, ("increment",))])  # LLVM is loaded
    start, go = os.pipe()

    def work():
        os.close(go)
        os.read(start, 1)  # until the parent closes its end
        for k in range(10):
            text = INCREMENT.replace("1.0", f"{k}.0")
            library = llvm.build([llvm.Module(text, ("increment",))])
            x = np.zeros(1)
            entry(library, "increment", np.array([address_of(x)], np.uint64))()
            assert x[0] == k
        assert object_cache().statistics.rejected == 0

    with flags(CACHE_DIR=str(tmp_path)):
        children = [fork(work) for _ in range(8)]
        os.close(start)
        os.close(go)
        assert [ended(child) for child in children] == [0] * 8
    files = list((tmp_path / "objects").iterdir())
    assert len([x for x in files if not x.name.startswith(".")]) == len(files) >= 10


def write_and_clear(folder):
    """Write entries over and over."""
    cache = ObjectCache(folder, 1 << 28)
    while True:
        check_all(cache)
        cache.clear()


def check_all(cache):
    """Use eight entries of some size."""
    for k in range(8):
        code = bytes([k]) * 300_000
        assert cache.get(key_of(str(k)), lambda code=code: code) == code


@needs_fork
def test_a_process_killed_while_it_writes_leaves_a_cache_that_works(folder):
    for moment in range(8):
        writer = fork(lambda: write_and_clear(folder))
        time.sleep(0.02 + 0.005 * moment)
        os.kill(writer, signal.SIGKILL)
        assert ended(writer) == -signal.SIGKILL
        cache = ObjectCache(folder, 1 << 28)
        check_all(cache)
        assert cache.statistics.rejected == 0


@needs_fork
def test_a_reader_sees_the_whole_of_an_entry_or_none(folder):
    writer = fork(lambda: write_and_clear(folder))
    try:
        cache = ObjectCache(folder, 1 << 28)
        for _ in range(8):
            check_all(cache)
        assert cache.statistics.rejected == 0
    finally:
        os.kill(writer, signal.SIGKILL)
        ended(writer)
