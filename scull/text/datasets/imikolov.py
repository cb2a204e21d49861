"""Sentences of a newspaper, in which rare words are left out."""

from collections import Counter

from scull.errors import AssertError
from scull.io import Dataset, archive
from scull.io.source import checked, file_of
from scull.text.datasets.words import UNKNOWN, arrays, by_frequency

URL = "https://dataset.bj.bcebos.com/imikolov%2Fsimple-examples.tgz"
MD5 = "30177ea32e27c525793142b6bf2c8e2d"
PART = "simple-examples/data/ptb.{}.txt"
START, END = "<s>", "<e>"


class Imikolov(Dataset):
    """Sentences of the Penn Treebank, for models of languages, as numbers of words.

    ``"NGRAM"``: `window_size` words that follow each other, 0-D int64 each. ``"SEQ"``: a sentence
    with ``"<s>"`` before it, and one with ``"<e>"`` behind it, int64[words]. `word_idx` has the
    number of each word, as bytes; words that are not in it have that of ``"<unk>"``.

    Args:
        data_file (str, optional): the archive; the one that Paddle downloaded when None.
        data_type (str): ``"NGRAM"`` or ``"SEQ"``.
        window_size (int): how many words; of ``"SEQ"`` the longest sentences that are taken, all
            when it is not above 0.
        mode (str): ``"train"`` or ``"test"``.
        min_word_freq (int): a word is in the list that occurs more often.
        download (bool): True: look for a file that is not given; nothing is downloaded.

    Raises:
        MissingFileError: there is no such file; the message says where it comes from.
        FileError: the archive is damaged, or lacks a file.
        AssertError: another mode or `data_type`, a window of no words, or no file and `download`
            is False.
    """

    def __init__(
        self,
        data_file=None,
        data_type="NGRAM",
        window_size=-1,
        mode="train",
        min_word_freq=50,
        download=True,
    ):
        self.data_type = checked(data_type, ("ngram", "seq"), "data type").upper()
        self.mode = checked(mode)
        self.window_size, self.min_word_freq = window_size, min_word_freq
        self.data_file = file_of(data_file, "data_file", "imikolov", URL, MD5, download)
        if self.data_type == "NGRAM" and window_size < 1:
            raise AssertError(f"Invalid gram length: a window of {window_size} words")
        with archive.opened(self.data_file) as found:
            sentences = {
                part: [line.split() for line in archive.member(found, PART.format(part))]
                for part in ("train", "valid", "test")
            }
        counts = Counter()
        for part in ("train", "valid"):
            for words in sentences[part]:
                counts.update([START, *words, END])
        self.word_idx = by_frequency(counts, min_word_freq)
        self.data = [row for words in sentences[self.mode] for row in self._rows(words)]

    def _rows(self, words):
        unknown = self.word_idx[UNKNOWN]
        numbers = [self.word_idx.get(word, unknown) for word in (START, *words, END)]
        if self.data_type == "NGRAM":
            size = self.window_size
            return [tuple(numbers[i : i + size]) for i in range(len(numbers) - size + 1)]
        longest = self.window_size if self.window_size > 0 else len(numbers)
        return [(numbers[:-1], numbers[1:])] if len(numbers) - 1 <= longest else []

    def __getitem__(self, idx):
        return arrays(*self.data[idx])

    def __len__(self):
        return len(self.data)
