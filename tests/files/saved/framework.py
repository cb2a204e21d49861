"""The framework that builds these models: PaddlePaddle where it was imported, else scull."""

import importlib
import sys

paddle = sys.modules.get("paddle") or importlib.import_module("scull")
nn, functional, static = paddle.nn, paddle.nn.functional, paddle.static
InputSpec = static.InputSpec
