"""Paddle's older name for the module that makes loggers."""

from scull.static.log_helper import get_logger

__all__ = ["get_logger"]
