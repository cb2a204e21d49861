"""Linear algebra by its public name."""

from scull.tensor.covariance import corrcoef, cov, householder_product, pca_lowrank
from scull.tensor.decomposition import (
    cholesky,
    cond,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    lu,
    lu_unpack,
    matrix_rank,
    pinv,
    qr,
    svd,
)
from scull.tensor.equation import (
    cholesky_solve,
    det,
    inv,
    lstsq,
    matrix_power,
    multi_dot,
    slogdet,
    solve,
    triangular_solve,
)
from scull.tensor.linalg import norm

__all__ = [
    "cholesky", "cholesky_solve", "cond", "corrcoef", "cov", "det", "eig", "eigh", "eigvals",
    "eigvalsh", "householder_product", "inv", "lstsq", "lu", "lu_unpack", "matrix_power",
    "matrix_rank", "multi_dot", "norm", "pca_lowrank", "pinv", "qr", "slogdet", "solve", "svd",
    "triangular_solve",
]  # fmt: skip
