"""What a caller must see to, refused in the way Paddle refuses it."""


def demand(holds, law):
    """Raise AssertionError with `law` unless it holds."""
    if not holds:
        raise AssertionError(law)
