"""Networks whose weights keep a pattern of zeros: of every m neighbours n are zero."""

from scull.core.door import doors
from scull.incubate.asp.mask import (
    CheckMethod,
    MaskAlgo,
    calculate_density,
    check_mask_1d,
    check_mask_2d,
    check_sparsity,
    create_mask,
    get_mask_1d,
    get_mask_2d_best,
    get_mask_2d_greedy,
)
from scull.incubate.asp.support import (
    add_supported_layer,
    reset_excluded_layers,
    set_excluded_layers,
)
from scull.incubate.asp.workflow import (
    ASPHelper,
    OptimizerWithSparsityGuarantee,
    decorate,
    prune_model,
)

doors(__name__, "asp supported_layer_list utils")
__all__ = [
    "ASPHelper",
    "CheckMethod",
    "MaskAlgo",
    "OptimizerWithSparsityGuarantee",
    "add_supported_layer",
    "calculate_density",
    "check_mask_1d",
    "check_mask_2d",
    "check_sparsity",
    "create_mask",
    "decorate",
    "get_mask_1d",
    "get_mask_2d_best",
    "get_mask_2d_greedy",
    "prune_model",
    "reset_excluded_layers",
    "set_excluded_layers",
]
