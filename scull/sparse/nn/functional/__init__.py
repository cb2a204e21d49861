"""What layers of sparse tensors compute."""

from scull.deferred import deferred, listed

NAMES = {
    "activation": "leaky_relu relu relu6 softmax",
    "conv": "conv2d conv3d subm_conv2d subm_conv3d",
    "pooling": "max_pool3d",
    "transformer": "attention",
}

__getattr__, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)
