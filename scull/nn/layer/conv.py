"""Layers of convolutions and of their transposes, as Paddle has them in one module."""

from scull.nn.layer.convolution import Conv1D, Conv2D, Conv3D
from scull.nn.layer.convolution import Convolution as _ConvNd  # what layers of users derive from
from scull.nn.layer.transpose import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose

__all__ = [
    "Conv1D",
    "Conv1DTranspose",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "_ConvNd",
]
