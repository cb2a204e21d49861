"""Files of this machine, and scripts that write samples."""

import doctest
import io
import os

import pytest
from scull.distributed.fleet.utils import LocalFS, fs

import scull.distributed.fleet as fleet
from scull.distributed.fleet import data_generator, filesystem
from scull.errors import ArgumentTypeError, AssertError, ScullError, UnsupportedError


@pytest.mark.parametrize("module", [data_generator, filesystem])
def test_the_examples_print_what_they_say(module):
    results = doctest.testmod(module)
    assert results.attempted and not results.failed


@pytest.fixture
def top(tmp_path, monkeypatch):
    """A folder with the files a and d/b, and the empty folder e; it is the working one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    (tmp_path / "e").mkdir()
    (tmp_path / "a").write_text("one")
    (tmp_path / "d" / "b").write_text("two")
    return tmp_path


def test_files_and_folders_are_listed_and_told_apart(top):
    files = LocalFS()
    assert files.ls_dir(".") == (["d", "e"], ["a"]) and files.list_dirs(".") == ["d", "e"]
    assert files.ls_dir("nowhere") == ([], []) and files.list_dirs("nowhere") == []
    assert [files.is_file(p) for p in ("a", "d", "x")] == [True, False, False]
    assert [files.is_dir(p) for p in ("a", "d", "x")] == [False, True, False]
    assert [files.is_exist(p) for p in ("a", "d", "x")] == [True, True, False]
    assert files.need_upload_download() is False
    with pytest.raises(NotADirectoryError):
        files.ls_dir("a")


def test_files_and_folders_are_made_and_deleted(top):
    files = LocalFS()
    files.mkdirs("x/y")
    files.mkdirs("x/y")
    files.touch("x/y/z")
    files.touch("a")
    assert (top / "a").read_text() == "one" and (top / "x/y/z").read_text() == ""
    with pytest.raises(fs.FSFileExistsError, match="there is `a` already"):
        files.touch("a", exist_ok=False)
    with pytest.raises(AssertError, match="a is already a file"):
        files.mkdirs("a")
    os.symlink("d", "link")
    for path in ("link", "x", "a", "nowhere"):
        files.delete(path)
        assert not os.path.lexists(path)
    assert (top / "d" / "b").read_text() == "two"  # where the link led


def test_files_and_folders_are_moved(top):
    files = LocalFS()
    for path in ("d", "d/b"):
        with pytest.raises(FileExistsError, match="already"):
            files.mv("a", path)
    files.mv("a", "d/b", overwrite=True)
    assert (top / "d" / "b").read_text() == "one" and not files.is_exist("a")
    files.mv("d", "e", overwrite=True)
    files.rename("e", "f")
    assert files.ls_dir(".") == (["f"], []) and files.ls_dir("f") == ([], ["b"])
    with pytest.raises(fs.FSFileNotExistsError, match="there is no `nowhere`"):
        files.mv("nowhere", "g")
    assert issubclass(fs.FSFileNotExistsError, ScullError)
    assert issubclass(fs.FSFileNotExistsError, FileNotFoundError)


def test_what_only_a_distant_system_does_is_refused():
    for name, count in {"upload": 2, "upload_dir": 2, "download": 2, "cat": 1}.items():
        with pytest.raises(UnsupportedError, match=f"LocalFS.{name}. is not in scull"):
            getattr(LocalFS(), name)(*["a"] * count)
    with pytest.raises(UnsupportedError, match="no servers of files"):
        fleet.utils.HDFSClient("home", {})
    with pytest.raises(UnsupportedError, match="no servers of files"):
        fs.AFSClient()


def generator(kind, sample, batch=None):
    """A generator of what `sample` makes of a line, with the samples of a batch turned round."""

    class Generator(kind):
        def generate_sample(self, line):
            return lambda: iter([sample(line), None])

        def generate_batch(self, samples):
            return lambda: reversed(samples) if batch else iter(samples)

    made = Generator()
    if batch:
        made.set_batch(batch)
    return made


def test_lines_become_samples_of_numbers(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("1 2 3\n4 5\n6\n"))
    made = generator(
        fleet.MultiSlotDataGenerator,
        lambda line: [("words", list(map(int, line.split()))), ("share", [int(line[0]) / 4])],
        batch=2,
    )
    made.run_from_stdin()
    assert capsys.readouterr().out == "2 4 5 1 1.0\n3 1 2 3 1 0.25\n1 6 1 1.5\n"
    assert made._proto_info == [("words", "uint64"), ("share", "float")]


def test_a_slot_is_of_floats_when_one_of_its_values_is(capsys):
    made = fleet.MultiSlotDataGenerator()
    lines = [made._gen_str([("a", [value])]) for value in (1, 2.5, 3)]
    assert lines == ["1 1\n", "1 2.5\n", "1 3\n"] and made._proto_info == [("a", "float")]


def test_samples_of_texts_are_written_as_they_are(capsys):
    made = generator(fleet.MultiSlotStringDataGenerator, lambda _: (("q", ["08", "x"]), ("e", [])))
    made.run_from_memory()
    assert capsys.readouterr().out == "2 08 x 0\n"


NUMBERS = fleet.MultiSlotDataGenerator


@pytest.mark.parametrize(
    ("kind", "law", "samples"),
    [
        (NUMBERS, "not str", ["text"]),
        (NUMBERS, r"not \('a', 3\) in it", [[("a", 3)]]),
        (NUMBERS, r"not \(3, \[1\]\) in it", [[(3, [1])]]),
        (NUMBERS, "not 'a' in it", [("a", [1])]),
        (NUMBERS, "the slot `a` has no values", [[("a", [])]]),
        (NUMBERS, "int or float, not str 'x'", [[("a", ["x"])]]),
        (NUMBERS, "there were 1 slots, and now 2", [[("a", [1])], [("a", [1]), ("b", [2])]]),
        (NUMBERS, "require<a>, get<b>", [[("a", [1])], [("b", [1])]]),
        (fleet.MultiSlotStringDataGenerator, "str, not int 1", [[("a", [1])]]),
    ],
)
def test_what_is_no_sample_is_refused(kind, law, samples):
    made = kind()
    with pytest.raises(ArgumentTypeError, match=law):
        for sample in samples:
            made._gen_str(sample)


def test_a_generator_must_say_what_its_samples_are():
    with pytest.raises(UnsupportedError, match="Please rewrite this function"):
        fleet.MultiSlotDataGenerator().run_from_memory()
    with pytest.raises(UnsupportedError, match="derive from MultiSlotDataGenerator"):
        data_generator.DataGenerator()._gen_str([])
