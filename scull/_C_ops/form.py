"""How Paddle's functional names differ from the operators as declared: type, arguments, results."""

# Functional names that are neither the name of an operator here nor its type.
TYPES = {
    "all": "reduce_all",
    "amax": "reduce_amax",
    "amin": "reduce_amin",
    "any": "reduce_any",
    "bicubic_interp": "bicubic_interp_v2",
    "bilinear": "bilinear_tensor_product",
    "bilinear_interp": "bilinear_interp_v2",
    "cross_entropy_with_softmax": "softmax_with_cross_entropy",
    "det": "determinant",
    "expand_as": "expand_as_v2",
    "fill": "fill_any",
    "full": "fill_constant",
    "full_batch_size_like": "fill_constant_batch_size_like",
    "full_with_tensor": "fill_constant",
    "gammaln": "lgamma",
    "generate_proposals": "generate_proposals_v2",
    "grid_sample": "grid_sampler",
    "hardshrink": "hard_shrink",
    "hardsigmoid": "hard_sigmoid",
    "hardswish": "hard_swish",
    "hardtanh": "brelu",
    "hsigmoid_loss": "hierarchical_sigmoid",
    "linear_interp": "linear_interp_v2",
    "matmul_with_flatten": "mul",
    "matrix_rank_tol": "matrix_rank",
    "max": "reduce_max",
    "mean": "reduce_mean",
    "mean_all": "mean",
    "min": "reduce_min",
    "nearest_interp": "nearest_interp_v2",
    "one_hot": "one_hot_v2",
    "prod": "reduce_prod",
    "repeat_interleave_with_tensor_index": "repeat_interleave",
    "split_with_num": "split",
    "sum": "reduce_sum",
    "batch_norm_": "batch_norm",
    "sync_batch_norm_": "batch_norm",
    "trilinear_interp": "trilinear_interp_v2",
}

# The order of arguments where it is not inputs without those that hold attributes, then
# attributes, as declared; `_` is passed over.
ORDERS = {
    "all": "x axis keepdim",
    "allclose": "x y rtol atol equal_nan",
    "amax": "x axis keepdim",
    "amin": "x axis keepdim",
    "any": "x axis keepdim",
    "argsort": "x axis descending _",
    "bilinear": "x y weight bias",
    "box_coder": "prior_box prior_box_var target_box code_type box_normalized axis variance",
    "cast": "x out_dtype",
    "class_center_sample": "label num_classes num_samples _ _ _ _ seed",
    "clip": "x min max",
    "concat": "x axis",
    "conv2d_transpose": (
        "input filter strides paddings output_padding output_size padding_algorithm groups"
        " dilations data_format"
    ),
    "conv3d": "input filter strides paddings padding_algorithm groups dilations data_format",
    "crop": "x shape offsets",
    "deformable_conv": (
        "input offset filter mask strides paddings dilations deformable_groups groups im2col_step"
    ),
    "depthwise_conv2d": (
        "input filter strides paddings padding_algorithm groups dilations data_format"
    ),
    "depthwise_conv2d_transpose": (
        "input filter strides paddings output_padding output_size padding_algorithm groups"
        " dilations data_format"
    ),
    "dropout": "x seed_tensor dropout_prob is_test dropout_implementation seed fix_seed",
    "edit_distance": "hyps refs hyps_length refs_length normalized",
    "empty": "shape dtype _",
    "expand": "x shape",
    "expand_as": "x y target_shape",
    "eye": "num_rows num_columns dtype _",
    "fake_quantize_range_abs_max": "x in_scale iter window_size bit_length is_test round_type",
    "fill": "x value",
    "full": "shape value dtype _",
    "full_batch_size_like": "x shape dtype value input_dim_idx output_dim_idx _",
    "full_like": "like value dtype _",
    "full_with_tensor": "value shape dtype",
    "gather": "x index axis",
    "gaussian": "shape mean std seed dtype _",
    "hsigmoid_loss": "x label w bias path_table path_code num_classes is_sparse",
    "isclose": "x y rtol atol equal_nan",
    "linspace": "start stop num dtype _",
    "logspace": "start stop num base dtype _",
    "matrix_rank_tol": "x tol use_default_tol hermitian",
    "one_hot": "x depth",
    "pow": "x factor",
    "randint": "low high shape dtype _",
    "randperm": "n dtype _",
    "repeat_interleave_with_tensor_index": "x repeats_tensor axis",
    "reshape": "x shape",
    "rnn": (
        "input pre_state weight_list sequence_length _ dropout_prob is_bidirec input_size"
        " hidden_size num_layers mode seed is_test"
    ),
    "rrelu": "x lower upper is_test",
    "scale": "x scale bias bias_after_scale",
    "slice": "x axes starts ends infer_flags decrease_axis",
    "split": "x sections axis",
    "split_with_num": "x num axis",
    "strided_slice": "x axes starts ends strides",
    "sum": "x axis out_dtype keepdim",
    "tile": "x repeat_times",
    "topk": "x k axis largest sorted",
    "tril_indices": "rows cols offset dtype _",
    "triu_indices": "row col offset dtype _",
    "truncated_gaussian_random": "shape mean std seed dtype _",
    "uniform": "shape dtype min max seed _",
    "unpool": "x indices ksize strides paddings output_size data_format",
}

RESIZED = (
    "x out_size size_tensor scale_tensor data_layout out_d out_h out_w scale interp_method"
    " align_corners align_mode"
)
ORDERS |= {
    f"{how}_interp": RESIZED for how in ("bicubic", "bilinear", "linear", "nearest", "trilinear")
}

# What comes back where it is not what the operator shows, as declared; `_` is None.
NORMALISED = "y mean_out variance_out saved_mean saved_variance reserve_space"
RESULTS = {
    "batch_norm": NORMALISED,
    "batch_norm_": NORMALISED,
    "distribute_fpn_proposals": "multi_fpn_rois multi_level_rois_num restore_index",
    "flash_attn": "out _ _ _",
    "fused_gemm_epilogue": "out _",
    "hsigmoid_loss": "out pre_out _",
    "norm": "out norm",
    "svd": "u s vh",
    "sync_batch_norm_": NORMALISED,
    "warpctc": "loss",
    "warprnnt": "loss",
}
