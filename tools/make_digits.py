"""Write scull/vision/data/digits.npz from the comma-separated file of the data set.

Usage: `python tools/make_digits.py FILE`, where FILE has on each line the 64 pixels of an image
and its label, as the test part of the Optical Recognition of Handwritten Digits is published;
it may be compressed with gzip.
"""

import sys
import zipfile
from pathlib import Path

import numpy as np

DIGITS = Path(__file__).resolve().parent.parent / "scull" / "vision" / "data" / "digits.npz"


def read(path: str) -> dict:
    """Return the images (n, 8, 8) of pixels from 0 to 16, and the labels (n,)."""
    table = np.loadtxt(path, delimiter=",", dtype=np.float64)
    rows, columns = table.shape
    if columns != 65 or not np.array_equal(table, np.floor(table)):
        raise SystemExit(f"{path} does not have 65 whole numbers on each line")
    images, labels = table[:, :64].reshape(rows, 8, 8), table[:, 64]
    if images.min() < 0 or images.max() > 16 or set(labels) != set(range(10)):
        raise SystemExit(f"{path} has a pixel outside 0..16 or not the labels 0..9")
    return {"images": images.astype(np.uint8), "labels": labels.astype(np.uint8)}


def write(path: Path, arrays: dict) -> None:
    """Write the arrays so that equal arrays give equal bytes."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w") as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    DIGITS.parent.mkdir(parents=True, exist_ok=True)
    write(DIGITS, read(sys.argv[1]))


if __name__ == "__main__":
    main()
