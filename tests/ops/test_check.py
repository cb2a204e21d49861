"""The checks of operators find what is wrong with one."""

import numpy as np
import pytest

from scull import lang
from scull.core.eager import composite, primitive
from scull.core.meta import Meta
from scull.core.op import by_name, by_type
from scull.errors import ShapeError
from scull.ops.elementwise import multiply
from tests.ops.case import Case
from tests.ops.check import CHECKS
from tests.ops.sample import PLACE, call, f32, fails


@pytest.fixture
def declare():
    """Declares operators that nobody finds afterwards."""
    names = set(by_name()), set(by_type())
    PLACE.start("doubled")
    yield doubled
    for table, before in zip((by_name(), by_type()), names, strict=True):
        for name in set(table) - before:
            del table[name]


def doubled(**rules):
    """`x * 2` with some of its rules replaced by wrong ones."""

    def body(x: Meta) -> Meta:
        return rules.get("body", lambda x: x)(x)

    body.__name__ = "doubled"
    function = primitive(body, **rules.get("options", {}))
    function.kernel(rules.get("kernel", lambda xp, x, *, out=None: xp.multiply(x, 2, out)))
    function.grad(rules.get("grad", lambda dout: dout * 2.0))
    function.lower(rules.get("lower", lambda index, x: x[index] * 2))
    return function.op


def case_of(op, sample=None) -> Case:
    return Case(op, 0, sample or call(f32(2, 3), reference=lambda x: x * 2))


def broken(case: Case) -> set[str]:
    """The titles of the checks that do not hold."""
    found = set()
    for title, check in CHECKS.items():
        try:
            if check.applies(case):
                check.run(case)
        except Exception:
            found.add(title)
    return found


def into(xp, x, out):
    """A kernel that writes over its input."""
    x += x
    return x


def test_a_right_operator_passes_every_check(declare):
    assert broken(case_of(declare())) == set()


def test_a_wrong_value_is_found(declare):
    found = broken(case_of(declare(kernel=lambda xp, x, *, out=None: xp.multiply(x, 3, out))))
    assert {"reference", "gradient", "lowering"} <= found


def test_a_wrong_dtype_is_found(declare):
    op = declare(kernel=lambda xp, x, *, out=None: xp.multiply(x, 2, dtype="float64"))
    assert "meta" in broken(case_of(op))


def test_a_wrong_shape_is_found(declare):
    op = declare(body=lambda x: x.with_shape((*x.shape, 1)))
    assert {"meta", "unknown sizes"} <= broken(case_of(op))


def test_a_type_rule_that_computes_with_sizes_is_found(declare):
    op = declare(body=lambda x: x.with_shape(n * 1 for n in x.shape))
    assert broken(case_of(op)) == {"unknown sizes"}


def test_a_kernel_that_writes_over_its_input_is_found(declare):
    assert "reference" in broken(
        case_of(declare(kernel=lambda xp, x, *, out=None: into(xp, x, out)))
    )


def test_a_kernel_that_returns_memory_it_did_not_fill_is_found(declare):
    def kernel(xp, x, *, out=None):
        return xp.multiply(x, 2) if out is None else out

    assert "out" in broken(case_of(declare(kernel=kernel)))


def test_an_undeclared_view_is_found(declare):
    op = declare(kernel=lambda xp, x, *, out=None: x)
    assert "aliases" in broken(case_of(op, call(f32(2, 3), reference=lambda x: x)))


def test_a_declared_view_that_is_none_is_found(declare):
    assert broken(case_of(declare(options={"views": {"out": "x"}}))) == {"aliases"}


def test_a_wrong_gradient_is_found(declare):
    assert "gradient" in broken(case_of(declare(grad=lambda dout: dout * 3.0)))


def test_a_gradient_that_is_only_right_once_is_found(declare):
    def grad(x, dout):
        return dout * np.full(x.shape, 2.0) if isinstance(x, np.ndarray) else dout * 3.0

    assert "second order" in broken(case_of(declare(grad=grad)))


def test_a_wrong_lowering_is_found(declare):
    op = declare(lower=lambda index, x: lang.select(x[index] > 0, x[index] * 2, x[index]))
    assert broken(case_of(op)) == {"lowering", "program as code"}


def test_a_kernel_that_differs_from_its_body_is_found(declare):
    @composite
    def doubled(x):
        return multiply(x, 2.0)

    doubled.kernel(lambda xp, x, *, out=None: xp.multiply(x, 3, out))
    doubled.grad(lambda dout: dout * 3.0)
    assert {"body", "rule beside body"} <= broken(case_of(doubled.op))


def test_a_mistake_that_is_let_through_is_found(declare):
    sample = fails(ShapeError, "nothing fits", f32(2, 3))
    found = broken(case_of(declare(), sample))
    assert found == {"refused", "refused by type", "refused when recorded"}


def test_a_mistake_with_another_message_is_found(declare):
    def refuse(x):
        raise ShapeError("something else")

    sample = fails(ShapeError, "nothing fits", f32(2, 3))
    assert "refused by type" in broken(case_of(declare(body=refuse), sample))
