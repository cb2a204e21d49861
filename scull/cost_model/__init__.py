"""What the operators of a Program cost."""

from scull.cost_model.cost_model import CostModel

__all__ = ["CostModel"]
