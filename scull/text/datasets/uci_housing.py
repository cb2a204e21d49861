"""Prices of houses in Boston."""

import numpy as np

from scull.core import session
from scull.errors import FileError
from scull.io import Dataset
from scull.io.source import checked, file_of

URL = "http://paddlemodels.bj.bcebos.com/uci_housing/housing.data"
MD5 = "d4accdce7a25600298819f8e28e8d593"
COLUMNS = 14  # thirteen features and the price
TRAINED = 0.8  # the part of the rows that a model learns from


class UCIHousing(Dataset):
    """Places in Boston: thirteen features, less their mean and divided by their range, and prices.

    D. Harrison and D. L. Rubinfeld, "Hedonic prices and the demand for clean air" (1978).

    Args:
        data_file (str, optional): the file; the one that Paddle downloaded when None.
        mode (str): ``"train"``: the first four fifths of the rows, or ``"test"``: the others.
        download (bool): True: look for a file that is not given; nothing is downloaded.

    Raises:
        MissingFileError: there is no such file; the message says where it comes from.
        FileError: it does not hold rows of fourteen numbers.
        AssertError: another mode, or no file and `download` is False.
    """

    def __init__(self, data_file=None, mode="train", download=True):
        self.mode = checked(mode)
        self.data_file = file_of(data_file, "data_file", "uci_housing", URL, MD5, download)
        try:
            with open(self.data_file, encoding="ascii") as stream:
                rows = np.array(stream.read().split(), np.float64).reshape(-1, COLUMNS)
            spread = np.ptp(rows[:, :-1], axis=0)
        except ValueError as error:
            law = f"`{self.data_file}` holds no rows of {COLUMNS} numbers"
            raise FileError(f"{law}: {error}") from None
        rows[:, :-1] = (rows[:, :-1] - rows[:, :-1].mean(axis=0)) / spread
        first = int(len(rows) * TRAINED)
        self.data = rows[:first] if self.mode == "train" else rows[first:]
        self.dtype = session.default_dtype()

    def __getitem__(self, idx):
        row = self.data[idx].astype(self.dtype.array)
        return row[:-1], row[-1:]

    def __len__(self):
        return len(self.data)
