"""Reviews of films, for and against."""

import re
import string
from collections import Counter

import numpy as np

from scull.errors import FileError
from scull.io import Dataset, archive
from scull.io.source import checked, file_of
from scull.text.datasets.words import UNKNOWN, by_frequency

URL = "https://dataset.bj.bcebos.com/imdb%2FaclImdb_v1.tar.gz"
MD5 = "7c2ac02c03563afcf9b574c7e56c153a"
REVIEW = re.compile(r"aclImdb/(train|test)/(pos|neg)/.*\.txt$")
MARKS = string.punctuation.encode()


class Imdb(Dataset):
    """Reviews of films: the numbers of the words, int64[words], and int64[1]: 0 for, 1 against.

    A. L. Maas and others, "Learning word vectors for sentiment analysis" (2011). `word_idx` has
    the number of each word, as bytes; words that are not in it have that of ``"<unk>"``.

    Args:
        data_file (str, optional): the archive; the one that Paddle downloaded when None.
        mode (str): ``"train"`` or ``"test"``.
        cutoff (int): a word is in the list that occurs more often in the reviews of both.
        download (bool): True: look for a file that is not given; nothing is downloaded.

    Raises:
        MissingFileError: there is no such file; the message says where it comes from.
        FileError: the archive is damaged, or has no reviews.
        AssertError: another mode, or no file and `download` is False.
    """

    def __init__(self, data_file=None, mode="train", cutoff=150, download=True):
        self.mode = checked(mode)
        self.data_file = file_of(data_file, "data_file", "imdb", URL, MD5, download)
        counts, texts = Counter(), {"pos": [], "neg": []}
        with archive.opened(self.data_file) as found:
            for name, stream in archive.members(found, REVIEW.match):
                part, side = REVIEW.match(name).groups()
                text = plain(archive.content(stream, name))
                counts.update(text.split())
                if part == self.mode:
                    texts[side].append(text)
        if not any(texts.values()):
            raise FileError(f"`{self.data_file}` has no reviews in aclImdb/{self.mode}")
        self.word_idx = by_frequency(counts, cutoff)
        unknown = self.word_idx[UNKNOWN]
        self.docs = [
            [self.word_idx.get(word, unknown) for word in text.split()]
            for side in texts.values()
            for text in side
        ]
        self.labels = [0] * len(texts["pos"]) + [1] * len(texts["neg"])

    def __getitem__(self, idx):
        return np.array(self.docs[idx], np.int64), np.array([self.labels[idx]])

    def __len__(self):
        return len(self.docs)


def plain(text):
    """A text in small letters, without marks."""
    return text.translate(None, MARKS).lower()
