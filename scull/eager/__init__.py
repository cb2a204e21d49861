"""The Tensor of eager mode: what users see of an array and the tape behind it."""

from scull.eager import change, conversion, derivative, index, property, text  # noqa: F401
