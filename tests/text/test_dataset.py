"""Data sets of texts are read from archives in the layouts they are published in."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull import text
from scull.errors import AssertError, FileError, MissingFileError
from scull.io import source


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "CACHE", tmp_path / "cache")


def packed(path, members):
    """An archive of these texts."""
    with tarfile.open(path, "w:gz") as made:
        for name, data in members.items():
            data = data.encode() if isinstance(data, str) else data
            item = tarfile.TarInfo(name)
            item.size = len(data)
            made.addfile(item, io.BytesIO(data))
    return str(path)


def rows(dataset):
    """The samples of a data set as lists."""
    return [[part.tolist() for part in dataset[i]] for i in range(len(dataset))]


REVIEWS = {
    "aclImdb/train/neg/0_1.txt": "Bad, bad film!\n",
    "aclImdb/train/pos/0_9.txt": "A good film. <br /> GOOD",
    "aclImdb/train/pos/1_8.txt": "it's\n\ngood",
    "aclImdb/test/pos/0_9.txt": "good caf\u00e9",
    "aclImdb/test/neg/0_2.txt": "bad bad",
    "aclImdb/train/unsup/0_0.txt": "film film film film film",
    "aclImdb/imdb.vocab": "film",
}


def test_reviews_are_numbers_of_words_with_those_for_a_film_first(tmp_path):
    path = packed(tmp_path / "imdb.tar.gz", REVIEWS)
    found = text.Imdb(path, cutoff=1)
    assert found.word_idx == {b"bad": 0, b"good": 1, b"film": 2, "<unk>": 3}
    assert found.docs == [[3, 1, 2, 3, 1], [3, 1], [0, 0, 2]] and found.labels == [0, 0, 1]
    document, label = found[2]
    assert document.dtype == label.dtype == np.int64 and label.tolist() == [1]
    assert rows(text.Imdb(path, "TEST", cutoff=1)) == [[[1, 3], [0]], [[0, 0], [1]]]
    assert text.Imdb(path, cutoff=0).word_idx["caf\u00e9".encode()] == 5  # a, br, this
    with pytest.raises(FileError, match="has no reviews in aclImdb/train"):
        text.Imdb(packed(tmp_path / "other.tar.gz", {"a.txt": "b"}))


LINES = {
    "./simple-examples/data/ptb.train.txt": " the cat sat \n the dog \n\n",
    "./simple-examples/data/ptb.valid.txt": " the dog <unk> \n",
    "./simple-examples/data/ptb.test.txt": " a dog sat \n",
}


def test_sentences_are_windows_or_shifted_by_a_word(tmp_path):
    path = packed(tmp_path / "ptb.tgz", LINES)
    found = text.Imikolov(path, "seq", min_word_freq=1)
    assert found.word_idx == {"<e>": 0, "<s>": 1, b"the": 2, b"dog": 3, "<unk>": 4}
    assert rows(found) == [[[1, 2, 4, 4], [2, 4, 4, 0]], [[1, 2, 3], [2, 3, 0]], [[1], [0]]]
    assert len(text.Imikolov(path, "SEQ", 3, min_word_freq=1)) == 2
    grams = text.Imikolov(path, window_size=3, mode="test", min_word_freq=1)
    assert rows(grams) == [[1, 4, 3], [4, 3, 4], [3, 4, 0]] and grams[0][0].shape == ()
    with pytest.raises(AssertError, match="Invalid gram length"):
        text.Imikolov(path)
    with pytest.raises(AssertError, match="data type should be 'ngram' or 'seq', but got line"):
        text.Imikolov(path, "line")
    with pytest.raises(FileError, match=r"has no member `simple-examples/data/ptb\.train\.txt`"):
        text.Imikolov(packed(tmp_path / "other.tgz", {"a": "b"}), window_size=2)


def films(path, **changed):
    """An archive of marks."""
    files = {
        "movies": "1::Toy Story (1995)::Comedy|Animation\n7::Caf\xe9 Toy (1990)::Drama\n",
        "users": "1::F::1::10::48067\n2::M::56::16::70072\n",
        "ratings": "1::1::5::9\n1::7::3::9\n2::1::1::9\n2::7::4::9\n",
    }
    with zipfile.ZipFile(path, "w") as made:
        for name, data in (files | changed).items():
            made.writestr(f"ml-1m/{name}.dat", data.encode("latin-1"))
    return str(path)


def test_marks_have_who_gave_them_and_to_which_film(tmp_path):
    path = films(tmp_path / "ml.zip")
    found = text.Movielens(path, test_ratio=0.0)
    assert found.categories_dict == {"Animation": 0, "Comedy": 1, "Drama": 2}
    assert found.movie_title_dict == {"café": 0, "story": 1, "toy": 2}
    assert rows(found)[:2] == [
        [[1], [1], [0], [10], [1], [1, 0], [2, 1], [5.0]],
        [[1], [1], [0], [10], [7], [2], [0, 2], [1.0]],
    ]
    assert str(found.movie_info[7]) == "<MovieInfo id(7), title(Café Toy ), categories(['Drama'])>"
    assert str(found.user_info[2]) == "<UserInfo id(2), gender(M), age(56), job(16)>"
    before = np.random.get_state()[1].tolist()
    parts = [rows(text.Movielens(path, mode, 0.5, 3)) for mode in ("train", "test")]
    drawn = np.random.RandomState(3).random_sample(4) < 0.5
    assert parts == [
        [row for row, d in zip(rows(found), drawn, strict=True) if d == side]
        for side in (False, True)
    ]
    assert np.random.get_state()[1].tolist() == before
    whole = Path(path).read_bytes()
    for method in (12, 99):  # how members are packed: by bzip2, and as nobody packs them
        packed_so = whole.replace(
            b"PK\1\2\x14\3\x14\0\0\0\0\0", b"PK\1\2\x14\3\x14\0\0\0" + bytes([method, 0])
        )
        assert packed_so != whole
        Path(tmp_path / "strange.zip").write_bytes(packed_so)
        with pytest.raises(FileError, match="is no archive of this data set"):
            text.Movielens(str(tmp_path / "strange.zip"))
    for damage in (
        {"movies": "1::Toy::Comedy\n"},
        {"users": "1::F::2::10::4\n"},
        {"ratings": "9::1::5::9\n"},
        {"ratings": "1::1::five::9\n"},
    ):
        with pytest.raises(FileError, match="is no archive of this data set"):
            text.Movielens(films(tmp_path / "damaged.zip", **damage))


def test_houses_lie_around_their_mean(tmp_path):
    table = np.random.default_rng(0).uniform(0, 9, (11, 14)).round(2)
    path = tmp_path / "housing.data"
    path.write_text("\n".join(" ".join(map(str, row)) for row in table))
    train, test = text.UCIHousing(str(path)), text.UCIHousing(str(path), "test")
    assert (len(train), len(test)) == (8, 3)
    features = (table - table.mean(0)) / (table.max(0) - table.min(0))
    found, price = test[1]
    assert found.dtype == price.dtype == np.float32 and price.shape == (1,)
    np.testing.assert_allclose(found, features[9, :13], rtol=1e-5)
    np.testing.assert_allclose(price, table[9, 13:], rtol=1e-6)
    for damage in ("1 2 3", "one " * 14, ""):
        path.write_text(damage)
        with pytest.raises(FileError, match="holds no rows of 14 numbers"):
            text.UCIHousing(str(path))


def wmt14(path, train, **more):
    """An archive of sentences in French and English."""
    members = {
        "wmt14/src.dict": "<s>\n<e>\n<unk>\nle\nchat\n",
        "wmt14/trg.dict": "<s>\n<e>\n<unk>\nthe\ncat\n",
        "wmt14/train/train": train,
        "wmt14/gen/gen": "chat\tcat\n",
    }
    return packed(path, members | more)


def test_sentences_are_numbers_with_marks_around(tmp_path):
    path = wmt14(tmp_path / "wmt14.tgz", "le chat noir\tthe cat\nno tab\na\tb\tc\n")
    found = text.WMT14(path, dict_size=9)
    assert rows(found) == [[[0, 3, 4, 2, 1], [0, 3, 4], [3, 4, 1]]]
    assert found[0][0].dtype == np.int64
    assert rows(text.WMT14(path, "gen", dict_size=4)) == [[[0, 2, 1], [0, 2], [2, 1]]]
    assert found.get_dict()[0] == {"<s>": 0, "<e>": 1, "<unk>": 2, "le": 3, "chat": 4}
    assert found.get_dict(reverse=True)[1][4] == "cat"
    longest = f"{'le ' * 78}\tthe\n{'le ' * 79}\tthe\nle\t{'the ' * 80}\nle\t{'the ' * 81}"
    kept = text.WMT14(wmt14(tmp_path / "long.tgz", longest), dict_size=9)
    assert [len(row) for row in kept.src_ids] == [80, 3]
    with pytest.raises(AssertError, match="dict_size should be set as positive number"):
        text.WMT14(path)
    with pytest.raises(FileError, match="no member that ends with `test/test`"):
        text.WMT14(path, "test", dict_size=9)
    with pytest.raises(FileError, match=r"several members that end with `src\.dict`"):
        text.WMT14(wmt14(tmp_path / "two.tgz", "", **{"old/src.dict": ""}), dict_size=9)
    with pytest.raises(AssertError, match="'train', 'test' or 'gen', but got val"):
        text.WMT14(path, "val", dict_size=9)


PAIRS = {
    "wmt16/train": "a dog\tein hund\na man\tein mann\nbroken\n",
    "wmt16/val": "a dog\tein mann\n",
    "wmt16/test": "a cat\teine katze\n",
}


def test_the_words_of_each_language_are_numbered_by_how_often_they_occur(tmp_path):
    path = packed(tmp_path / "wmt16.tar.gz", PAIRS)
    found = text.WMT16(path, src_dict_size=9, trg_dict_size=9)
    assert found.get_dict("en") == {"<s>": 0, "<e>": 1, "<unk>": 2, "a": 3, "dog": 4, "man": 5}
    assert found.get_dict("de", reverse=True)[5] == "mann"
    assert rows(found) == [
        [[0, 3, 4, 1], [0, 3, 4], [3, 4, 1]],
        [[0, 3, 5, 1], [0, 3, 5], [3, 5, 1]],
    ]
    german = text.WMT16(path, "val", 4, 9, lang="de")
    assert rows(german) == [[[0, 3, 2, 1], [0, 3, 4], [3, 4, 1]]]
    assert rows(text.WMT16(path, "test", 4, 3)) == [[[0, 3, 2, 1], [0, 2, 2], [2, 2, 1]]]
    most = text.WMT16(path, src_dict_size=10**6, trg_dict_size=10**6)
    assert (most.src_dict_size, most.trg_dict_size) == (11250, 19220)
    with pytest.raises(AssertError, match="dict_size should be set"):
        text.WMT16(path, src_dict_size=9)
    with pytest.raises(AssertError, match="lang should be 'en' or 'de', but got fr"):
        text.WMT16(path, src_dict_size=9, trg_dict_size=9, lang="fr")
    with pytest.raises(FileError, match="has no member `wmt16/train`"):
        text.WMT16(packed(tmp_path / "a.tgz", {"a": ""}), src_dict_size=9, trg_dict_size=9)


WORDS = "The\ncat\nsat\n\nno\n\nDogs\nchase\nand\nbite\ncats\n\n"
ROLES = "- (A0*\n- *)\nsit (V*)\n\n-\n\n- (A0*) (A0*)\nchase (V*) *\n- (A1* *\nbite *) (V*)\n"
ROLES += "- * (A1*)\n\n"


def verbs(folder, words=WORDS, roles=ROLES):
    """The arguments for a set of verbs."""
    name = "conll05st-release/test.wsj/{0}/test.wsj.{0}.gz"
    members = {name.format("words"): words, name.format("props"): roles}
    files = {
        "word_dict_file": "<unk>\nThe\ncat\nsat\nDogs\nchase\nand\nbite\ncats\nbos\neos",
        "verb_dict_file": "sit\nchase\nbite\n",
        "target_dict_file": "B-V\nI-V\nB-A1\nI-A1\nB-A0\nI-A0\nO\n",
        "emb_file": "\0",
    }
    for file, data in files.items():
        (folder / file).write_text(data)
    compressed = {name: gzip.compress(data.encode(), mtime=0) for name, data in members.items()}
    data = packed(folder / "conll.tar.gz", compressed)
    return {"data_file": data} | {file: str(folder / file) for file in files}


def test_verbs_have_their_neighbours_and_the_roles_of_words(tmp_path):
    found = text.Conll05st(**verbs(tmp_path))
    words, verb_numbers, roles = found.get_dict()
    assert (words["The"], verb_numbers["bite"]) == (1, 2)
    assert list(roles) == ["B-A0", "I-A0", "B-A1", "I-A1", "B-V", "I-V", "O"]
    sit, chase, bite = rows(found)
    assert sit == [
        *([1, 2, 3], [1, 1, 1], [2, 2, 2], [3, 3, 3], [10, 10, 10], [10, 10, 10]),
        *([0, 0, 0], [1, 1, 1], [0, 1, 4]),
    ]
    assert chase[1:6] == [[9] * 5, [4] * 5, [5] * 5, [6] * 5, [7] * 5]
    assert chase[6:] == [[1] * 5, [1, 1, 1, 1, 0], [0, 4, 2, 3, 6]]
    assert bite[7:] == [[0, 1, 1, 1, 1], [0, 6, 6, 4, 2]]
    assert found.get_embedding() == str(tmp_path / "emb_file")
    given = verbs(tmp_path)
    for lacking in given:
        part = {name: path for name, path in given.items() if name != lacking}
        with pytest.raises(AssertError, match=f"{lacking} is not set and downloading"):
            text.Conll05st(**part, download=False)


@pytest.mark.parametrize(
    ("words", "roles", "law"),
    [
        ("a\nb\n\n", "sit (V*)\n\n", "the words and the roles of .* do not fit"),
        ("a\n\n", "go (V*) *\n\n", "1 verbs and 2 columns"),
        ("a\n\n", "go *\n\n", "no word of .* is the verb `go`"),
        ("a\n\n", "go (V*)\n\n", "the lists lack go of"),
        ("a\nb\n\n", "sit (V*)\n- (C-V*)\n\n", "the lists lack B-C-V of"),
        ("a\nb\n\n", "sit (V*)\n-\n\n", "have not one number of columns"),
    ],
)
def test_verbs_that_their_files_do_not_tell_are_refused(words, roles, law, tmp_path):
    with pytest.raises(FileError, match=law):
        rows(text.Conll05st(**verbs(tmp_path, words, roles)))


SETS = {
    "Imdb": {},
    "Imikolov": {"window_size": 2},
    "Movielens": {},
    "UCIHousing": {},
    "WMT14": {"dict_size": 3},
    "WMT16": {"src_dict_size": 3, "trg_dict_size": 3},
    "Conll05st": {},
}


@pytest.mark.parametrize("name", SETS)
def test_files_that_are_not_there_are_named_with_where_they_come_from(name, tmp_path):
    kind = getattr(paddle.text.datasets, name)
    assert getattr(text, name) is kind
    with pytest.raises(MissingFileError, match=r"scull downloads nothing: get https?://.* \(MD5 "):
        kind(**SETS[name])
    with pytest.raises(AssertError, match="data_file is not set and downloading"):
        kind(**SETS[name], download=False)
    with pytest.raises(MissingFileError, match="there is no file `nowhere`"):
        kind("nowhere", **SETS[name])
    (tmp_path / "junk").write_bytes(b"junk")
    given = verbs(tmp_path) | {"data_file": str(tmp_path / "junk")}
    given = given if name == "Conll05st" else {"data_file": given["data_file"]}
    with pytest.raises(FileError):
        kind(**given, **SETS[name])
    if name != "Conll05st":
        with pytest.raises(AssertError, match="but got nonsense"):
            kind(**given, **SETS[name], mode="nonsense")


def test_an_archive_that_ends_early_is_refused(tmp_path):
    path = tmp_path / "imdb.tar.gz"
    packed(path, REVIEWS)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(FileError, match="is no archive of this data set"):
        text.Imdb(str(path))
