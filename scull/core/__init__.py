"""What all else stands on: element types, metas, operators, interpreters, the bare Tensor."""
