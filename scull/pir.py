"""The names of Paddle's other IR, for code that asks whether something is of it: nothing is."""


class Value:
    """A value of the other IR. There is none in scull."""


class OpResult(Value):
    """A result of the other IR. There is none in scull."""


class Program:
    """A Program of the other IR. There is none in scull."""
