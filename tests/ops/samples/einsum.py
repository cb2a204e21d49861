"""Samples of sums of products."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, AssertError, DtypeError, ShapeError
from tests.ops.sample import bf16, boolean, c64, call, f16, f32, f64, fails, i64, samples, strided


def summed(operands: Any, *, equation: str) -> Any:
    return np.einsum(equation, *operands), list(operands), list(operands)


def on_diagonal(operands: Any, *, equation: str) -> Any:
    return np.diag(np.einsum(equation.split("->")[0] + "->i", *operands)), operands, operands


@samples("einsum", reference=summed)
def einsum_samples():
    yield call([f32(2, 3), f32(3, 4)], equation="ij,jk->ik")
    yield call([f64(2, 3), f64(3, 4)], equation="ij, jk")
    yield call([f32(2, 3)], equation="ij->j")
    yield call([f32(2, 3)], equation="ba")
    yield call([f32(3, 3)], equation="ii->i")
    yield call([f64(2, 3, 2)], equation="iji->j")
    yield call([f32(3), f32(3)], equation="i,i")
    yield call([f32(2), f32(3)], equation="i,j->ij")
    yield call([f32(5, 2, 3), f32(5, 4, 3)], equation="bij,bkj->bik")
    yield call([f64(2, 1, 2), f64(1, 2, 2)], equation="...ij,...jk->...ik")
    yield call([f64(2, 3), f64(2, 4), f64(3, 4)], equation="ij,ik,jk->i")
    yield call([f32(2, 3), f32(2)], equation="b...,b->b...")
    yield call([f32(1, 3), f32(2, 3)], equation="...j,...j->...")
    yield call([f64(3), f64(3)], equation="i,i->ii", reference=on_diagonal)
    yield call([f32()], equation="->")
    yield call([f32(0, 3), f32(3, 2)], equation="ij,jk->ik")
    yield call([f32(2, 0), f32(0, 3)], equation="ij,jk->ik")
    yield call([strided(f32(2, 3)), f32(4, 3).T], equation="ij,jk->ki")
    yield call([f16(2, 3), f16(3, 2)], equation="ij,jk->ik")
    yield call([bf16(3, 3)], equation="ii->i", grad=False)
    yield call([c64(2, 3), c64(3)], equation="ij,j->i")
    yield call([i64(2, 3), i64(3)], equation="ij,j->i")
    law = "`ij,jk` has 2 terms for 1 operands"
    yield fails(ArgumentError, law, [f32(2, 3)], equation="ij,jk")
    law = "`ij` of `ij` does not name the 1 axes of an operand"
    yield fails(AssertError, law, [f32(2)], equation="ij")
    law = "the index j is of size 3 and of size 2"
    yield fails(ShapeError, law, [f32(2, 3), f32(2, 2)], equation="ij,jk")
    law = "`ij->iz` has 'z' in its result and in no operand"
    yield fails(ArgumentError, law, [f32(2, 3)], equation="ij->iz")
    law = "has the label '.', which is no letter"
    yield fails(ArgumentError, law, [f32(2, 3)], equation="i..j->ij")
    yield fails(ArgumentError, "has the label '1'", [f32(2, 3)], equation="...1->...")
    law = "operands are float32 and float64; cast one"
    yield fails(DtypeError, law, [f32(2), f64(2)], equation="i,i")
    yield fails(DtypeError, "truth values", [boolean(2)], equation="i->i")
