"""Loading of data under an older name yet."""

from scull.core.absent import absent
from scull.io import DataLoader

__getattr__ = absent(
    __name__,
    {
        "data is loaded by paddle.io.DataLoader": (
            "DataLoaderBase DatasetLoader DygraphGeneratorLoader GeneratorLoader PyReader"
        )
    },
)

__all__ = ["DataLoader"]
