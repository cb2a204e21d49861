"""Back to source: the Program of a model as the source of a layer."""

from scull.jit.decompile.source import to_source

__all__ = ["to_source"]
