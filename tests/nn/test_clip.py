"""Clipping of gradients by their joint norm: element types, clips of parameters."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentTypeError
from scull.nn import clip

static = paddle.static


@pytest.fixture
def block():
    paddle.enable_static()
    main = static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main, static.Program()):
        yield main.global_block()
    paddle.disable_static()


def pairs_of(block, dtypes):
    made = [block.create_parameter(name=f"p{i}", shape=[2], dtype=d) for i, d in enumerate(dtypes)]
    return [
        (p, block.create_parameter(name=p.name + "@GRAD", shape=[2], dtype=p.dtype)) for p in made
    ]


def test_the_norm_of_float16_gradients_is_one_of_float32(block):
    pairs = pairs_of(block, ["float16", "float16"])
    paddle.nn.ClipGradByGlobalNorm(1.0)(pairs)
    assert [o.type for o in block.ops].count("cast") == 3


def test_the_norm_of_float16_gradients_can_stay_one_of_float16(block):
    pairs = pairs_of(block, ["float16", "float16"])
    before = clip._allow_pure_fp16_global_norm_clip(True)
    paddle.nn.ClipGradByGlobalNorm(1.0)(pairs)
    clip._allow_pure_fp16_global_norm_clip(before)
    assert "cast" not in [o.type for o in block.ops]


def test_gradients_of_two_element_types_share_a_norm():
    x = [paddle.create_parameter([1], d) for d in ("float32", "float16")]
    grads = [paddle.to_tensor([3.0]), paddle.to_tensor([4.0]).astype("float16")]
    found = paddle.nn.ClipGradByGlobalNorm(1.0)(list(zip(x, grads, strict=True)))
    assert [g.dtype.name for _, g in found] == ["float32", "float16"]
    assert np.allclose([g.astype("float32").item() for _, g in found], [0.6, 0.8], atol=1e-3)


def test_parameters_have_clips_of_their_own(block):
    pairs = pairs_of(block, ["float32"])
    assert clip.append_gradient_clip_ops(pairs) == pairs
    clip.set_gradient_clip(paddle.nn.ClipGradByValue(1.0), [pairs[0][0]])
    clip.append_gradient_clip_ops(pairs)
    assert [o.type for o in block.ops] == ["clip"]
    with pytest.raises(TypeError, match="'clip' should be"):
        clip.set_gradient_clip(3)


@pytest.mark.parametrize("kind", ["ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue"])
def test_pairs_without_a_gradient_are_left_out_and_repeated_ones_clipped_each(kind):
    p = paddle.create_parameter([1], "float32")
    q = paddle.create_parameter([1], "float32", attr=paddle.ParamAttr(need_clip=False))
    grads = [paddle.to_tensor([n]) for n in (3.0, 5.0, 4.0)]
    found = getattr(paddle.nn, kind)(1.0)([(p, grads[0]), (q, grads[1]), (p, None), (p, grads[2])])
    expected = [0.6, 5.0, 0.8] if kind == "ClipGradByGlobalNorm" else [1.0, 5.0, 1.0]
    assert [v is w for (v, _), w in zip(found, (p, q, p), strict=True)] == [True] * 3
    assert np.allclose([g.item() for _, g in found], expected)


def test_an_optimizer_takes_no_other_clip():
    with pytest.raises(TypeError, match="'grad_clip' should be"):
        paddle.optimizer.SGD(0.1, parameters=[], grad_clip="clip")


@pytest.mark.parametrize(
    ("clips", "type"),
    [(paddle.nn.ClipGradByNorm(1.0), "clip_by_norm"), (paddle.nn.ClipGradByValue(1.0), "clip")],
    ids=["norm", "value"],
)
def test_a_gradient_clipped_by_itself_is_another_variable(block, clips, type):
    ((param, grad),) = pairs_of(block, ["float32"])
    ((same, made),) = clips([(param, grad)])
    operator = block.ops[-1]
    assert same is param and operator.type == type
    assert (operator.input("X"), operator.output("Out")) == ([grad.name], [made.name])
    assert made.name == f"{type}_0.tmp_0"
    assert operator.attr("op_role_var") == [param.name, made.name]


def hidden(error_clip):
    """A loss with two consumers of a layer whose gradient is clipped."""
    h = static.nn.fc(static.data("x", [2, 3]), 4)
    h._set_error_clip(error_clip)
    return h, paddle.exp(h).sum() + h.sum()


def test_an_optimizer_clips_the_gradient_of_a_variable_before_others_are_made_of_it(block):
    h, loss = hidden(clip.ErrorClipByValue(max=0.01, min=-1.0))
    paddle.optimizer.SGD(0.1).minimize(loss)
    types = [op.type for op in block.ops]
    place = types.index("clip")
    made = block.ops[place]
    assert made.input("X") == made.output("Out") == [h.name + "@GRAD"]
    assert (made.attr("min"), round(made.attr("max"), 6)) == (-1.0, 0.01)
    assert types[place - 1] == "sum" and types[place + 1] == "elementwise_add_grad"
    exe = static.Executor()
    exe.run(static.default_startup_program())
    names = ["fc_0.b_0@GRAD", h.name + "@GRAD"]
    bias, own = exe.run(block.program, feed={"x": np.ones([2, 3], "float32")}, fetch_list=names)
    assert np.allclose(bias, 0.02) and np.allclose(own, 0.01)


def test_gradients_are_clipped_in_a_loop_too(block):
    i, h = paddle.full([1], 0, "int64"), static.nn.fc(static.data("x", [2, 3]), 4)

    def body(i, h):
        y = paddle.tanh(h)
        y._set_error_clip(clip.ErrorClipByValue(0.5))
        return [i + 1, y * 3.0]

    _, out = static.nn.while_loop(lambda i, h: i < 2, body, [i, h])
    paddle.optimizer.SGD(0.1).minimize(out.sum())
    found = [op.type for inner in block.program.blocks for op in inner.ops]
    assert found.count("clip") == 1


@pytest.mark.parametrize("clips", [False, True])
def test_append_backward_clips_where_it_is_asked_to(block, clips):
    _, loss = hidden(clip.ErrorClipByValue(0.1))
    callbacks = [clip.error_clip_callback] if clips else None
    static.append_backward(loss, callbacks=callbacks)
    assert ("clip" in [op.type for op in block.ops]) == clips


def test_a_clip_of_one_variable_is_shown():
    assert str(clip.ErrorClipByValue(1.0)) == "ByValue, min=-1.000000, max=1.000000"
    assert isinstance(clip.ErrorClipByValue(1.0), clip.BaseErrorClipAttr)


def test_rows_are_merged_and_taken_in_a_program(block):
    kind = paddle.base.core.VarDesc.VarType.SELECTED_ROWS
    x = block.create_var(name="X", dtype="float32", persistable=True, type=kind)
    merged = clip.merge_selected_rows(x)
    results = [clip.get_tensor_from_selected_rows(v) for v in (merged, x)]
    assert merged.type == kind
    scope = static.Scope()
    rows = scope.var("X").get_selected_rows()
    rows.set_rows([0, 5, 5, 4, 19])
    rows.set_height(20)
    rows.get_tensor().set(np.arange(10.0).reshape(5, 2).astype("float32"), paddle.CPUPlace())
    with static.scope_guard(scope):
        found = static.Executor().run(block.program, fetch_list=results)
    assert found[0].tolist() == [[0.0, 1.0], [6.0, 7.0], [6.0, 8.0], [8.0, 9.0]]
    assert found[1].tolist() == np.arange(10.0).reshape(5, 2).tolist()


def test_rows_are_taken_of_what_has_some():
    for function in (
        clip.merge_selected_rows,
        clip.get_tensor_from_selected_rows,
    ):
        with pytest.raises(ArgumentTypeError, match="which is not row-sparse"):
            function(paddle.ones([2, 3]))
        with pytest.raises(ArgumentTypeError):
            function([1.0])


def trained_number(step):
    """A parameter without axes, from 1, after one step by the gradient 3, clipped to 0.5."""
    fill = paddle.nn.initializer.Constant(1.0)
    p = paddle.create_parameter([], "float32", name="number", default_initializer=fill)
    sgd = paddle.optimizer.SGD(0.1, parameters=[p], grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5))
    return step(p, sgd)


def test_the_joint_norm_clips_the_gradient_of_a_number_eagerly():
    def step(p, sgd):
        (p * 3.0).backward()
        sgd.step()
        return p

    found = trained_number(step)
    assert found.shape == [] and found.item() == pytest.approx(0.95)


def test_the_joint_norm_clips_the_gradient_of_a_number_in_a_program(block):
    def step(p, sgd):
        sgd.minimize(p * 3.0)
        return p

    p = trained_number(step)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    (found,) = exe.run(block.program, fetch_list=[p])
    assert found.shape == () and found.item() == pytest.approx(0.95)


class Halved(paddle.nn.ClipGradByValue):
    """A user's own clipping, one a mode."""

    def _dygraph_clip(self, params_grads):
        return [(p, g * 0.5) for p, g in super()._dygraph_clip(params_grads)]

    def _static_clip(self, params_grads):
        return [(p, g * 0.25) for p, g in super()._static_clip(params_grads)]


def halved_loss():
    zeros = paddle.nn.initializer.Constant(0.0)
    w = paddle.create_parameter([2], "float32", default_initializer=zeros)
    return w, (w * paddle.assign(np.array([1.0, 4.0], "float32"))).sum()


def test_a_subclass_says_how_to_clip():
    w, loss = halved_loss()
    loss.backward()
    paddle.optimizer.SGD(1.0, parameters=[w], grad_clip=Halved(2.0)).step()
    assert w.tolist() == [-0.5, -1.0]


def test_a_subclass_says_how_to_clip_in_programs(block):
    w, loss = halved_loss()
    paddle.optimizer.SGD(1.0, grad_clip=Halved(2.0)).minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    assert exe.run(block.program, fetch_list=[w])[0].tolist() == [-0.25, -0.5]
