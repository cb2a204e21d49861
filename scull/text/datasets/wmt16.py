"""Sentences in English and German about pictures."""

from collections import Counter

from scull.errors import AssertError
from scull.io import Dataset, archive
from scull.io.source import checked, file_of
from scull.text.datasets.words import arrays, numbered, reversed_if

URL = "http://paddlemodels.bj.bcebos.com/wmt/wmt16.tar.gz"
MD5 = "0c38be43600334966403524a40dcd81e"
TOTAL = {"en": 11250, "de": 19220}  # how many words there are, marks included
MARKS = ("<s>", "<e>", "<unk>")
LANGUAGES = ("en", "de")


class WMT16(Dataset):
    """Sentences in two languages: the numbers of the words of one, with marks around, and of the
    other with the mark before and with that behind, int64[words] each.

    D. Elliott and others, "Multi30K: multilingual English-German image descriptions" (2016). The
    words of each language are numbered by how often they occur in ``"train"``.

    Args:
        data_file (str, optional): the archive; the one that Paddle downloaded when None.
        mode (str): ``"train"``, ``"test"`` or ``"val"``.
        src_dict_size (int): how many words of the first language are told apart, marks included.
        trg_dict_size (int): how many of the other.
        lang (str): the first language: ``"en"`` or ``"de"``.
        download (bool): True: look for a file that is not given; nothing is downloaded.

    Raises:
        MissingFileError: there is no such file; the message says where it comes from.
        FileError: the archive is damaged, or lacks a file.
        AssertError: another mode or language, no size, or no file and `download` is False.
    """

    def __init__(
        self,
        data_file=None,
        mode="train",
        src_dict_size=-1,
        trg_dict_size=-1,
        lang="en",
        download=True,
    ):
        self.mode = checked(mode, ("train", "test", "val"))
        self.lang = checked(lang, LANGUAGES, "lang")
        self.data_file = file_of(data_file, "data_file", "wmt16", URL, MD5, download)
        if not (src_dict_size > 0 and trg_dict_size > 0):
            raise AssertError("dict_size should be set as positive number")
        other = LANGUAGES[1 - LANGUAGES.index(self.lang)]
        self.src_dict_size = min(src_dict_size, TOTAL[self.lang])
        self.trg_dict_size = min(trg_dict_size, TOTAL[other])
        with archive.opened(self.data_file) as found:
            pairs = {
                part: list(sentences(archive.member(found, f"wmt16/{part}"), self.lang))
                for part in dict.fromkeys(("train", self.mode))
            }
        sources, targets = zip(*pairs["train"], strict=True) if pairs["train"] else ((), ())
        self.src_dict = frequent(sources, self.src_dict_size)
        self.trg_dict = frequent(targets, self.trg_dict_size)
        self.src_ids, self.trg_ids, self.trg_ids_next = [], [], []
        start, end, unknown = range(len(MARKS))
        for source, target in pairs[self.mode]:
            numbers = [self.trg_dict.get(word, unknown) for word in target]
            self.trg_ids.append([start, *numbers])
            self.trg_ids_next.append([*numbers, end])
            numbers = [self.src_dict.get(word, unknown) for word in source]
            self.src_ids.append([start, *numbers, end])

    def __getitem__(self, idx):
        return arrays(self.src_ids[idx], self.trg_ids[idx], self.trg_ids_next[idx])

    def __len__(self):
        return len(self.src_ids)

    def get_dict(self, lang, reverse=False):
        """The numbers of the words of a language, or the words by their numbers.

        Args:
            lang (str): ``"en"`` or ``"de"``.
            reverse (bool): whether numbers are the keys.

        Returns:
            dict: of the words that are told apart.
        """
        words = self.src_dict if checked(lang, LANGUAGES, "lang") == self.lang else self.trg_dict
        return reversed_if(reverse, words)


def sentences(stream, lang):
    """The words of pairs of sentences, those of `lang` first."""
    for line in archive.lines(stream):
        pair = line.split("\t")
        if len(pair) == 2:
            first, second = (sentence.split() for sentence in pair)
            yield (first, second) if lang == "en" else (second, first)


def frequent(texts, size):
    """The most frequent words and the marks, numbered."""
    counts = Counter(word for text in texts for word in text)
    words = (word for word, _ in counts.most_common(max(size - len(MARKS), 0)))
    return numbered((*MARKS, *words))
