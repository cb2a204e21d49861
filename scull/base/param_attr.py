"""ParamAttr under its older name."""

from scull.nn.param_attr import ParamAttr

__all__ = ["ParamAttr"]
