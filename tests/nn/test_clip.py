"""Clipping of gradients by their joint norm: element types, clips of parameters."""

import numpy as np
import pytest

import scull as paddle
from scull.nn import clip

static = paddle.static


@pytest.fixture
def block():
    paddle.enable_static()
    main = static.Program()
    with paddle.utils.unique_name.guard(), static.program_guard(main):
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
