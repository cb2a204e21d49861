"""Masks of scores by name."""

from typing import Any

from scull.core.absent import absent

__getattr__ = absent(
    __name__,
    {
        "sequences of several lengths in a row are not known to attention here": (
            "BlockDiagonalCausalMask BlockDiagonalCausalWithOffsetPaddedKeysMask BlockDiagonalMask"
        )
    },
)


class LowerTriangularMask:
    """No place looks at later ones."""

    def add_bias(self, bias: Any) -> "LowerTriangularMaskWithTensorBias":
        """The mask, and `bias` added to the scores."""
        return LowerTriangularMaskWithTensorBias(bias)


class LowerTriangularMaskWithTensorBias(LowerTriangularMask):
    """No place looks at later ones, and `bias` is added to the scores."""

    def __init__(self, bias: Any) -> None:
        self.bias = self._bias = bias
