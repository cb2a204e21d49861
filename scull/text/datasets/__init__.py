"""Data sets of texts and numbers, from files that are there: nothing is downloaded."""

from scull.deferred import deferred, listed

NAMES = {
    "conll05": "Conll05st",
    "imdb": "Imdb",
    "imikolov": "Imikolov",
    "movielens": "Movielens",
    "uci_housing": "UCIHousing",
    "wmt14": "WMT14",
    "wmt16": "WMT16",
}

__getattr__, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)
