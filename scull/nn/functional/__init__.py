"""Functions of networks."""

from scull.core.door import doors
from scull.deferred import deferred, listed

NAMES = {
    "activation": """
        elu elu_ gelu glu hardsigmoid hardswish leaky_relu leaky_relu_ log_softmax relu relu6
        relu_ sigmoid silu softmax softmax_ softplus swish tanh tanh_""",
    "adaptive": """
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d
        adaptive_max_pool2d adaptive_max_pool3d""",
    "affine": "bilinear diag_embed linear",
    "alignment": "ctc_loss hsigmoid_loss rnnt_loss",
    "attention": "scaled_dot_product_attention sparse_attention",
    "choice": "gumbel_softmax maxout rrelu",
    "classification": "cross_entropy margin_cross_entropy softmax_with_cross_entropy",
    "convolution": "conv1d conv2d conv3d",
    "distance": "pairwise_distance",
    "grid": "affine_grid grid_sample temporal_shift",
    "likelihood": "dice_loss gaussian_nll_loss npair_loss poisson_nll_loss sigmoid_focal_loss",
    "lookup": "embedding one_hot",
    "loss": """
        binary_cross_entropy binary_cross_entropy_with_logits kl_div l1_loss label_smooth log_loss
        mse_loss nll_loss smooth_l1_loss square_error_cost""",
    "margin": """
        class_center_sample cosine_embedding_loss hinge_embedding_loss margin_ranking_loss
        multi_label_soft_margin_loss multi_margin_loss soft_margin_loss triplet_margin_loss
        triplet_margin_with_distance_loss""",
    "norm": "batch_norm cosine_similarity instance_norm layer_norm local_response_norm normalize",
    "omission": "alpha_dropout dropout dropout2d dropout3d",
    "padding": "pad zeropad2d",
    "pooling": "avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d",
    "ragged": "gather_tree sequence_mask",
    "shrink": """
        celu hardshrink hardtanh hardtanh_ log_sigmoid mish prelu selu softshrink softsign
        tanhshrink thresholded_relu thresholded_relu_""",
    "transpose": "conv1d_transpose conv2d_transpose conv3d_transpose",
    "unpooling": "max_unpool1d max_unpool2d max_unpool3d",
    "vision": "channel_shuffle fold interpolate pixel_shuffle pixel_unshuffle unfold upsample",
}

__getattr__, __dir__ = deferred(__name__, NAMES)
doors(__name__, "common conv extension input")
doors(__name__, "flash_attention", "scull.nn.functional.attention")
__all__ = listed(NAMES)
