"""scull: a deep-learning framework in Python, with the API of PaddlePaddle 2.6."""

import scull.ops  # noqa: F401  declares the operators
