"""The layers, each in the module that Paddle has it in."""
