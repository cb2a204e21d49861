"""LayerHelper under its older name."""

from scull.static.layer_helper import LayerHelper

__all__ = ["LayerHelper"]
