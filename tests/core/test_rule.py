"""Gradient rules, which operators get when they are first needed."""

import time
from concurrent.futures import ThreadPoolExecutor

from scull.core import op as operators
from scull.core import rule
from scull.core.op import Op
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


def test_threads_share_the_gradient_operator_that_one_of_them_makes(monkeypatch):
    derive, name = Op.derive, multiply.op.gradient.name

    def slow(op):
        made = derive(op)
        time.sleep(0.02)
        return made

    for table, key in ((operators.REGISTRY, name), (operators.BY_TYPE, "elementwise_mul_grad")):
        monkeypatch.setitem(table, key, table[key])
    monkeypatch.setattr(Op, "derive", staticmethod(slow))
    monkeypatch.setattr(multiply.op, "_gradient", None)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: multiply.op.gradient, range(4)))
    assert all(one is found[0] for one in found)
