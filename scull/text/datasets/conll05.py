"""Sentences with what their verbs say of whom."""

import gzip

import numpy as np

from scull.errors import FileError
from scull.io import Dataset, archive
from scull.io.source import file_of
from scull.text.datasets.words import arrays, numbered

FOLDER = "http://paddlemodels.bj.bcebos.com/conll05st"
FILES = {
    "data_file": ("/conll05st-tests.tar.gz", "387719152ae52d60422c016e92a742fc"),
    "word_dict_file": ("%2FwordDict.txt", "ea7fb7d4c75cc6254716f0177a506baa"),
    "verb_dict_file": ("%2FverbDict.txt", "0d2977293bbb6cbefab5b0f97db1e77c"),
    "target_dict_file": ("%2FtargetDict.txt", "d8c7f03ceb5fc2e5a0fa7503a4353751"),
    "emb_file": ("%2Femb", "bf436eb0faa1f6f9103017f8be57cdb7"),
}
PART = "conll05st-release/test.wsj/{0}/test.wsj.{0}.gz"
UNKNOWN = 0  # the number of words that are not in the list
NEAR = range(-2, 3)  # the places around a verb that are looked at


class Conll05st(Dataset):
    """Verbs of sentences, nine arrays int64[words] each: the words, those at two places before the
    verb, one before, its own, one and two behind, the verb, 1 where a word is one of these, and
    the roles.

    X. Carreras and L. Màrquez, "Introduction to the CoNLL-2005 shared task: semantic role
    labeling" (2005): the part for tests. A word has one number in all places of a sentence where
    it is looked at. Roles are numbered in the order of the alphabet: B-role, I-role, and O last.

    Args:
        data_file (str, optional): the archive; the one that Paddle downloaded when None.
        word_dict_file (str, optional): the list of the words.
        verb_dict_file (str, optional): the list of the verbs.
        target_dict_file (str, optional): the list of the roles.
        emb_file (str, optional): the vectors of the words, whose path `get_embedding` gives.
        download (bool): True: look for files that are not given; nothing is downloaded.

    Raises:
        MissingFileError: there is no such file; the message says where it comes from.
        FileError: the archive is damaged, or its lines do not say what they should.
        AssertError: no file, and `download` is False.
    """

    def __init__(
        self,
        data_file=None,
        word_dict_file=None,
        verb_dict_file=None,
        target_dict_file=None,
        emb_file=None,
        download=True,
    ):
        given = (data_file, word_dict_file, verb_dict_file, target_dict_file, emb_file)
        for (name, (path, md5)), file in zip(FILES.items(), given, strict=True):
            setattr(self, name, file_of(file, name, "conll05st", FOLDER + path, md5, download))
        self.word_dict = numbered(listed(self.word_dict_file))
        self.predicate_dict = numbered(listed(self.verb_dict_file))
        roles = {line[2:] for line in listed(self.target_dict_file) if line[:2] in ("B-", "I-")}
        labels = (f"{start}-{role}" for role in sorted(roles) for start in "BI")
        self.label_dict = numbered((*labels, "O"))
        self.sentences, self.predicates, self.labels = [], [], []
        with archive.opened(self.data_file) as found:
            words, marks = (
                gzip.GzipFile(fileobj=archive.member(found, PART.format(part)))
                for part in ("words", "props")
            )
            for rows in blocks(archive.lines(words), archive.lines(marks), self.data_file):
                self._add(rows)

    def _add(self, rows):
        """The verbs of a sentence, of whose rows each has a word, a verb or -, and its roles."""
        words = [word for word, _ in rows]
        if len({len(fields) for _, fields in rows}) > 1:
            raise FileError(f"the rows of {' '.join(words)} have not one number of columns")
        columns = list(zip(*(fields for _, fields in rows), strict=True))
        verbs = [verb for verb in columns[0] if verb != "-"]
        if len(verbs) != len(columns) - 1:
            raise FileError(
                f"{' '.join(words)} has {len(verbs)} verbs and {len(columns) - 1} columns"
            )
        for verb, column in zip(verbs, columns[1:], strict=True):
            labels = list(roles_of(column))
            if "B-V" not in labels:
                raise FileError(f"no word of `{self.data_file}` is the verb `{verb}` in {column}")
            self.sentences.append(words)
            self.predicates.append(verb)
            self.labels.append(labels)

    def __getitem__(self, idx):
        words, labels, verb = self.sentences[idx], self.labels[idx], self.predicates[idx]
        strange = {*labels} - {*self.label_dict} or {verb} - {*self.predicate_dict}
        if strange:
            raise FileError(f"the lists lack {', '.join(sorted(strange))} of `{self.data_file}`")
        size, place = len(words), labels.index("B-V")
        near = [place + i for i in NEAR]
        seen = ["bos" if i < 0 else "eos" if i >= size else words[i] for i in near]
        around = ([self.word_dict.get(word, UNKNOWN)] * size for word in seen)
        return arrays(
            [self.word_dict.get(word, UNKNOWN) for word in words],
            *around,
            [self.predicate_dict[verb]] * size,
            np.isin(range(size), near).astype(np.int64),
            [self.label_dict[label] for label in labels],
        )

    def __len__(self):
        return len(self.sentences)

    def get_dict(self):
        """The numbers of words, verbs and roles.

        Returns:
            tuple[dict, dict, dict]: these.
        """
        return self.word_dict, self.predicate_dict, self.label_dict

    def get_embedding(self):
        """The file of the vectors of words.

        Returns:
            str: its path.
        """
        return self.emb_file


def listed(path):
    """The lines of a file, without spaces around."""
    with open(path, "rb") as stream:
        return list(archive.lines(stream))


def blocks(words, marks, path):
    """The rows of each sentence: a word, and the fields beside it."""
    rows = []
    try:
        for word, line in zip(words, marks, strict=True):
            if line:
                rows.append((word, line.split()))
            elif rows:
                yield rows
                rows = []
    except ValueError as error:
        raise FileError(f"the words and the roles of `{path}` do not fit: {error}") from None
    if rows:
        yield rows


def roles_of(column):
    """The role of each word of a sentence: B-role where it starts, I-role in it, else O."""
    role = None
    for mark in column:
        if mark.startswith("("):
            role = mark[1:].partition("*")[0]
            yield f"B-{role}"
        else:
            yield f"I-{role}" if role else "O"
        if mark.endswith(")"):
            role = None
