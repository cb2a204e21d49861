"""First values: the same in both modes, and what is said of parameters."""

import numpy as np
import pytest

from scull import nn
from scull.core import session
from scull.core.interpreter import base, set_base
from scull.executor.executor import Executor
from scull.ir.mode import disable_static, enable_static
from scull.ir.program import Program, program_guard
from scull.nn import initializer as init
from scull.nn.param_attr import ParamAttr
from scull.regularizer import L1Decay, L2Decay
from scull.runtime.scope import Scope
from scull.tensor import ones, to_tensor


@pytest.fixture(autouse=True)
def fresh_names():
    with session.guarded(names=session.Names()):
        yield


@pytest.fixture
def static():
    before = base[-1]
    enable_static()
    yield
    disable_static()
    set_base(before)


def parameter(initializer, shape=(4, 6), dtype="float32"):
    return nn.Layer().create_parameter(list(shape), ParamAttr(initializer=initializer), dtype)


DRAWN = [
    init.Normal(1.0, 2.0),
    init.Uniform(-2.0, 2.0),
    init.TruncatedNormal(),
    init.XavierNormal(),
    init.XavierUniform(fan_in=3),
    init.KaimingNormal(nonlinearity="leaky_relu", negative_slope=0.3),
    init.KaimingUniform(),
    init.Constant(2.5),
    init.Assign(np.arange(24.0).reshape(4, 6)),
    init.Orthogonal(2.0),
    init.UniformInitializer(seed=7),
    init.XavierInitializer(uniform=False, seed=7),
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("initializer", DRAWN, ids=lambda i: type(i).__name__)
def test_both_modes_draw_the_same_numbers_from_a_seed(initializer, dtype, static):
    session.generator().manual_seed(3)
    main, startup, scope = Program(), Program(), Scope()
    with program_guard(main, startup):
        name = parameter(initializer, dtype=dtype).name
    Executor().run(startup, scope=scope)
    recorded = np.asarray(scope.find_var(name).value)
    disable_static()
    session.generator().manual_seed(3)
    eager = parameter(initializer, dtype=dtype)
    assert recorded.dtype == eager.numpy().dtype
    assert recorded.tobytes() == eager.numpy().tobytes()


def test_a_parameter_has_one_initialiser_in_the_startup_program(static):
    main, startup = Program(), Program()
    with program_guard(main, startup):
        nn.Linear(2, 3)
        nn.BatchNorm2D(3)
        nn.Conv2D(1, 2, 3, weight_attr=init.Assign(np.ones((2, 1, 3, 3), "float32")))
    written = [v.name for op in startup.global_block().ops for v in op.results()]
    assert written == [p.name for p in main.all_parameters()]
    assert not main.global_block().ops


@pytest.mark.parametrize(
    ("initializer", "dtype", "types"),
    [
        (init.Uniform(), "bfloat16", "uniform_random"),
        (init.Uniform(), "float16", "uniform_random cast"),
        (init.XavierNormal(), "bfloat16", "gaussian_random cast"),
        (init.Bilinear(), "float64", "assign_value cast"),
        (
            init.Dirac(),
            "float32",
            "fill_constant reshape2 assign_value assign_value scatter reshape2",
        ),
        (
            init.Orthogonal(),
            "float32",
            "gaussian_random qr diag_v2 sign elementwise_mul transpose2 reshape2 scale",
        ),
    ],
)
def test_the_operators_of_an_initializer_are_those_of_the_reference(
    static, initializer, dtype, types
):
    block = Program().global_block()
    block.create_parameter(name="p", shape=[2, 3, 3, 3], dtype=dtype, initializer=initializer)
    assert [op.type for op in block.ops] == types.split()


def test_filters_that_interpolate_are_of_floats(static):
    with pytest.raises(TypeError, match="int32"):
        Program().global_block().create_parameter(
            name="p", shape=[1, 1, 2, 2], dtype="int32", initializer=init.Bilinear()
        )


def test_an_orthogonal_parameter_is_drawn_anew_by_every_startup_run(static):
    main, startup = Program(), Program()
    with program_guard(main, startup):
        w = nn.Linear(3, 2, weight_attr=init.Orthogonal()).weight
    exe = Executor()
    first, second = (exe.run(startup, fetch_list=[w.name])[0] for _ in range(2))
    assert not np.array_equal(first, second)
    assert np.allclose(second.T @ second, np.eye(2), atol=1e-6)


def test_programs_that_share_a_startup_program_share_parameters(static):
    startup = Program()
    for _ in range(2):
        with session.guarded(names=session.Names()), program_guard(Program(), startup):
            nn.Linear(2, 3)
    assert len(startup.global_block().ops) == 2


def test_the_seed_of_the_startup_program_is_that_of_its_operators(static):
    main, startup = Program(), Program()
    startup.random_seed = 5
    with program_guard(main, startup):
        nn.Linear(2, 3)
    assert startup.global_block().ops[0].attr("seed") == 5


LARGE = (100, 200)


@pytest.mark.parametrize(
    ("initializer", "mean", "deviation", "bound"),
    [
        (init.Normal(1.0, 2.0), 1, 2, 99),
        (init.Uniform(-1, 3), 1, 4 / 12**0.5, 3),
        (init.TruncatedNormal(), 0, 0.88, 2),
        (init.XavierNormal(), 0, (2 / 300) ** 0.5, 9),
        (init.XavierUniform(), 0, (2 / 300) ** 0.5, (6 / 300) ** 0.5),
        (init.KaimingNormal(), 0, (2 / 100) ** 0.5, 9),
        (init.KaimingUniform(), 0, (2 / 100) ** 0.5, (6 / 100) ** 0.5),
    ],
    ids=lambda value: type(value).__name__,
)
def test_drawn_numbers_have_the_mean_and_deviation_they_should(initializer, mean, deviation, bound):
    session.generator().manual_seed(0)
    drawn = parameter(initializer, LARGE).numpy()
    assert abs(drawn.mean() - mean) < 0.05
    assert abs(drawn.std() - deviation) < 0.05 * deviation
    assert abs(drawn).max() <= bound


def test_filters_of_dirac_pass_channels_on():
    filters = parameter(init.Dirac(2), (4, 2, 3, 3)).numpy()
    places = [a.tolist() for a in filters.nonzero()]
    assert places == [[0, 1, 2, 3], [0, 1, 0, 1], [1, 1, 1, 1], [1, 1, 1, 1]]


def test_filters_that_enlarge_images_are_paddles():
    found = parameter(init.Bilinear(), (1, 1, 4, 4)).numpy()[0, 0]
    assert found[0].tolist() == [0.0625, 0.28125, 0.375, 0.15625]
    assert found[3].tolist() == [0.0625, 0.09375, 0.0, -0.03125]


def test_rows_of_an_orthogonal_matrix_have_the_length_of_the_gain():
    rows = parameter(init.Orthogonal(2.0)).numpy()
    np.testing.assert_allclose(rows @ rows.T, 4 * np.eye(4), atol=1e-5)


def test_a_parameter_takes_the_shape_of_a_given_value():
    layer = nn.Linear(2, 2, init.Assign([2, 3]), init.Assign(np.array([4])))
    assert (layer.weight.tolist(), layer.bias.tolist()) == ([2.0, 3.0], [4.0])
    assert layer(ones([1, 2])).tolist() == [9.0]


def test_a_parameter_of_a_program_takes_the_shape_of_a_given_value(static):
    startup = Program()
    with program_guard(Program(), startup):
        weight = nn.Linear(2, 2, init.Assign([2, 3])).weight
    (found,) = Executor().run(startup, fetch_list=[weight.name], scope=Scope())
    assert found.tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("make", "error", "law"),
    [
        (lambda: parameter(init.Dirac(), (3, 2)), AssertionError, "3/4/5 dimensions"),
        (lambda: parameter(init.Bilinear(), (3, 2)), ValueError, "must be 4"),
        (lambda: parameter(init.Orthogonal(), (3,)), AssertionError, "2 or more dimensions"),
        (lambda: init.Assign(3), TypeError, "takes an array"),
        (lambda: init.Uniform(3, 1), ValueError, "low is 3 and high 1"),
        (lambda: init.calculate_gain("foo"), ValueError, "foo is not suppported now"),
        (lambda: init.set_global_initializer(3), TypeError, "`weight_init` takes an Initializer"),
        (lambda: parameter(None, (2, -3)), ValueError, "the 1-th dim is -3"),
        (lambda: parameter(None, (2,), "int64"), TypeError, "dtype is not"),
    ],
)
def test_what_cannot_be_a_first_value_is_refused(make, error, law):
    with pytest.raises(error, match=law):
        make()


def test_gains_are_those_of_the_literature():
    names = ("sigmoid", "conv2d_transpose", "tanh", "relu", "leaky_relu", "selu")
    gains = [1, 1, 5 / 3, 2**0.5, (2 / 1.0001) ** 0.5, 0.75]
    assert [init.calculate_gain(n) for n in names] == gains
    assert init.calculate_gain("leaky_relu", 1.0) == 1


def test_global_initializers_give_way_to_an_attribute_only():
    init.set_global_initializer(init.Constant(2.0), init.Constant(3.0))
    try:
        linear, norm = nn.Linear(1, 2), nn.BatchNorm2D(1)
        own = nn.Linear(1, 1, weight_attr=init.Constant(9.0))
    finally:
        init.set_global_initializer(None)
    assert (linear.weight.tolist(), linear.bias.tolist()) == ([[2.0, 2.0]], [3.0, 3.0])
    assert (norm.weight.tolist(), norm._mean.tolist()) == ([2.0], [0.0])
    assert own.weight.tolist() == [[9.0]]
    assert nn.Linear(1, 2).bias.tolist() == [0.0, 0.0]


def test_an_initializer_fills_a_parameter_it_is_called_with():
    weight = nn.Linear(1, 2).weight
    init.Constant(5.0)(weight)
    assert weight.tolist() == [[5.0, 5.0]]


def test_an_initializer_of_a_users_own_is_asked():
    class Twos(init.Initializer):
        def forward(self, param, block=None):
            param.set_value(np.full(param.shape, 2, "float32"))

    assert nn.Linear(1, 2, weight_attr=Twos()).weight.tolist() == [[2.0, 2.0]]


def test_an_attribute_says_all_of_a_parameter():
    attr = ParamAttr("w", init.Constant(1.0), 0.5, L2Decay(0.1), False, True, False)
    weight = nn.Linear(2, 2, weight_attr=attr).weight
    assert (weight.name, weight.trainable, weight.stop_gradient) == ("w", False, True)
    assert (weight.optimize_attr, weight.need_clip) == ({"learning_rate": 0.5}, False)
    assert str(weight.regularizer) == "L2Decay, coeff=0.100000"


def test_an_attribute_may_be_said_in_short():
    linear = nn.Linear(2, 2, weight_attr="own", bias_attr=init.Constant(2.0))
    assert (linear.weight.name, linear.bias.tolist()) == ("own", [2.0, 2.0])
    assert nn.Linear(2, 2, bias_attr=False).bias is None
    assert nn.Linear(2, 2, weight_attr=L1Decay(0.5)).weight.regularizer._coeff == 0.5
    with pytest.raises(TypeError, match="<class 'int'> cast to ParamAttr"):
        nn.Linear(2, 2, weight_attr=3)


def test_an_attribute_used_twice_names_two_parameters():
    attr = ParamAttr()
    names = [nn.Linear(2, 2, weight_attr=attr).weight.name for _ in range(2)]
    assert names == ["linear_0.w_0", "linear_1.w_0"]
    assert attr.name is attr.initializer is None


def test_a_name_is_given_to_one_parameter_only_in_eager_mode():
    nn.Linear(2, 2, weight_attr="own")
    with pytest.raises(ValueError, match=r"parameter name \[own\] have be been used"):
        nn.Linear(2, 2, weight_attr="own")


@pytest.mark.parametrize(("decay", "added"), [(L1Decay(0.5), 0.5), (L2Decay(0.5), 1.0)])
def test_a_regularizer_gives_what_is_added_to_a_gradient(decay, added):
    weight = to_tensor([2.0, -2.0])
    assert decay(weight, ones([2])).tolist() == [added, -added]
