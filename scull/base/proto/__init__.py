"""The messages of Paddle's files under their older name."""

from scull.base.proto import framework_pb2

__all__ = ["framework_pb2"]
