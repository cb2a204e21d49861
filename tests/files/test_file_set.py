"""Files that are replaced together: all old or all new, whenever the writer is killed."""

import json
import os
import threading

import pytest

from scull.errors import ArgumentError, FileError
from scull.files import file_set
from scull.files.file_set import open_set, write_set
from scull.files.record import checksum_of

SUFFIXES = (".pdmodel", ".pdiparams", ".pdiparams.info")
OLD = {suffix: b"old " + suffix.encode() for suffix in SUFFIXES}
NEW = {suffix: b"new " + suffix.encode() * 3 for suffix in SUFFIXES}

CALLS = ("open", "close", "fsync", "replace", "unlink", "chmod", "stat", "mkdir", "urandom")


def write(prefix, contents) -> None:
    def in_halves(data):
        def writer(stream):
            stream.write(data[:4])
            stream.flush()
            os.stat(os.curdir)  # a child may be killed here
            stream.write(data[4:])

        return writer

    write_set(prefix, {suffix: in_halves(data) for suffix, data in contents.items()})


def read(prefix) -> dict[str, bytes]:
    with open_set(prefix, SUFFIXES) as streams:
        return {suffix: stream.read() for suffix, stream in streams.items()}


def in_places(prefix) -> dict[str, bytes]:
    """What a program sees that knows no record."""
    paths = {suffix: prefix.with_name(prefix.name + suffix) for suffix in SUFFIXES}
    return {suffix: path.read_bytes() for suffix, path in paths.items() if path.exists()}


@pytest.fixture
def prefix(tmp_path):
    return tmp_path / "model"


def test_a_set_is_read_as_it_was_written(prefix):
    for contents in (OLD, NEW):
        write(prefix, contents)
        assert read(prefix) == in_places(prefix) == contents
    names = {".model.commit"} | {"model" + suffix for suffix in SUFFIXES}
    assert set(os.listdir(prefix.parent)) == names
    record = loaded(prefix.parent / ".model.commit")
    assert record["generation"] == 2


def test_files_without_a_record_are_read_from_their_places(prefix):
    assert read(prefix) == {}
    prefix.with_name("model.pdmodel").write_bytes(b"alone")
    assert read(prefix) == {".pdmodel": b"alone"}


def test_a_file_the_new_set_lacks_is_taken_away(prefix):
    write(prefix, OLD)
    smaller = {suffix: NEW[suffix] for suffix in SUFFIXES[:2]}
    write(prefix, smaller)
    assert read(prefix) == in_places(prefix) == smaller


def test_a_set_has_at_least_one_file(prefix):
    with pytest.raises(ArgumentError, match="at least one file"):
        write(prefix, {})


def test_an_exception_of_a_writer_leaves_the_old_set_and_nothing_else(prefix):
    write(prefix, OLD)
    before = sorted(os.listdir(prefix.parent))

    def fail(stream):
        stream.write(b"half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_set(prefix, {".pdmodel": lambda stream: stream.write(b"x"), ".pdiparams": fail})
    assert read(prefix) == OLD
    assert sorted(os.listdir(prefix.parent)) == before


def killed_at(count: int, prefix, contents) -> bool:
    """Whether a child that writes the set is killed, before its system call of this number."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] != 0
    calls = 0

    def counting(real):
        def call(*arguments, **options):
            nonlocal calls
            calls += 1
            if calls == count:
                os._exit(9)
            return real(*arguments, **options)

        return call

    for name in CALLS:
        setattr(os, name, counting(getattr(os, name)))
    write(prefix, contents)
    os._exit(0)


def mixed(contents: dict[str, bytes]) -> bool:
    """Whether a reader that knows no record would take files of two generations for a model."""
    return SUFFIXES[0] in contents and contents not in (OLD, NEW)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a child is forked to be killed")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("recorded", [False, True])
def test_killed_at_any_call_the_set_is_wholly_old_or_wholly_new(tmp_path, monkeypatch, recorded):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # what is killed here is no machine
    found = []
    for count in range(1, 1000):
        prefix = tmp_path / str(count) / "model"
        prefix.parent.mkdir()
        if recorded:
            write(prefix, OLD)
        else:
            for suffix, data in OLD.items():
                prefix.with_name("model" + suffix).write_bytes(data)
        killed = killed_at(count, prefix, NEW)
        found.append(read(prefix))
        assert found[-1] in (OLD, NEW)
        assert not mixed(in_places(prefix))
        write(prefix, OLD)  # the next writer finds its way from there
        assert read(prefix) == in_places(prefix) == OLD
        assert len(os.listdir(prefix.parent)) == 4
        if not killed:
            break
    assert count > 30
    turn = found.index(NEW)
    assert 10 < turn < count and found == [OLD] * turn + [NEW] * (count - turn)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a child is forked to be killed")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_killed_at_any_call_of_the_first_save_the_set_is_whole_or_absent(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    found = []
    for count in range(1, 1000):
        prefix = tmp_path / str(count) / "model"
        killed = killed_at(count, prefix, NEW)
        found.append(read(prefix))
        if not killed:
            break
    turn = found.index(NEW)
    assert found == [{}] * turn + [NEW] * (count - turn)


def interrupted(prefix, monkeypatch) -> None:
    """Leave a set whose record is written and whose files have not taken their places."""
    monkeypatch.setattr(file_set, "settle", lambda folder, record: None)
    write(prefix, NEW)
    monkeypatch.undo()


def test_another_set_in_the_folder_keeps_its_staged_files(prefix, monkeypatch):
    longer = prefix.with_name("model2")
    write(longer, OLD)
    interrupted(longer, monkeypatch)
    write(prefix, OLD)
    assert read(longer) == NEW and in_places(longer) == OLD


def test_files_of_another_program_win_over_the_record(prefix, monkeypatch):
    for prepare in (write, lambda prefix, _: interrupted(prefix, monkeypatch)):
        prepare(prefix, OLD)
        path = prefix.with_name("model.pdiparams")
        path.write_bytes(b"foreign")
        os.utime(path, ns=(1, 1))
        assert read(prefix)[".pdiparams"] == b"foreign"
        write(prefix, NEW)
        assert read(prefix) == in_places(prefix) == NEW


def test_a_set_that_was_taken_away_is_absent(prefix):
    write(prefix, OLD)
    for suffix in SUFFIXES:
        prefix.with_name("model" + suffix).unlink()
    assert read(prefix) == {}


def test_a_damaged_file_is_told(prefix):
    write(prefix, OLD)
    path = prefix.with_name("model.pdiparams")
    time = path.stat().st_mtime_ns
    path.write_bytes(b"damaged")
    os.utime(path, ns=(time, time))
    with pytest.raises(FileError, match=r"model.pdiparams` is not what was saved"):
        read(prefix)
    write(prefix, NEW)
    assert read(prefix) == NEW


def test_a_missing_file_is_told(prefix):
    write(prefix, OLD)
    prefix.with_name("model.pdiparams").unlink()
    with pytest.raises(FileError, match=r"model.pdiparams` is not what was saved"):
        read(prefix)


def stored(record) -> bytes:
    """A record as its file holds it."""
    return json.dumps({"record": record, "crc32": checksum_of(record)}).encode()


def loaded(path):
    """What a record says."""
    return json.loads(path.read_bytes())["record"]


RECORD = {"generation": 1, "files": {}, "retired": {}}
ENTRY = {
    "size": 1,
    "parts": [["", 1, "00000000"]],
    "time": 1,
    "replaced": None,
    "staged": ".model.commit-1",
}


def with_file(name, **other):
    return stored(RECORD | {"files": {name: ENTRY | other}})


@pytest.mark.parametrize(
    ("record", "law"),
    [
        (b"", "Expecting value"),
        (b"[]", "list indices"),
        (b"\xff", "can't decode"),
        (b"[" * 60_000, "recursion"),
        (json.dumps(RECORD).encode(), "crc32"),
        (stored(RECORD).replace(b"1", b"2", 1), "it is damaged"),
        (stored(RECORD), "no generation and files"),
        (stored(RECORD | {"files": {"model": {"size": 1}}}), "parts"),
        (with_file("model", parts=[["", 1]]), "missing"),
        (with_file("model", parts=[["", 1, "00"]]), "has 2 digits"),
        (with_file("model", more=1), "unexpected keyword"),
        (with_file("../model"), "is no file of it"),
        (with_file("model/../../x"), "is no file of it"),
        (with_file("model.x/y"), "is no file of it"),
        (with_file("model//y"), "is no file of it"),
        (with_file("model\0"), "is no file of it"),
        (with_file("model\ud800"), "surrogates not allowed"),
        (with_file("model", staged="/model"), "is no staged name"),
        (with_file("model", staged=".model.commit-1/../x"), "is no staged name"),
        (with_file("model", staged=3), "string"),
        (stored(RECORD | {"files": {"model": ENTRY}, "retired": {"model": ENTRY}}), "and is not"),
        (stored(RECORD | {"files": {"model": ENTRY}, "retired": {"../model": ENTRY}}), "no file"),
        (stored(RECORD | {"files": {"model": ENTRY}, "retired": [1]}), "retired files"),
    ],
)
def test_a_damaged_record_is_told_and_replaced_by_the_next_save(prefix, record, law):
    write(prefix, OLD)
    (prefix.parent / ".model.commit").write_bytes(record)
    with pytest.raises(FileError, match=rf"\.model\.commit` is no record.*{law}"):
        read(prefix)
    write(prefix, NEW)
    assert read(prefix) == NEW


def test_a_record_takes_no_file_away_that_the_set_did_not_write(prefix):
    write(prefix, OLD)
    path = prefix.parent / ".model.commit"
    precious = prefix.with_name("model.py")
    precious.write_bytes(b"mine")
    record = loaded(path)
    record["retired"] = {"model.py": "0" * 64}
    path.write_bytes(stored(record))
    write(prefix, NEW)
    assert precious.read_bytes() == b"mine"


def test_writers_take_turns(prefix):
    def save(data):
        for _ in range(5):
            write(prefix, {suffix: data for suffix in SUFFIXES})

    threads = [threading.Thread(target=save, args=[bytes([i]) * 100]) for i in range(3)]
    for thread in threads:
        thread.start()
    seen = [set(read(prefix).values()) for _ in range(50)]
    for thread in threads:
        thread.join()
    assert all(len(values) <= 1 for values in seen)
    assert len(set(in_places(prefix).values())) == 1


@pytest.mark.parametrize("name", ["n" * 240, "ü" * 120, "n.m" * 60])
def test_sets_of_the_longest_names_are_written(tmp_path, name):
    prefix = tmp_path / name
    for contents in (OLD, NEW):
        write(prefix, contents)
        assert read(prefix) == in_places(prefix) == contents
    assert len(os.listdir(tmp_path)) == 4


def test_long_names_that_begin_alike_have_records_of_their_own(tmp_path):
    first, second = tmp_path / ("n" * 230 + "1"), tmp_path / ("n" * 230 + "2")
    write(first, OLD)
    write(second, NEW)
    assert read(first) == OLD and read(second) == NEW


def test_a_relative_prefix_is_one_of_the_folder_at_that_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("model", OLD)
    write("deeper/model", NEW)
    assert read("model") == OLD and read("deeper/../deeper/model") == NEW
    monkeypatch.chdir(tmp_path / "deeper")
    assert read("model") == NEW


@pytest.mark.skipif(os.name != "posix", reason="links are those of POSIX")
def test_a_linked_folder_is_written_through_and_a_linked_file_replaced(tmp_path):
    folder, link = tmp_path / "folder", tmp_path / "link"
    folder.mkdir()
    link.symlink_to(folder)
    write(link / "model", OLD)
    assert link.is_symlink() and read(folder / "model") == OLD
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"kept")
    os.remove(folder / "model.pdmodel")
    (folder / "model.pdmodel").symlink_to(elsewhere)
    write(folder / "model", NEW)
    assert read(folder / "model") == NEW and elsewhere.read_bytes() == b"kept"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked to save at once")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_processes_that_save_to_one_path_at_once_leave_one_set(prefix):
    write(prefix, OLD)
    children = []
    for own in range(4):
        child = os.fork()
        if not child:
            for count in range(8):
                write(prefix, {suffix: b"%d-%d" % (own, count) * 50 for suffix in SUFFIXES})
                if len(set(read(prefix).values())) != 1:
                    os._exit(1)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    assert len(set(read(prefix).values())) == 1 and read(prefix) == in_places(prefix)
    assert len(os.listdir(prefix.parent)) == 4


def test_any_changed_byte_of_a_record_is_told(prefix):
    write(prefix, OLD)
    path = prefix.parent / ".model.commit"
    data = path.read_bytes()
    for position in range(len(data) - 1):
        changed = bytearray(data)
        changed[position] ^= 1 << (position % 7)
        path.write_bytes(bytes(changed))
        with pytest.raises(FileError, match=r"\.model\.commit"):
            read(prefix)


@pytest.mark.parametrize("size", [-1, 0, True, 10**30, "1", None])
def test_sizes_that_make_no_sense_are_told(prefix, size):
    write(prefix, OLD)
    path = prefix.parent / ".model.commit"
    record = loaded(path)
    for part in record["files"]["model.pdmodel"]["parts"]:
        part[1] = size
    path.write_bytes(stored(record))
    with pytest.raises(FileError, match="model"):
        read(prefix)
