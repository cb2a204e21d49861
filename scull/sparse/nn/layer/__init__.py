"""Layers of sparse tensors, by what they do."""
