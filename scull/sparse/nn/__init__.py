"""Layers of sparse tensors."""

from scull.deferred import deferred, listed

NAMES = {
    "layer.activation": "LeakyReLU ReLU ReLU6 Softmax",
    "layer.conv": "Conv2D Conv3D SubmConv2D SubmConv3D",
    "layer.norm": "BatchNorm SyncBatchNorm",
    "layer.pooling": "MaxPool3D",
}

__getattr__, __dir__ = deferred(__name__, NAMES, {"": "functional layer"})
__all__ = listed(NAMES)
