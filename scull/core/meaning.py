"""What the errors of NumPy mean, in scull's words, where no type rule could know it before."""

import re

from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    IndexDtypeError,
    RangeError,
    ResourceError,
    ScullError,
    ShapeError,
)

SHAPE = r"(\([\d, ]*\))"

# What stands in a message, the error it is, and the law with the values that were found.
MEANINGS: tuple[tuple[str, type[ScullError], str], ...] = (
    (
        r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)",
        RangeError,
        "index {} is outside axis {} of size {}",
    ),
    (r"index (-?\d+) is out of bounds for size (\d+)", RangeError, "index {} is outside size {}"),
    (
        r"axis\d*:? ?(-?\d+) is out of bounds for array of dimension (\d+)",
        RangeError,
        "axis {} is outside a tensor with {} axes",
    ),
    (
        r"arrays used as indices must be|must be an integer array|indices must be integers",
        IndexDtypeError,
        "what picks elements is not of integers",
    ),
    (
        r"too many indices for array: array is (\d+)-dimensional, but (\d+) were indexed",
        ShapeError,
        "a tensor with {} axes is read at {}",
    ),
    (
        r"tuple index out of range|len\(\) of unsized object|cannot unpack non-iterable",
        ShapeError,
        "an operand has too few axes",
    ),
    (r"has no len\(\)", ShapeError, "an operand has too few axes"),
    (
        r"values to unpack \(expected (\d+)",
        ShapeError,
        "an operand has not the {} axes that are needed",
    ),
    (
        r"zip\(\) argument|list index out of range|list assignment index",
        ArgumentError,
        "lists that go together, or with axes, differ in length",
    ),
    (r"non-empty take from an empty ax", ShapeError, "an empty axis is read"),
    (
        r"axes don't match array",
        ShapeError,
        "the order of axes is not one of the tensor's",
    ),
    (
        r"boolean index did not match",
        ShapeError,
        "a mask does not have the shape of what it picks from",
    ),
    (
        r"cannot reshape array of size (\d+) into shape \(?([\d, ]*)",
        ShapeError,
        "{} elements do not fill the shape [{}]",
    ),
    (
        r"operands could not be broadcast together with (?:remapped )?shapes (.*)",
        ShapeError,
        "shapes do not broadcast: {}",
    ),
    (
        rf"could not broadcast input array from shape {SHAPE} into shape {SHAPE}",
        ShapeError,
        "elements of shape {} do not fit {}",
    ),
    (
        rf"output operand with shape {SHAPE} doesn't match the broadcast shape {SHAPE}",
        ShapeError,
        "a result of shape {} does not hold {}",
    ),
    (
        r"not broadcastable to correct shape",
        ShapeError,
        "what is written does not have the shape of the places",
    ),
    (
        r"matmul: .*\(size (\d+) is different from (\d+)\)",
        ShapeError,
        "a product of {1} columns and {0} rows",
    ),
    (
        r"can only convert an array of size 1",
        ShapeError,
        "one number is needed where a tensor has none or several",
    ),
    (r"zero-size array to reduction operation (\w+)", ShapeError, "of no element there is no {}"),
    (
        r"maximum supported dimension for an ndarray is (?:currently )?(\d+), found (\d+)",
        ShapeError,
        "{1} axes are more than {0}",
    ),
    (r"negative dimensions are not allowed", ShapeError, "a size of the result is negative"),
    (
        r"Maximum allowed (?:dimension|size) exceeded|array is too big",
        ResourceError,
        "a result has more elements than memory has bytes",
    ),
    (r"(Unable to allocate .*)", ResourceError, "{}"),
    (
        r"Python integer (-?\d+) out of bounds for (\w+)",
        ArgumentError,
        "{} does not fit elements of {}",
    ),
    (r"cannot convert float (\w+) to integer", ArgumentError, "{} is no integer"),
    (r"int too (?:large|big) to convert", ArgumentError, "a number does not fit 64 bits"),
    (
        r"ufunc '?(\w+)'? (?:not supported|output|input|did not contain|cannot use)",
        DtypeError,
        "nothing computes `{}` of these element types",
    ),
    (
        r"'(\w+)' object has no attribute '(?:shape|dtype|ndim|meta|array)'",
        ArgumentTypeError,
        "a tensor is needed, not {}",
    ),
    (
        r"numpy boolean (\w+), the",
        DtypeError,
        "nothing computes `{}` of these element types",
    ),
    (
        r"could not convert string to float: (.*)|invalid literal for int.*: (.*)",
        ArgumentError,
        "{} is no number",
    ),
    (
        r"'float' object cannot be interpreted as an integer|an integer is required",
        DtypeError,
        "integers are needed where a tensor has other numbers",
    ),
    (
        r"Cannot cast array data from dtype\('?(\w+)'?\) to dtype\('?(\w+)'?\)",
        DtypeError,
        "elements of {} stand where {} is needed",
    ),
    (
        r"assign (\d+) input values to the (\d+) output values|value array of shape (.*) could",
        ShapeError,
        "what is written does not have the number of the places",
    ),
    (
        r"requires a 0 or 1-dimensional input, input has (\d+) dimensions",
        ShapeError,
        "a list is written where a mask holds, not a tensor with {} axes",
    ),
    (
        r"Numerical result out of range|math range error",
        ArgumentError,
        "a number is too large to compute with",
    ),
    (r"math domain error", ArgumentError, "a number has no such root or logarithm"),
    (r"(?:division|modulo) by zero|^float division$", ArgumentError, "a divisor is 0"),
    (
        r"setting an array element with a sequence",
        ShapeError,
        "several elements stand where one is needed",
    ),
    (
        r"can only specify one unknown dimension",
        ArgumentError,
        "a shape leaves more than one size open",
    ),
    (r"slice step cannot be zero", ArgumentError, "a step is 0"),
    (r"for [-+*]: '(?:int|list)' and '(?:int|list)'", ShapeError, "an operand has too few axes"),
    (r"repeats may not contain negative", ArgumentError, "a number of repetitions is below 0"),
    (r"does not have enough dimensions", ShapeError, "an operand has too few axes"),
    (
        r"has more dimensions than (?:allowed|subscripts)",
        ShapeError,
        "an operand has too many axes",
    ),
    (r"contains too many subscripts", ShapeError, "an operand has too few axes"),
    (r"need at least one array", ShapeError, "nothing is there to join"),
    (r"object too deep for desired array", ShapeError, "a tensor of one axis is needed"),
    (
        r"shape mismatch: objects cannot be broadcast|shape-mismatch for sum",
        ShapeError,
        "lists that go together differ in length",
    ),
    (r"input array dimensions .*must match", ShapeError, "sizes differ that must be the same"),
    (r"data type .* not inexact", DtypeError, "the elements are not floating-point numbers"),
    (
        r"'complex'|complex to real|not complex",
        DtypeError,
        "a real number is needed where a tensor has complex ones",
    ),
    (
        r"(Singular matrix|not positive definite|did not converge)",
        ArgumentError,
        "the matrix has no such factors: {}",
    ),
)
FOUND = tuple([(re.compile(text), kind, law) for text, kind, law in MEANINGS])


def meaning(error: Exception) -> ScullError | None:
    """`error`, which NumPy raised, as scull's own; None where it says nothing known."""
    text = str(error)
    for pattern, kind, law in FOUND:
        match = pattern.search(text)
        if match:
            return kind(law.format(*[g for g in match.groups() if g is not None]))
    return None
