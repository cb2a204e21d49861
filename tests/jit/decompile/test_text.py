"""What a text looks like, and that no name of a file becomes code in it."""

import ast
import io
import tokenize

import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.jit.decompile.source import source_of
from scull.static import InputSpec
from scull.static.model import normalize_program
from tests.jit.decompile.trip import module_of, structure, written
from tests.jit.saving import Methods

NASTY = [
    *('__import__("os").system("exit 1")', 'x", "y"]))\nimport os  # ', "self", "class", "paddle"),
    *("nn", "F", "__class__", "\u202eevil", "na\u00efve", "\u03bb", "0", "a b", "None", "_", "__x"),
    *("forward", '"""', "\\", "'", "\n", "{x}", "load", "register_buffer", "x" * 5000, "async"),
    *("match", "Model", "\ud800", "\ufb01", "length_of", "training", "INPUTS", "v0", "x", "X"),
]


class Steps(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.line = paddle.nn.Linear(4, 4)

    def forward(self, x, n):
        i = paddle.zeros([], "int64")
        y = self.line(x)
        while i < n:
            if y.sum() > 0:
                y = y * 2 + 1
            elif y.mean() < -3:
                y = -y
            i = i + 1
        return y


BODY = """
        step = paddle.full([], 0, "int64")
        total = self.line(x)
        while step < n:
            if paddle.sum(total) > 0.0:
                total = total * 2.0 + 1.0
            elif paddle.mean(total) < -3.0:
                total = -total
            step = step + 1
        return total
"""
SPECS = [InputSpec([None, 4], "float32", "x"), InputSpec([], "int64", "n")]


def test_loops_and_branches_are_python_s_own():
    source = paddle.jit.to_source(Steps(), SPECS)
    assert BODY in source
    assert "        self.line = nn.Linear(4, 4)\n" in source
    assert 'INPUTS = [\n    paddle.static.InputSpec([None, 4], "float32", "x"),' in source
    assert max(map(len, source.splitlines())) <= 100


def nasty_source():
    """The source of a Program whose inputs and values have nasty names."""
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            block = main.global_block()
            xs = [paddle.static.data(name, [None, 3], "float32") for name in NASTY]
            ws = [block.create_parameter(name=f"{name}.w", shape=[3, 3]) for name in NASTY]
            total = xs[0]
            for x, w in zip(xs, ws, strict=True):
                total = total + paddle.matmul(x, w)
        program = normalize_program(main, xs, [total])
    finally:
        paddle.disable_static()
    known = {
        w.name: {"stop_gradient": False, "trainable": True, "structured_name": f"{n}.weight"}
        for n, w in zip(NASTY, ws, strict=True)
    }
    return source_of({"forward": program}, known), program


def test_names_become_identifiers_and_texts_become_literals():
    source, _ = nasty_source()
    assert source.isascii()
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(source).readline)]
    assert not [t for t in tokens if t.type == tokenize.COMMENT]
    tree = ast.parse(source)
    called = {ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    assert {c for c in called if not c.startswith("self.")} <= {
        *("paddle.static.InputSpec", "nn.Linear", "super", "super().__init__", "cls"),
        *("paddle.load", "layer.set_state_dict", "WEIGHTS.items"),
    }
    own = {c.removeprefix("self.") for c in called if c.startswith("self.")}
    assert not own & set(dir(paddle.nn.Layer)) and len(own) == len(NASTY)
    kinds = {type(n) for n in tree.body}
    assert kinds == {ast.Expr, ast.Import, ast.ImportFrom, ast.Assign, ast.ClassDef}
    literals = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    assert literals >= {*NASTY, *(f"{n}.weight" for n in NASTY)}


def test_a_layer_with_nasty_names_runs(tmp_path):
    source, program = nasty_source()
    layer = module_of(source, tmp_path).Model()
    found = layer(*[paddle.ones([2, 3])] * len(NASTY))
    assert found.shape == [2, 3] and len(structure(program).entries) == len(NASTY)


@pytest.mark.parametrize("name", ["class", "load", "state_dict", "__init__", "na\u00efve"])
def test_a_method_that_a_layer_has_is_refused(name):
    _, program = nasty_source()
    with pytest.raises(UnsupportedError, match="cannot be a method of a layer"):
        source_of({"forward": program, name: program}, {})


def test_all_methods_are_written(tmp_path):
    net = Methods()
    paddle.jit.save(net, str(tmp_path / "net"))
    layer, _ = written(tmp_path / "net", tmp_path)
    x = paddle.ones([2, 3])
    assert layer(x).tolist() == net.forward(x).tolist()
    assert layer.infer(x).tolist() == net.infer(x).tolist()
    paddle.jit.save(layer, str(tmp_path / "again"))
    assert paddle.jit.load(str(tmp_path / "again")).infer(x).tolist() == net.infer(x).tolist()


def test_what_cannot_be_written_is_listed():
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [3])
            out = main.current_block().create_var(name="out", shape=[3], dtype="float32")
            paddle.static.py_func(lambda v: v, x, out)
            other = main.current_block().create_var(name="other", shape=[3], dtype="float32")
            paddle.static.py_func(lambda v: v, out, other)
            z = paddle.nn.functional.relu(other)
            main.global_block().append_op(
                "relu_grad", {"Out": z, "Out@GRAD": z}, {"X@GRAD": z.block.create_var(name="dx")}
            )
        program = normalize_program(main, [x], [z], skip_prune_program=True)
    finally:
        paddle.disable_static()
    with pytest.raises(UnsupportedError) as told:
        source_of({"forward": program}, {})
    assert "2 x `py_func`: it calls a function of Python" in str(told.value)
    assert "`relu_grad`: it is a gradient" in str(told.value)


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(ArgumentTypeError, match="to_source takes a path, a Layer"):
        paddle.jit.to_source(3)
    with pytest.raises(ArgumentError, match="leave out `input_spec`"):
        paddle.jit.to_source(str(tmp_path / "net"), SPECS)
    with pytest.raises(FileNotFoundError):
        paddle.jit.to_source(str(tmp_path / "net"))
