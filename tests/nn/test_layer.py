"""Layers: what is assigned to them, found in them, saved from them and printed of them."""

import copy

import numpy as np
import pytest

from scull import nn
from scull.core import session
from scull.core.dtype import dtype_of
from scull.core.tensor import Rows
from scull.nn.param_attr import ParamAttr
from scull.tensor import ones, to_tensor, zeros


@pytest.fixture(autouse=True)
def fresh_names():
    with session.guarded(names=session.Names()):
        yield


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.conv = nn.Conv2D(1, 2, 3)
        self.bn = nn.BatchNorm2D(2)
        self.w = self.create_parameter([2])
        self.register_buffer("buf", zeros([2]))
        self.register_buffer("tmp", zeros([3]), persistable=False)

    def forward(self, x):
        return self.fc(x)


STATE = [
    *("w", "buf", "fc.weight", "fc.bias", "conv.weight", "conv.bias"),
    *("bn.weight", "bn.bias", "bn._mean", "bn._variance"),
]


def test_the_state_has_parameters_and_persistable_buffers_in_order():
    assert list(Net().state_dict()) == STATE


def test_the_state_for_programs_has_all_buffers():
    assert list(Net().to_static_state_dict()) == [*STATE[:2], "tmp", *STATE[2:]]


def test_parameters_are_called_after_their_layers():
    names = [p.name for p in Net().parameters()]
    assert names[:3] == ["net_0.w_0", "linear_0.w_0", "linear_0.b_0"]
    assert names[5:] == [f"batch_norm2d_0.{n}" for n in ("w_0", "b_0", "w_1", "w_2")]


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (lambda: nn.BatchNorm1D(2), "batch_norm1d_0"),
        (nn.ReLU, "re_lu_0"),
        (nn.ReLU6, "re_lu6_0"),
        (lambda: nn.MaxPool2D(2), "max_pool2d_0"),
        (nn.BCEWithLogitsLoss, "bce_with_logits_loss_0"),
        (nn.MSELoss, "mse_loss_0"),
        (lambda: nn.Layer("own"), "own_0"),
    ],
)
def test_the_name_of_a_layer_is_its_class_in_snake_case(made, name):
    assert made().full_name() == name


def test_running_statistics_are_parameters_that_are_not_trained():
    mean = nn.BatchNorm2D(3)._mean
    assert (mean.trainable, mean.stop_gradient, mean.persistable) == (False, True, True)


def test_a_layer_shared_under_two_names_counts_once_but_is_saved_twice():
    net = nn.Layer()
    net.a = nn.Linear(2, 2)
    net.b = net.a
    net.c = nn.Linear(2, 2)
    net.c.weight = net.a.weight
    assert [name for name, _ in net.named_parameters()] == ["a.weight", "a.bias", "c.bias"]
    assert [name for name, _ in net.named_children()] == ["a", "c"]
    assert len(net.state_dict()) == 6


class Unready(nn.Layer):
    def __init__(self, value):
        self.value = value


@pytest.mark.parametrize(
    "make", [lambda: nn.ReLU(), lambda: nn.Linear(1, 1).weight, lambda: zeros([1])]
)
def test_assigning_before_the_parent_is_initialised_says_so(make):
    with pytest.raises(ValueError, match=r"super\(\).__init__\(\) should be called first"):
        Unready(make())


def test_plain_values_may_be_assigned_before_the_parent_is_initialised():
    assert Unready(3).value == 3


@pytest.mark.parametrize(
    ("name", "kind", "needed"),
    [
        ("w", "parameter", "Parameter"),
        ("fc", "sublayer", "Layer"),
        ("buf", "buffers", "core.Tensor"),
    ],
)
def test_only_none_or_its_like_takes_the_place_of_a_member(name, kind, needed):
    net = Net()
    law = f"assignment to {kind} '{name}' should be of type {needed} or None, but got 'int'"
    with pytest.raises(TypeError, match=law):
        setattr(net, name, 3)
    setattr(net, name, None)
    assert getattr(net, name) is None
    assert all(not key.startswith(name) for key in net.state_dict())


def test_a_tensor_that_is_assigned_is_a_buffer_that_is_not_saved():
    net = nn.Layer()
    net.count = ones([1])
    assert [name for name, _ in net.named_buffers()] == ["count"]
    assert not net.state_dict()


def test_a_registered_buffer_stays_persistable_when_another_tensor_is_assigned():
    net = Net()
    net.buf = ones([2])
    assert net.state_dict()["buf"].tolist() == [1.0, 1.0]


def test_a_parameter_takes_the_place_of_a_layer():
    net = Net()
    net.fc = net.w
    assert "fc" not in dict(net.named_children())
    assert net.fc is net.w


def test_members_can_be_deleted():
    net = Net()
    del net.fc, net.w, net.buf
    assert list(net.state_dict()) == STATE[4:]
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'fc'"):
        net.fc  # noqa: B018


def test_members_are_listed():
    assert {"fc", "w", "buf", "forward"} <= set(dir(Net()))


def test_properties_of_a_class_are_set_and_not_shadowed():
    class Gauge(nn.Layer):
        @property
        def level(self):
            return self._level * 2

        @level.setter
        def level(self, value):
            self._level = value

    gauge = Gauge()
    gauge.level = 4
    assert gauge.level == 8


@pytest.mark.parametrize(
    ("name", "error", "law"),
    [
        (3, TypeError, "The name of parameter should be a string, but received int."),
        ("a.b", KeyError, "can not contain `.`"),
        ("", KeyError, "can not be empty"),
        ("forward", KeyError, "The parameter 'forward' already exists."),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(name, error, law):
    with pytest.raises(error, match=law):
        Net().add_parameter(name, None)


def test_a_buffer_has_to_be_a_tensor():
    with pytest.raises(TypeError, match="The registered buffer should be a"):
        Net().register_buffer("q", 3)


def test_hooks_see_and_replace_inputs_and_outputs_until_removed():
    layer, seen = nn.Linear(2, 2), []
    before = layer.register_forward_pre_hook(lambda layer, inputs: (inputs[0] * 2.0,))
    after = layer.register_forward_post_hook(lambda layer, inputs, out: seen.append(inputs) or 7)
    x = ones([1, 2])
    assert layer(x) == 7
    assert seen[0][0].tolist() == [[2.0, 2.0]]
    before.remove()
    after.remove()
    after.remove()
    assert layer(x).shape == [1, 2]


def test_a_hook_may_change_the_state():
    layer = nn.Linear(1, 1)
    handle = layer.register_state_dict_hook(lambda state: state.update(extra=1))
    assert list(layer.state_dict()) == ["weight", "bias", "extra"]
    assert list(layer.state_dict(use_hook=False)) == ["weight", "bias"]
    handle.remove()
    assert list(layer.state_dict()) == ["weight", "bias"]


def test_training_and_use_reach_all_sublayers():
    net = Net()
    net.eval()
    assert not any(layer.training for layer in net.sublayers(include_self=True))
    net.fc.train()
    assert (net.training, net.fc.training) == (False, True)


def test_apply_visits_children_first():
    seen = []
    assert isinstance(Net().apply(lambda layer: seen.append(type(layer).__name__)), Net)
    assert seen == ["Linear", "Conv2D", "BatchNorm2D", "Net"]


def test_a_state_is_loaded_where_it_fits_and_the_rest_is_reported():
    net, state = Net(), {k: v.numpy() + 1 for k, v in Net().state_dict().items()}
    del state["fc.weight"]
    state["fc.bias"], state["extra"] = np.zeros([7], "float32"), np.zeros(2)
    kept = net.fc.weight.numpy()
    with pytest.warns(UserWarning, match="Skip loading for fc") as caught:
        missing, unexpected = net.set_state_dict(state)
    assert (missing, unexpected) == (["fc.weight", "fc.bias"], ["fc.bias", "extra"])
    assert str(caught[0].message) == (
        "Skip loading for fc.weight. fc.weight is not found in the provided dict."
    )
    assert "fc.bias receives a shape [7], but the expected shape is [3]." in str(caught[1].message)
    assert (net.fc.weight.numpy() == kept).all()
    assert (net.w.numpy() == state["w"]).all()


def test_a_state_is_loaded_by_the_names_of_parameters_too():
    net = nn.Linear(2, 2)
    state = {p.name: np.ones(p.shape, "float32") for p in net.parameters()}
    assert net.set_state_dict(state, use_structured_name=False) == ([], [])
    assert net.weight.tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_a_layer_is_cast_as_a_whole(dtype):
    net = Net().to(dtype=dtype)
    assert {t.dtype.name for t in (*net.parameters(), *net.buffers())} == {dtype}
    assert net.fc._dtype == dtype
    assert all(not p.stop_gradient for p in net.fc.parameters())


def test_only_floats_of_layers_that_are_not_excluded_are_narrowed():
    net = Net()
    net.register_buffer("count", zeros([1], "int64"))
    net.float16(excluded_layers=[nn.Linear])
    assert (net.fc.weight.dtype.name, net.conv.weight.dtype.name) == ("float32", "float16")
    assert net.count.dtype.name == "int64"
    assert net.float().conv.weight.dtype.name == "float32"


def test_an_unknown_element_type_is_named():
    with pytest.raises(ValueError, match="recieve floaty"):
        Net().astype("floaty")


def test_gradients_are_set_to_zero():
    layer = nn.Linear(1, 1)
    layer(ones([1, 1])).backward()
    layer.clear_gradients()
    assert layer.weight.grad.tolist() == [[0.0]]


def test_a_layer_without_forward_says_so():
    with pytest.raises(NotImplementedError, match="Net2 defines no `forward`"):
        type("Net2", (nn.Layer,), {})()(1)


def test_a_copy_of_a_layer_has_parameters_of_its_own():
    layer = nn.Linear(2, 2)
    other = copy.deepcopy(layer)
    other.weight.set_value(np.zeros([2, 2], "float32"))
    assert layer.weight.numpy().any()


def test_losses_are_found_where_old_code_looks():
    for name in ("CrossEntropyLoss", "MSELoss", "NLLLoss", "PoissonNLLLoss", "CTCLoss"):
        assert getattr(nn.loss, name) is getattr(nn, name)


def test_a_layer_prints_its_element_type_as_it_was_told():
    text = "Linear(in_features=2, out_features=2, dtype={})"
    linear = nn.Linear(2, 2)
    assert repr(linear.to(dtype="float64")) == text.format("float64")
    assert repr(linear.to(dtype=dtype_of("float64"))) == text.format("paddle.float64")
    assert repr(linear.astype("int8")) == text.format("paddle.int8")
    with session.guarded(dtype=dtype_of("float64")):
        assert repr(nn.Linear(2, 2)) == text.format("float64")
    activation = nn.PReLU().bfloat16()
    assert repr(activation).endswith("init=0.25, dtype=paddle.bfloat16)")


def test_layers_print_what_was_said_of_them():
    layers = [
        (nn.Linear(2, 3, name="q"), "Linear(in_features=2, out_features=3, dtype=float32, name=q)"),
        (
            nn.Conv2D(2, 2, 3, stride=2, padding=1, dilation=2, groups=2),
            "Conv2D(2, 2, kernel_size=[3, 3], stride=[2, 2], padding=1, dilation=[2, 2], "
            "groups=2, data_format=NCHW)",
        ),
        (nn.MaxPool2D(3, 2, 1), "MaxPool2D(kernel_size=3, stride=2, padding=1)"),
        (nn.AdaptiveMaxPool2D((2, 3)), "AdaptiveMaxPool2D(output_size=(2, 3), return_mask=False)"),
        (
            nn.BatchNorm1D(3, name="b"),
            "BatchNorm1D(num_features=3, momentum=0.9, epsilon=1e-05, data_format=NCL, name=b)",
        ),
        (nn.BatchNorm(3), "BatchNorm()"),
        (nn.LayerNorm([3, 4]), "LayerNorm(normalized_shape=[3, 4], epsilon=1e-05)"),
        (nn.Embedding(3, 4, 1, sparse=True), "Embedding(3, 4, padding_idx=1, sparse=True)"),
        (nn.Dropout(0.3), "Dropout(p=0.3, axis=None, mode=upscale_in_train)"),
        (nn.ReLU("r"), "ReLU(name=r)"),
        (nn.Softmax(1), "Softmax(axis=1)"),
        (nn.Softplus(), "Softplus(beta=1, threshold=20)"),
        (nn.Flatten(), "Flatten()"),
        (
            nn.Pad2D(1),
            "Pad2D(padding=[1, 1, 1, 1], mode=constant, value=0.0, data_format=NCHW)",
        ),
    ]
    for layer, text in layers:
        assert repr(layer) == text


def test_a_layer_prints_its_sublayers_under_it(golden):
    class Extra(nn.Layer):
        def extra_repr(self):
            return "hello=1"

    extra = Extra()
    extra.s = nn.ReLU()
    extra.q = nn.Sequential(nn.ReLU(), nn.Linear(1, 2))
    assert f"{Net()}\n{extra}\n{nn.Sequential(('a', Extra()))}" == golden


def test_to_takes_a_place_or_its_name():
    linear = nn.Linear(1, 1)
    with pytest.raises(ValueError, match="device value error"):
        linear.to(device=1)
    with pytest.raises(AssertionError, match="blocking value error"):
        linear.to(blocking=1)


def test_a_parameter_is_no_buffer():
    layer = nn.Layer()
    with pytest.raises(TypeError, match=r"buffer should be a Paddle\.Tensor"):
        layer.register_buffer("b", layer.create_parameter([1]))


def test_batch_normalisation_has_parameters_of_its_element_type():
    kinds = {v.dtype.name for v in nn.BatchNorm(3, dtype="float64").state_dict().values()}
    assert kinds == {"float64"}
    before = session.default_dtype()
    for default, expected in (("float64", "float64"), ("float16", "float32")):
        session.put("dtype", dtype_of(default))
        found = {v.dtype.name for v in nn.BatchNorm2D(3).state_dict().values()}
        session.put("dtype", before)
        assert found == {expected}


def test_a_parameter_put_into_a_layer_takes_the_value_that_waits_for_it():
    layer = nn.Layer()
    made = layer.create_parameter([1])
    layer._loaddict_holder[made.name] = ones([1])
    assert layer.add_parameter("w", made).tolist() == [1.0]


def test_a_gradient_of_some_rows_is_cast_row_by_row():
    table = nn.Embedding(5, 2, sparse=True)
    nn.functional.embedding(
        to_tensor([1, 3]), table.weight.astype("float64"), sparse=True
    ).sum().backward()
    arrived = table.weight.node.total.array
    assert type(arrived) is Rows and arrived.values.dtype == "float32"
    assert arrived.dense().tolist() == [[0, 0], [1, 1], [0, 0], [1, 1], [0, 0]]


def test_every_batch_normalisation_is_found_by_what_they_share():
    kinds = ("BatchNorm1D", "BatchNorm2D", "BatchNorm3D", "SyncBatchNorm")
    assert all(issubclass(getattr(nn, k), nn.layer.norm._BatchNormBase) for k in kinds)
    assert not issubclass(nn.InstanceNorm2D, nn.layer.norm._BatchNormBase)


def test_layers_of_users_derive_from_what_convolutions_share():
    shared = nn.layer.conv._ConvNd
    kinds = [f"Conv{n}D{t}" for n in (1, 2, 3) for t in ("", "Transpose")]
    assert all(issubclass(getattr(nn, k), shared) for k in kinds)
    assert all(getattr(nn.layer.conv, k) is getattr(nn, k) for k in kinds)

    class Own(shared):
        def forward(self, x):
            return nn.functional.conv2d(
                *(x, self.weight, self.bias, self._stride, self._updated_padding),
                *(self._dilation, self._groups, self._data_format),
            )

    own = Own(4, 6, [3, 1], False, 2, stride=2, padding=1, groups=2)
    assert own(to_tensor(np.ones([1, 4, 8, 8], "float32"))).shape == [1, 6, 4, 5]
    assert own.weight.shape == [6, 2, 3, 1] and own._channel_dim == 1
    assert str(own) == (
        "Own(4, 6, kernel_size=[3, 1], stride=[2, 2], padding=1, groups=2, data_format=NCHW)"
    )
    back = shared(4, 6, 3, True, 3, output_padding=1, bias_attr=False, data_format="NDHWC")
    assert back.weight.shape == [4, 6, 3, 3, 3] and back.bias is None
    assert back._bias_attr is False and back._channel_dim == 4
    assert str(back).endswith("kernel_size=[3, 3, 3], output_padding=1, data_format=NDHWC)")
    around = shared(4, 6, 3, False, 2, padding=[1, 2], padding_mode="circular")
    assert around._reversed_padding_repeated_twice == [2, 2, 1, 1] and around._updated_padding == 0
    with pytest.raises(AssertionError, match="weight_attr should not be False"):
        shared(4, 6, 3, False, 2, weight_attr=False)


def test_the_running_statistics_are_named_after_batch_normalisation():
    names = [p.name for p in nn.BatchNorm1D(2, name="first").parameters()]
    assert names[2:] == ["first_mean", "first_variance"]


def test_what_a_layer_says_of_itself_may_take_several_lines():
    class Pair(nn.Layer):
        def extra_repr(self):
            return "a=1\nb=2"

    pair = Pair()
    assert repr(pair) == "Pair(\n  a=1\n  b=2\n)"
    pair.add_sublayer("act", nn.ReLU())
    assert repr(pair) == "Pair(\n  a=1\n  b=2\n\n  (act): ReLU()\n)"


def test_the_name_of_a_sublayer_is_a_string():
    with pytest.raises(TypeError, match="the name of a sublayer"):
        nn.Sequential([nn.ReLU(), nn.ReLU()])


@pytest.mark.parametrize("kind", [nn.Conv2D, nn.Conv2DTranspose])
def test_a_convolution_refuses_an_unknown_format_at_once(kind):
    with pytest.raises(ValueError, match="data_format must be one of"):
        kind(1, 1, 1, data_format="CHWN")


def test_batch_normalisation_counts_in_use_too_where_running_statistics_are_declined():
    layer = nn.BatchNorm1D(1, momentum=0.5, epsilon=0.0, use_global_stats=False)
    layer.eval()
    assert layer(to_tensor([[1.0], [3.0]])).tolist() == [[-1.0], [1.0]]
    assert layer._mean.tolist() == [1.0]


def test_layers_take_their_input_by_the_name_it_has_in_paddle():
    assert nn.MaxPool1D(2)(input=ones([1, 1, 2])).tolist() == [[[1.0]]]
    assert nn.SyncBatchNorm(1, epsilon=0.0)(x=to_tensor([[1.0], [3.0]])).tolist() == [[-1.0], [1.0]]


def test_parameters_of_a_recurrent_network_may_be_flattened_at_any_time():
    layer = nn.LSTM(2, 3)
    names = list(layer.state_dict())
    layer.flatten_parameters()
    assert list(layer.state_dict()) == names


def test_layers_keep_what_was_said_of_their_parameters():
    attr = ParamAttr(learning_rate=0.5)
    made = [
        kind(*sizes, weight_attr=attr, bias_attr=False)
        for kind, *sizes in ((nn.Linear, 2, 3), (nn.BatchNorm2D, 3), (nn.LayerNorm, 3))
    ]
    assert all(layer._weight_attr is attr and layer._bias_attr is False for layer in made)
    norms = [nn.GroupNorm(1, 3, weight_attr=attr), nn.InstanceNorm2D(3, weight_attr=attr)]
    rows = [nn.Embedding(3, 2, weight_attr=attr), nn.PReLU(weight_attr=attr)]
    assert all(layer._weight_attr is attr for layer in norms + rows)
    assert all(layer._bias_attr is None for layer in norms) and rows[0]._size == [3, 2]


def test_an_older_name_of_what_was_said_is_kept_too():
    said = ParamAttr(learning_rate=2.0)
    norm = nn.BatchNorm(2, param_attr=said, bias_attr=False)
    assert norm._param_attr is said and norm._bias_attr is False


def test_the_module_of_activations_holds_all_of_them_by_name():
    held = vars(nn.layer.activation)
    names = ["CELU", "Maxout", "PReLU", "RReLU", "ReLU", "SELU", "Softmax2D", "ThresholdedReLU"]
    assert all(held.get(name) is getattr(nn, name) for name in names)
