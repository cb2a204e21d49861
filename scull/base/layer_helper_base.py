"""LayerHelper under the name of the class it once stood on."""

from scull.static.layer_helper import LayerHelper as LayerHelperBase

__all__ = ["LayerHelperBase"]
