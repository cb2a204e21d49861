"""Functions on tensors: made, computed with, moved, searched; and the methods of the same names."""

from scull.core.door import doors
from scull.deferred import deferred, listed
from scull.eager.text import set_printoptions
from scull.tensor import inplace, method

NAMES = {
    "arrange": "atleast_1d atleast_2d atleast_3d rot90 unfold vsplit",
    "attribute": "broadcast_shape is_complex is_floating_point is_integer numel rank shape tolist",
    "complex_number": "angle as_complex as_real complex conj imag polar real sgn",
    "contraction": "einsum",
    "covariance": "cdist",
    "creation": """
        arange assign clone empty empty_like full full_like linspace logspace ones ones_like
        to_tensor zeros zeros_like""",
    "cumulate": "cummax cummin cumprod logcumsumexp",
    "decomposition": "cholesky eigvalsh",
    "draw": "cauchy_ geometric_ normal_ poisson",
    "elementwise": """
        add add_n divide floor_divide floor_mod fmax fmin heaviside hypot increment ldexp lerp
        maximum minimum mod multiply pow remainder scale subtract""",
    "equation": "inverse",
    "fill": "crop shard_index tril_indices triu_indices",
    "function": """
        abs cast ceil clip erf exp expm1 floor frac isfinite isinf isnan log log10 log1p log2
        nan_to_num neg reciprocal round rsqrt sigmoid sign sqrt square tanh trunc""",
    "inplace": inplace.NAMES + " where_",
    "join": """
        chunk concat gather gather_nd index_add index_put index_sample index_select masked_fill
        masked_select put_along_axis scatter scatter_nd scatter_nd_add split stack take_along_axis
        unbind unstack""",
    "linalg": """
        addmm bincount bmm cross dist dot histogram inner kron matmul mm mv norm outer tensordot""",
    "logic": """
        all allclose any bitwise_and bitwise_not bitwise_or bitwise_xor equal equal_all
        greater_equal greater_than is_empty is_tensor isclose less_equal less_than logical_and
        logical_not logical_or logical_xor not_equal""",
    "manipulation": """
        as_strided broadcast_tensors broadcast_to expand expand_as flatten flip moveaxis
        repeat_interleave reshape reverse roll slice squeeze strided_slice t tile transpose
        unflatten unsqueeze view view_as""",
    "matrix": "diag diag_embed diagflat diagonal eye meshgrid trace tril triu",
    "number": "frexp gcd lcm logaddexp nextafter",
    "place": "diagonal_scatter index_fill renorm select_scatter take",
    "random": """
        bernoulli get_rng_state multinomial normal rand randint randint_like randn randperm seed
        set_rng_state standard_normal uniform""",
    "reduction": "amax amin count_nonzero cumsum diff logsumexp max mean min nansum prod sum",
    "search": """
        argmax argmin argsort bucketize kthvalue mode multiplex nonzero searchsorted sort topk
        unique unique_consecutive where""",
    "series": "combinations cumulative_trapezoid trapezoid vander",
    "special": "digamma erfinv i0 i0e i1 i1e lgamma logit multigammaln polygamma",
    "stat": "median nanmean nanmedian nanquantile quantile std var",
    "trigonometry": """
        acos acosh asin asinh atan atan2 atanh cos cosh deg2rad rad2deg sin sinh stanh tan""",
}
OWN = {
    "array": "array_length array_read array_write create_array tensor_array_to_tensor",
    "covariance": "corrcoef cov householder_product pca_lowrank",
    "blank": "create_tensor",
    "creation": "fill_constant",
    "decomposition": "cond eig eigh eigvals lu lu_unpack pinv qr svd",
    "draw": "exponential_ uniform_",
    "equation": "cholesky_solve lstsq matrix_power multi_dot solve",
    "fill": "fill_diagonal_ fill_diagonal_tensor fill_diagonal_tensor_",
}

method.attach(NAMES)
method.attach(OWN)
method.attach({"spectrogram": "istft stft"}, "scull.signal")
method.attach(
    {
        "conversion": """
            coalesce cols crows indices nnz to_dense to_sparse_coo to_sparse_csr values"""
    },
    "scull.sparse",
)
__getattr__, __dir__ = deferred(__name__, NAMES, OWN, {"": "math"})
doors(__name__, "ops")
__all__ = ["set_printoptions", *listed(NAMES)]
