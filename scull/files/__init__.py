"""Paddle's files: bytes to messages, arrays and plain values, and back."""
