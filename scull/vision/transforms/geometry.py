"""Where the pixels of a turned, sheared or tilted image come from.

A matrix is 3 × 3, from a place in the new image to the place in the old one, as (x, y, 1) from the
upper left corner; the middle of the first pixel is at (0.5, 0.5).
"""

import math
from collections.abc import Sequence

import numpy as np

Size = tuple[int, int]  # height, width


def affine_matrix(
    center: Sequence[float],
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Sequence[float],
) -> np.ndarray:
    """Back from: shear and turn (clockwise, in degrees), scale, all about `center`; then move."""
    turn, x, y = math.radians(angle), *map(math.radians, shear)
    sheared = np.array([[1.0, -math.tan(x)], [-math.tan(y), 1.0 + math.tan(x) * math.tan(y)]])
    forth = scale * turned(-turn) @ sheared
    return about(np.linalg.inv(forth), np.asarray(center), np.asarray(center) + translate)


def turned(angle: float) -> np.ndarray:
    """The matrix of a turn; whole quarters are exact."""
    cosine, sine = round(math.cos(angle), 15), round(math.sin(angle), 15)
    return np.array([[cosine, sine], [-sine, cosine]])


def about(matrix: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The map that takes the point `new` to the point `old`, and is `matrix` around it."""
    whole = np.eye(3)
    whole[:2, :2] = matrix
    whole[:2, 2] = old - matrix @ new
    return whole


def rotation(size: Size, angle: float, expand: bool, center: object) -> tuple[np.ndarray, Size]:
    """Back from a turn against the clock, and the size of the new image."""
    height, width = size
    middle = np.array([width / 2, height / 2])
    point = middle if center is None else np.asarray(center, "float64")
    matrix = about(turned(-math.radians(angle % 360)), point, point)
    if not expand:
        return matrix, size
    corners = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1]])
    places = np.round(corners @ matrix.T, 9)
    most, least = places.max(0), places.min(0)
    ends = np.ceil(most) - np.floor(least) if angle % 90 else most - least  # quarters lose nothing
    new_width, new_height = int(ends[0]), int(ends[1])
    shift = np.eye(3)
    shift[:2, 2] = (width - new_width) / 2, (height - new_height) / 2
    return matrix @ shift, (new_height, new_width)


def perspective_matrix(startpoints: object, endpoints: object) -> np.ndarray:
    """What takes four points of the new image to four points of the old one."""
    rows: list[list[float]] = []
    old, new = np.asarray(startpoints, "float64"), np.asarray(endpoints, "float64")
    for (u, v), (x, y) in zip(old, new, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
    found = np.linalg.lstsq(np.array(rows), old.reshape(-1), rcond=None)[0]
    return np.append(found, 1.0).reshape(3, 3)


def origins(matrix: np.ndarray, size: Size) -> tuple[np.ndarray, np.ndarray]:
    """The x and the y in the old image of each pixel of a new one."""
    y, x = np.mgrid[: size[0], : size[1]] + 0.5
    across, down, depth = (row[0] * x + row[1] * y + row[2] for row in matrix)
    return across / depth, down / depth
