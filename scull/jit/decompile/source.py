"""`jit.to_source`: a saved model, or a layer, as the Python source of a layer."""

import ast
import keyword
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from scull.core.meta import Kind
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.files.model import edges
from scull.files.saved import FORWARD, read_model
from scull.ir.operator import ForeignOp, Operator
from scull.ir.program import Program
from scull.ir.reach import within
from scull.jit.decompile.attribute import Attributes
from scull.jit.decompile.body import Body
from scull.jit.decompile.choice import Chooser, Proofs
from scull.jit.decompile.condition import tests_of
from scull.jit.decompile.expression import INDENT, call, lines, literal
from scull.jit.decompile.naming import Names
from scull.jit.export import Export, exported
from scull.jit.function import StaticFunction
from scull.jit.loading import guessed
from scull.jit.opened import opened
from scull.jit.saving import members, settings_of, specs_of, state_of
from scull.nn import Layer
from scull.passes.reader import structure_of
from scull.passes.structure import Structure, Value

CLASS = "Model"
LOAD = '''
    @classmethod
    def load(cls, path):
        """The layer with the values of the model that was saved at `path`."""
        layer, values = cls(), paddle.load(path)
        layer.set_state_dict({own: values[name] for own, name in WEIGHTS.items()})
        return layer
'''

LENGTH = '''

def length_of(array):
    """How many tensors a list holds, as a tensor."""
    found = paddle.tensor.array_length(array)
    return paddle.to_tensor([found]) if isinstance(found, int) else found
'''


def to_source(layer: Any, input_spec: Any = None) -> str:
    """The Python source of a layer that computes what a saved model, or another layer, does.

    The text declares `Model`, a `paddle.nn.Layer` with sublayers for what sublayers do, `if` and
    `while` for blocks, and a class method `load(path)` that gives it the values of the model;
    `INPUTS` describes what it takes. Saved again it is the same graph. Nothing is executed: names
    and texts of a file become identifiers and literals.

    Args:
        layer (str | Layer | StaticFunction): folder and name of a saved model, or what `jit.save`
            takes.
        input_spec (list, optional): the same as for `jit.save`, where `layer` is no path.

    Returns:
        str: the source, ASCII characters alone.

    Raises:
        UnsupportedError: the model has what no source can call; all of it is listed.
        FileError: the files are damaged.
        ArgumentTypeError: `layer` is something else.

    Examples:
        >>> import scull as paddle
        >>> net = paddle.nn.Linear(2, 3)
        >>> spec = [paddle.static.InputSpec([None, 2], name="x")]
        >>> lines = paddle.jit.to_source(net, spec).splitlines()
        >>> print(lines[lines.index("    def forward(self, x):") + 1].strip())
        return self.linear(x)
    """
    if isinstance(layer, str | os.PathLike):
        if input_spec is not None:
            raise ArgumentError("a saved model says itself what it takes: leave out `input_spec`")
        return source_of(*read(os.fspath(layer)))
    if not isinstance(layer, Layer | StaticFunction):
        kind = type(layer).__name__
        raise ArgumentTypeError(f"to_source takes a path, a Layer or a StaticFunction, not {kind}")
    made = exports_of(layer, input_spec)
    known: dict[str, dict[str, Any]] = {}
    for export in made.values():
        known |= export.information
    return source_of({name: export.program for name, export in made.items()}, known)


def exports_of(layer: Any, input_spec: Any) -> dict[str, Export]:
    """The methods of a layer as `jit.save` would write them."""
    settings, specs, state = settings_of({}, layer), specs_of(input_spec), state_of(layer)
    methods, _ = members(layer, specs, settings)
    return {name: exported(static, own, settings, state) for name, (static, own) in methods.items()}


Known = Mapping[str, Mapping[str, Any]]


def read(path: str) -> tuple[dict[str, Program], Known]:
    """The Programs of a saved model, and what is known of its values."""
    saved = read_model(path)
    if saved.information is not None:
        return saved.programs, saved.information
    known: dict[str, dict[str, Any]] = {}
    for name in saved.programs:
        program = read_model(path).programs[name]
        known |= guessed(opened(program), saved.values[name])
    return saved.programs, known


def source_of(programs: Mapping[str, Program], known: Known) -> str:
    """The source of a layer whose methods are `programs`."""
    try:
        return text_of(programs, known)
    except RecursionError:
        raise UnsupportedError("blocks stand in each other deeper than Python follows") from None


def text_of(programs: Mapping[str, Program], known: Known) -> str:
    """The same, unless blocks nest too deep."""
    refuse_methods(programs)
    refuse_unnamed(o for p in programs.values() for o in within(p.global_block()))
    proofs, structures, choosers = Proofs(), dict[str, Structure](), dict[str, Chooser]()
    for method, program in programs.items():
        inputs, outputs = edges(program)
        structure = structure_of(program, inputs, [v.name for v in outputs])
        structures[method] = structure
        choosers[method] = Chooser(structure, tests_of(structure), proofs)
    refuse_unproven(choosers.values())
    stored = {n: str(k.get("structured_name", n)) for n, k in known.items()}
    taken = {*dir(Layer), "load", *programs}
    attributes = Attributes(taken, known, stored)
    attributes.claim(choosers.values())
    for chooser in choosers.values():
        chooser.choose_again(lambda choice: attributes.called(choice) is not None)
    methods: list[str] = []
    for method, chooser in choosers.items():
        methods += ["", *written(method, chooser, attributes, alone=len(choosers) == 1)]
    specs = (
        literal([spec_of(v) for v in structures[FORWARD].entries])
        if FORWARD in structures
        else None
    )
    return assembled(attributes, specs, methods)


def written(method: str, chooser: Chooser, attributes: Attributes, alone: bool) -> list[str]:
    """One method."""
    fresh, margin = Names(), " " * INDENT
    parameters = [fresh(v.variable.name, "x") for v in chooser.structure.entries]
    body = Body(chooser, parameters, attributes.tree, attributes.called)
    found = [f"{margin}def {method}({', '.join(['self', *parameters])}):"]
    if not alone:
        specs = literal([spec_of(v) for v in chooser.structure.entries])
        found = [*lines("@", call("paddle.jit.to_static", input_spec=specs), INDENT), *found]
    return [*found, *body.lines(2 * INDENT)]


def assembled(attributes: Attributes, specs: ast.expr | None, methods: list[str]) -> str:
    """The whole text."""
    made = attributes.lines()
    body = ["    def __init__(self):", "        super().__init__()", *made, *methods]
    used = "\n".join(body)
    head = ['"""A layer, written from the Program of a model."""', "", "import scull as paddle"]
    head += ["from scull import nn"]
    if "F." in used:
        head += ["from scull.nn import functional as F"]
    head.append("")
    if specs is not None:
        head += lines("INPUTS = ", specs, 0)
    head += lines("WEIGHTS = ", attributes.weights(), 0)
    if "length_of(" in used:
        head += LENGTH.splitlines()
    found = "\n".join([*head, "", "", f"class {CLASS}(nn.Layer):", *body]) + "\n" + LOAD
    try:
        ast.parse(found)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise UnsupportedError(f"Python cannot read the source of this model: {error}") from None
    return found


def spec_of(value: Value) -> ast.expr:
    """The description of an input."""
    shape = [None if n == -1 else int(n) for n in value.meta.shape]
    return call("paddle.static.InputSpec", shape, value.meta.dtype, value.variable.name)


# ---- what cannot be written ----


def refuse_unnamed(operators: Iterable[Operator]) -> None:
    """Refuse what no call of the public API makes, all of it at once."""
    found: Counter[str] = Counter()
    for o in operators:
        law = reason(o)
        if law is not None:
            found[f"`{o.type}`: {law}"] += 1
    raise_listed(found)


def refuse_methods(names: Iterable[str]) -> None:
    """Refuse methods that a layer has already, and words that cannot be names."""
    own = {*dir(Layer), "load"} - {FORWARD}
    for name in names:
        if name in own or keyword.iskeyword(name) or not (name.isidentifier() and name.isascii()):
            raise UnsupportedError(f"{name!r} cannot be a method of a layer")


def reason(o: Operator) -> str | None:
    """Why an operator cannot be written, if it cannot."""
    if isinstance(o.op, ForeignOp):
        return "nobody declared it"
    if "python" in o.op.effects:
        return "it calls a function of Python that the file does not have"
    if o.op.forward is not None or o.type.endswith("_grad"):
        return "it is a gradient, which a layer has by itself"
    if any(v.kind is Kind.ROWS for v in (*o.operands(), *o.results())):
        return "it takes or gives some rows of a matrix"
    return None


def refuse_unproven(choosers: Iterable[Chooser]) -> None:
    """Refuse operators that no call records as they stand."""
    found: Counter[str] = Counter()
    for chooser in choosers:
        for c in chooser.unnamed:
            operands = ", ".join(str(v.meta) for v in c.operands())
            found[f"`{c.type}` of {operands or 'nothing'}: no call records it as it stands"] += 1
    raise_listed(found)


def raise_listed(found: Counter[str]) -> None:
    """Raise an error that lists what was found, if there is something."""
    if found:
        parts = [f"{n} x {law}" if n > 1 else law for law, n in sorted(found.items())]
        raise UnsupportedError("this cannot be written as source:\n  " + "\n  ".join(parts))
