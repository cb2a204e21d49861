"""ParamAttr under its older name."""

from scull.nn.param_attr import ParamAttr, WeightNormParamAttr

__all__ = ["ParamAttr", "WeightNormParamAttr"]
