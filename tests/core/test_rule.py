"""Gradient rules, which operators get when they are first needed."""

from scull.core import rule
from scull.ops.elementwise import multiply
from scull.tensor import to_tensor


def test_what_another_thread_does_while_rules_are_made_has_its_gradients(monkeypatch):
    made = rule.pull_short

    def trained():
        x = to_tensor([1.0, 2.0], stop_gradient=False)
        multiply(x, x).sum().backward()
        return x.grad.tolist()

    def slow(op):
        monkeypatch.setattr(rule, "pull_short", made)
        assert trained() == [2.0, 4.0]
        return made(op)

    monkeypatch.setattr(rule, "pull_short", slow)
    monkeypatch.setattr(multiply.op, "pull", None)
    monkeypatch.setattr(multiply.op, "keep", multiply.op.keep)
    rule.defer_rules(multiply.op)
    assert trained() == [2.0, 4.0]
