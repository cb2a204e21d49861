"""The operator types whose facts are harvested from the reference, and how they are written."""

import json
import os
import sys
from pathlib import Path

REFERENCE = Path(__file__).resolve().parent.parent / "tests" / "data" / "reference"


def repeatable() -> None:
    """Start this script again with fixed hashing: the reference iterates over sets of names."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)


def words(text: str) -> list:
    """Return the words of a text."""
    return text.split()


CORE = words("""
    elementwise_add elementwise_sub elementwise_mul elementwise_div elementwise_max
    elementwise_min scale sum matmul_v2 cast assign fill_constant fill_any_like uniform_random
    gaussian_random exp log tanh sqrt square relu sigmoid reduce_sum reduce_mean reduce_max mean
    reshape2 transpose2 squeeze2 unsqueeze2 concat split slice gather lookup_table_v2 where
    equal not_equal less_than less_equal greater_than greater_equal logical_and logical_or
    logical_xor logical_not arg_max top_k_v2 shape dropout conv2d pool2d batch_norm layer_norm
    softmax softmax_with_cross_entropy accuracy sgd momentum adam adamw clip_by_norm
    squared_l2_norm print feed fetch_v2 increment
""")

EVERYDAY = words("""
    elementwise_pow elementwise_mod elementwise_floordiv elementwise_fmax elementwise_fmin
    matmul mul bmm mv dot addmm kron cross trace reduce_min reduce_prod reduce_all reduce_any
    logsumexp p_norm norm clip cumsum cumprod logcumsumexp arg_min argsort kthvalue mode top_k
    unique where_index masked_select abs sign expm1 log2 log10 log1p rsqrt reciprocal pow sin
    cos tan asin acos atan atan2 sinh cosh asinh acosh atanh erf erfinv floor ceil round trunc
    isnan_v2 isinf_v2 isfinite_v2 allclose isclose bitwise_and bitwise_or bitwise_xor
    bitwise_not assign_value fill_constant_batch_size_like range linspace eye diag_v2 diag_embed
    diagonal tril_triu meshgrid one_hot_v2 size flatten_contiguous_range stack unstack unbind
    strided_slice set_value expand_v2 expand_as_v2 broadcast_tensors tile pad pad3d flip roll
    gather_nd scatter scatter_nd_add index_select index_sample index_add take_along_axis
    put_along_axis repeat_interleave relu6 leaky_relu elu selu celu prelu gelu silu swish mish
    logsigmoid hard_sigmoid hard_swish brelu softplus softsign softshrink hard_shrink
    tanh_shrink thresholded_relu log_softmax cross_entropy2 bce_loss
    sigmoid_cross_entropy_with_logits huber_loss nll_loss kldiv_loss label_smooth
    depthwise_conv2d conv2d_transpose depthwise_conv2d_transpose max_pool2d_with_index
    group_norm instance_norm nearest_interp_v2 bilinear_interp_v2 pixel_shuffle unfold
    truncated_gaussian_random randint randperm bernoulli multinomial seed adamax adagrad
    adadelta rmsprop lamb ftrl check_finite_and_unscale update_loss_scaling coalesce_tensor
    py_func einsum cholesky inverse determinant solve triangular_solve svd qr eigh matrix_power
""")

# Asked for by layers and functions of everyday networks beyond the lists above.
FURTHER = words("""
    affine_channel affine_grid angle as_complex as_real auc average_accumulates
    bicubic_interp_v2 bilinear_tensor_product bincount bpr_loss channel_shuffle cholesky_solve
    complex conj conv3d conv3d_transpose crop crop_tensor cross_entropy cummax cummin data_norm
    digamma dirichlet dist edit_distance eig eigvals eigvalsh elementwise_heaviside empty
    equal_all exponential fft_c2c fft_c2r fft_r2c fill_any fill_diagonal fill_diagonal_tensor
    fold frame gather_tree graph_send_recv graph_send_ue_recv graph_send_uv grid_sampler
    gru_unit gumbel_softmax hierarchical_sigmoid hinge_loss histogram i0 i0e i1 i1e imag
    index_put is_empty l1_norm lars_momentum lerp lgamma linear_interp_v2 lod_reset log_loss
    logit logspace lookup_table lrn lstsq lu lu_unpack margin_cross_entropy matrix_rank
    max_pool3d_with_index maxout minus modified_huber_loss multi_dot multiplex nanmedian
    nextafter nop overlap_add pad2d pixel_unshuffle poisson polygamma pool3d prior_box
    proximal_gd rank_loss real renorm reshape reverse roi_align roi_pool row_conv rrelu
    searchsorted segment_pool sequence_mask shard_index shuffle_channel slogdeterminant
    soft_relu spectral_norm sparse_momentum stanh temporal_shift
    tensor_unfold transpose tril_indices trilinear_interp_v2 triu_indices
    uniform_random_batch_size_like unique_consecutive unpool unpool3d viterbi_decode warpctc
    yolo_box yolov3_loss box_coder deformable_conv deformable_conv_v1 nms warprnnt
    crf_decoding ctc_align gru im2sequence lstm sequence_concat sequence_conv sequence_enumerate
    sequence_erase sequence_expand sequence_expand_as sequence_pad sequence_pool sequence_reshape
    sequence_reverse sequence_scatter sequence_slice sequence_softmax sequence_unpad
    distribute_fpn_proposals generate_proposals_v2 matrix_nms partial_concat partial_sum
    anchor_generator bipartite_match box_clip box_decoder_and_assign collect_fpn_proposals
    deformable_psroi_pooling density_prior_box detection_map fsp generate_proposal_labels
    generate_proposals iou_similarity locality_aware_nms mine_hard_examples polygon_box_transform
    retinanet_detection_output rpn_target_assign similarity_focus spp
    graph_khop_sampler graph_reindex graph_sample_neighbors weighted_sample_neighbors
""")

# Not asked for by name, but found in the Programs that the public API builds of the above.
SURROUNDING = words("""
    conditional_block while select_input select_output write_to_array read_from_array
    lod_array_length memcpy transfer_layout transfer_dtype share_data rnn flatten2
    reduce_amax reduce_amin frobenius_norm
    fill_zeros_like merge_selected_rows get_tensor_from_selected_rows assert
    save_combine load_combine merged_adam merged_momentum
""")

# Names people use for operators that the reference knows under another type.
OTHER_NAMES = {"full_like": "fill_any_like", "smooth_l1_loss": "huber_loss"}


def write_lines(path: Path, rows: dict) -> None:
    """Write `rows` as JSON with sorted keys, one line an entry."""
    lines = (
        f"{json.dumps(key)}: {json.dumps(rows[key], sort_keys=True, separators=(',', ':'))}"
        for key in sorted(rows)
    )
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
