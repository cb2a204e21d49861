"""Sequences of words and tags, and data sets of them."""

from scull.deferred import deferred, listed

NAMES = {
    "decoding": "ViterbiDecoder viterbi_decode",
    "datasets": "Conll05st Imdb Imikolov Movielens UCIHousing WMT14 WMT16",
}

__getattr__, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)
