"""Paddle's compiled core under its older name: one module with two."""

import sys

from scull.framework import core

sys.modules[__name__] = core
