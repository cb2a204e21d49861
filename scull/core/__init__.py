"""What everything stands on: element types, metas, operators, the interpreter stack, the bare
Tensor.
"""
