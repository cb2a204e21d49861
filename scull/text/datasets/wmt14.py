"""Sentences in French and English."""

from itertools import islice

from scull.errors import AssertError, FileError
from scull.io import Dataset, archive
from scull.io.source import checked, file_of
from scull.text.datasets.words import arrays, numbered, reversed_if

URL = "http://paddlemodels.bj.bcebos.com/wmt/wmt14.tgz"
MD5 = "0791583d57d5beb693b9414c5b36798c"
MODES = ("train", "test", "gen")
START, END, UNKNOWN = 0, 1, 2  # the first lines of every list of words
LONGEST = 80  # words of a sentence that is taken


class WMT14(Dataset):
    """Sentences in two languages: the numbers of the words of one, with marks around, and of the
    other with the mark before and with that behind, int64[words] each.

    It is the small part of the data of the Workshop on Statistical Machine Translation of 2014
    that Paddle publishes. Sentences of more than 80 words are left out.

    Args:
        data_file (str, optional): the archive; the one that Paddle downloaded when None.
        mode (str): ``"train"``, ``"test"`` or ``"gen"``.
        dict_size (int): how many words of each language are told apart.
        download (bool): True: look for a file that is not given; nothing is downloaded.

    Raises:
        MissingFileError: there is no such file; the message says where it comes from.
        FileError: the archive is damaged, or lacks a file.
        AssertError: another mode, no `dict_size`, or no file and `download` is False.
    """

    def __init__(self, data_file=None, mode="train", dict_size=-1, download=True):
        self.mode = checked(mode, MODES)
        self.data_file = file_of(data_file, "data_file", "wmt14", URL, MD5, download)
        if not dict_size > 0:
            raise AssertError(f"dict_size should be set as positive number, not {dict_size}")
        self.dict_size = dict_size
        self.src_ids, self.trg_ids, self.trg_ids_next = [], [], []
        with archive.opened(self.data_file) as found:
            self.src_dict, self.trg_dict = (self._words(found, part) for part in ("src", "trg"))
            part = f"{self.mode}/{self.mode}"
            for stream in self._files(found, part):
                for line in archive.lines(stream):
                    self._add(line.split("\t"))

    def _files(self, found, end):
        streams = [stream for _, stream in archive.members(found, lambda n: n.endswith(end))]
        if not streams:
            raise FileError(f"`{self.data_file}` has no member that ends with `{end}`")
        return streams

    def _words(self, found, part):
        stream, *more = self._files(found, f"{part}.dict")
        if more:
            raise FileError(f"`{self.data_file}` has several members that end with `{part}.dict`")
        return numbered(islice(archive.lines(stream), self.dict_size))

    def _add(self, sentences):
        if len(sentences) != 2:
            return
        source, target = (
            [words.get(word, UNKNOWN) for word in sentence.split()]
            for sentence, words in zip(sentences, (self.src_dict, self.trg_dict), strict=True)
        )
        if len(source) + 2 <= LONGEST and len(target) <= LONGEST:
            self.src_ids.append([START, *source, END])
            self.trg_ids.append([START, *target])
            self.trg_ids_next.append([*target, END])

    def __getitem__(self, idx):
        return arrays(self.src_ids[idx], self.trg_ids[idx], self.trg_ids_next[idx])

    def __len__(self):
        return len(self.src_ids)

    def get_dict(self, reverse=False):
        """The numbers of the words of both languages, or the words by their numbers.

        Args:
            reverse (bool): whether numbers are the keys.

        Returns:
            tuple[dict, dict]: of the first language and of the second.
        """
        return reversed_if(reverse, self.src_dict), reversed_if(reverse, self.trg_dict)
