"""What a loaded Program goes through before it is run as a pure function: a pipeline of passes.

Their names are those that Paddle's passes to the same end have, so that `Config.delete_pass` of a
script leaves out what it means.
"""

from collections.abc import Iterable

from scull.core.dtype import float32
from scull.core.meta import Kind, Meta
from scull.files.model import Model
from scull.ir.clone import copied
from scull.ir.operator import each
from scull.ir.program import Program
from scull.passes.catalogue import PASSES
from scull.passes.pipeline import Pipeline
from scull.runtime.scope import Scope

EDGES = ("feed", "fetch", "fetch_v2")


def simplified(model: Model, scope: Scope, passes: Iterable[str]) -> tuple[Model, Scope]:
    """A model that gives the same, and a scope with its constants within `scope`."""
    program = fetching(model)
    pipeline = Pipeline(name for name in passes if name in PASSES)
    outcome = pipeline.run(program, model.feeds, scope=scope)
    block = outcome.program.global_block()
    fetches = [v for o in block.ops if o.type == "fetch" for v in each(o.inputs[0])]
    block.ops[:] = [o for o in block.ops if o.type not in EDGES]
    outcome.program.changed()
    assert outcome.scope is not None
    return Model(outcome.program, model.feeds, fetches), outcome.scope


def fetching(model: Model) -> Program:
    """A copy of a model's Program, of whose operators the last fetch, each one of its outputs."""
    program = copied(model.program)
    block = program.global_block()
    block.ops[:] = [o for o in block.ops if o.type not in EDGES]
    ends = block.variable("fetch", Meta((), float32, Kind.FETCH), persistable=True)
    for i, v in enumerate(model.fetches):
        given = {"X": [block.var(v.name)]}
        block.append(block.made("fetch", given, {"Out": [ends]}, {"col": i}))
    return program
