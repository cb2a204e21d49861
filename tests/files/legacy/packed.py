"""The arrays that the reference made, by name."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data"


@cache
def packed(name: str) -> dict[str, Any]:
    """Every array of a file."""
    parts = np.load(DATA / name)
    data = parts["data"].tobytes()
    found = {}
    for key, (dtype, shape, start) in json.loads(parts["index"].tobytes()).items():
        count = int(np.prod(shape))
        found[key] = np.frombuffer(data, dtype, count, start).reshape(shape)
    return found
