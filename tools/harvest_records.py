"""Write op_records.json: what the public API of the reference puts into a Program.

Run with the Python that has the reference installed; tests/data/reference/README.md says what
the fields mean.
"""

import math
import sys
import traceback

import harvest_calls_core
import harvest_calls_everyday
import harvest_calls_functions
import harvest_calls_layers
import harvest_calls_legacy
import harvest_calls_volume
import numpy
import paddle
import paddle.nn.functional as F
from harvest_describe import COMMON, fresh_numbering, isolated, message, operator, variable
from harvest_types import REFERENCE, repeatable, write_lines
from paddle import static
from paddle.base import core


def declare(inputs: str) -> dict:
    """Make the data variables of `x=2,3 i=int64:4`; floats need a gradient but for `x!=2,3`."""
    made = {}
    for name, _, meta in (each.partition("=") for each in inputs.split()):
        kept = name.endswith("!")
        name = name.removesuffix("!")
        dtype, colon, sizes = meta.rpartition(":")
        shape = [int(size) for size in sizes.split(",") if size]
        made[name] = static.data(name, shape, dtype if colon else "float32")
        made[name].stop_gradient = kept or made[name].dtype not in FLOATS
    return made


def append(op_type: str, inputs: dict, outputs: dict, attrs=None, dtype="float32"):
    """Append an operator by hand; `outputs` says how many variables each slot gets."""
    helper = paddle.base.layer_helper.LayerHelper(op_type)
    made = {
        slot: [helper.create_variable_for_type_inference(dtype) for _ in range(count)]
        for slot, count in outputs.items()
    }
    helper.append_op(type=op_type, inputs=inputs, outputs=made, attrs=attrs or {})
    results = [each for variables in made.values() for each in variables]
    return results[0] if len(results) == 1 else results


def parameter(*shape):
    """Create a float32 parameter."""
    return static.create_parameter(list(shape), "float32")


FLOATS = (
    paddle.float16,
    paddle.bfloat16,
    paddle.float32,
    paddle.float64,
    paddle.complex64,
    paddle.complex128,
)
NAMES = {
    "F": F,
    "append": append,
    "core": core,
    "math": math,
    "np": numpy,
    "paddle": paddle,
    "parameter": parameter,
    "static": static,
}


class Case:
    """One public call in Programs of its own."""

    def __init__(self, text: str) -> None:
        self.inputs, _, self.call = text.partition(" : ")
        if not self.call:
            self.inputs, self.call = "", text.removeprefix(": ")
        self.main, self.startup = static.Program(), static.Program()

    def build(self) -> None:
        """Build the Programs; `results` are the variables that the call returned."""
        self.data = declare(self.inputs)
        scope = {**NAMES, **self.data, "main": self.main, "startup": self.startup}
        result = eval(self.call, scope)
        if isinstance(result, static.Program):
            self.main, result = result, None
        results = result if isinstance(result, (list, tuple)) else [result]
        self.results = [each for each in results if isinstance(each, static.Variable)]

    def sources(self) -> list:
        """Return the variables one can differentiate by."""
        inputs = [each for each in self.data.values() if not each.stop_gradient]
        parameters = [each for each in self.main.all_parameters() if each.trainable]
        return inputs + parameters

    def described(self, since: int, known: set) -> dict:
        """Describe operators from number `since` on, and variables not yet `known`."""
        block = message(self.main).blocks[0]
        fact = {"operators": [operator(each) for each in block.ops[since:]]}
        made = {each.name: variable(each) for each in block.vars if each.name not in known}
        known.update(made)
        return fact | {"variables": made}


def first_line(error: Exception) -> str:
    """Return the line of an error that says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if "Error:" in line and not line.startswith("File")]
    return f"{type(error).__name__}: {(told or lines or [''])[0]}"


def differentiated(case: Case, known: set) -> dict:
    """Return the gradient operators of the results by everything they depend on."""
    since = len(case.main.global_block().ops)
    targets = [each for each in case.results if each.dtype in FLOATS and not each.stop_gradient]
    if not targets or not case.sources():
        return {"no_gradient": "no result of floating dtype that depends on such an input"}
    try:
        gradients = static.gradients(targets, case.sources())
    except Exception as error:
        return {"no_gradient": first_line(error)}
    if not any(gradient is not None for gradient in gradients):
        return {"no_gradient": "static.gradients returned None"}
    return case.described(since, known)


def differentiated_twice(text: str) -> dict:
    """Return the operators that the second call of `static.gradients` adds.

    The gradients of the results are data (`d0`, `d1`, ...), and the second derivative is taken
    by them as well.
    """
    case = fresh(text)
    with fresh_numbering(), static.program_guard(case.main, case.startup):
        return second_operators(case)


def second_operators(case: Case) -> dict:
    """Differentiate twice within the guards of the case's Programs."""
    targets = [each for each in case.results if each.dtype in FLOATS and not each.stop_gradient]
    seeds = [static.data(f"d{i}", each.shape, each.dtype) for i, each in enumerate(targets)]
    for seed in seeds:
        seed.stop_gradient = False
    first = static.gradients(targets, case.sources(), target_gradients=seeds)
    first = [each for each in first if each is not None]
    known = {each.name for each in message(case.main).blocks[0].vars}
    since = len(case.main.global_block().ops)
    try:
        second = static.gradients(first, case.sources() + seeds)
    except Exception as error:
        return {"no_gradient": first_line(error)}
    if not any(gradient is not None for gradient in second):
        return {"no_gradient": "static.gradients returned None"}
    return case.described(since, known)


def fresh(text: str):
    """Return the case with its Programs built under fresh names."""
    case = Case(text)
    with fresh_numbering(), static.program_guard(case.main, case.startup):
        case.build()
    return case


def record(op_type: str, text: str) -> dict:
    """Return everything recorded of one call."""
    case = fresh(text)
    known: set = set()
    fact = {"inputs": case.inputs, "call": case.call, "forward": case.described(0, known)}
    startup = [operator(each) for each in message(case.startup).blocks[0].ops]
    startup = [each for each in startup if each["type"] == op_type]
    if startup:
        fact["startup"] = startup
    if ".minimize(" in case.call:
        return only(op_type, fact)
    with fresh_numbering(), static.program_guard(case.main, case.startup):
        fact["gradient"] = differentiated(case, known)
    if "no_gradient" not in fact["gradient"]:
        crashed = {"no_gradient": "the reference crashes"}
        fact["second"] = isolated(differentiated_twice, text) or crashed
    return fact


def only(op_type: str, fact: dict) -> dict:
    """Keep of a training Program the operators of one type and their variables."""
    forward = fact["forward"]
    operators = [each for each in forward["operators"] if each["type"] == op_type]
    slots = [
        slot for each in operators for slot in (*each["inputs"].values(), *each["outputs"].values())
    ]
    used = {name for names in slots for name in names}
    variables = {name: each for name, each in forward["variables"].items() if name in used}
    return fact | {"forward": {"operators": operators, "variables": variables}}


def contains(fact: dict, op_type: str) -> bool:
    """Say whether a record shows an operator of this type."""
    parts = [fact["forward"], fact["gradient"]] if "gradient" in fact else [fact["forward"]]
    operators = [each for part in parts for each in part.get("operators", ())]
    return any(each["type"] == op_type for each in operators + fact.get("startup", []))


def main() -> None:
    repeatable()
    paddle.enable_static()
    calls = harvest_calls_core.CALLS | harvest_calls_everyday.CALLS | harvest_calls_legacy.CALLS
    calls |= harvest_calls_volume.CALLS | harvest_calls_functions.CALLS
    calls |= harvest_calls_layers.CALLS
    wanted = sys.argv[1:] or list(calls)
    rows = {"": {"common_attributes": COMMON}}
    failures = 0
    for op_type in wanted:
        rows[op_type] = []
        for text in calls[op_type]:
            try:
                fact = record(op_type, text)
            except Exception:
                failures += 1
                print(f"{op_type}: {text}\n{traceback.format_exc(limit=-3)}", file=sys.stderr)
                continue
            if not contains(fact, op_type):
                print(f"{op_type}: {text} makes no such operator", file=sys.stderr)
            rows[op_type].append(fact)
    if failures:
        raise SystemExit(f"{failures} calls failed")
    write_lines(REFERENCE / "op_records.json", rows)


if __name__ == "__main__":
    main()
