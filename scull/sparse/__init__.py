"""Tensors of which only some elements are stored: by their coordinates, or row by row."""

from scull.deferred import deferred, listed

NAMES = {
    "binary": "add divide is_same_shape masked_matmul matmul multiply mv subtract",
    "conversion": "coalesce",
    "creation": "sparse_coo_tensor sparse_csr_tensor",
    "multiary": "addmm",
    "order": "reshape slice sum transpose",
    "rank": "pca_lowrank",
    "unary": """
        abs asin asinh atan atanh cast deg2rad expm1 isnan log1p neg pow rad2deg sin sinh sqrt
        square tan tanh""",
}

__getattr__, __dir__ = deferred(__name__, NAMES, {"": "nn"})
__all__ = listed(NAMES)
