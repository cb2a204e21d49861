"""Functions made static, and called, in ways that are wrong; each is a mistake by itself."""

import scull as paddle
from scull import nn
from scull.static import InputSpec
from tests.jit.bad.case import EAGER, bad

to_static = paddle.jit.to_static


def double(x):
    return x * 2


class Scale(nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([2])

    def forward(self, x):
        return x * self.weight


def only(function):
    """A mistake that has no other modes."""
    return bad(ways=(EAGER,))(function)


@only
def a_number_made_static():
    to_static(3)


@only
def a_text_made_static():
    to_static("forward")


@only
def a_staticmethod_made_static():
    to_static(staticmethod(double))


@only
def a_backend_that_does_not_exist():
    to_static(double, backend="TVM")


@only
def a_build_strategy_that_is_none():
    to_static(double, build_strategy={"fuse": True})


@only
def an_option_that_does_not_exist():
    to_static(double, cache=True)


@only
def an_argument_that_is_missing():
    to_static(double)()


@only
def an_argument_too_many():
    to_static(double)(paddle.ones([1]), paddle.ones([1]))


@only
def an_argument_of_another_name():
    to_static(double)(y=paddle.ones([1]))


@only
def an_argument_given_twice():
    to_static(double)(paddle.ones([1]), x=paddle.ones([1]))


@only
def an_input_spec_that_is_no_list():
    to_static(double, input_spec=InputSpec([1]))(paddle.ones([1]))


@only
def an_input_spec_for_more_than_there_are():
    to_static(double, input_spec=[InputSpec([1]), InputSpec([1])])(paddle.ones([1]))


@only
def an_input_spec_whose_shape_is_a_text():
    InputSpec("2, 3")


@only
def an_input_spec_of_a_type_that_does_not_exist():
    InputSpec([2], "float12")


@only
def an_input_spec_of_too_few():
    to_static(lambda x, y: x + y, input_spec=[InputSpec([2])]).concrete_program  # noqa: B018


@only
def a_program_asked_for_before_a_call():
    to_static(double).concrete_program  # noqa: B018


@only
def a_layer_that_was_not_begun():
    class Unbegun(nn.Layer):
        def __init__(self):
            self.linear = nn.Linear(2, 2)

    to_static(Unbegun())


@only
def a_layer_without_forward():
    class Empty(nn.Layer):
        pass

    to_static(Empty())(paddle.ones([1]))


@only
def a_class_in_the_place_of_a_layer():
    to_static(Scale)(paddle.ones([2]))


@only
def a_parameter_overwritten_by_a_number():
    class Reset(Scale):
        def forward(self, x):
            self.weight = 3
            return x

    to_static(Reset(), full_graph=True)(paddle.ones([2]))


@only
def the_mode_of_a_method_set_by_itself():
    to_static(Scale()).forward.eval()


@only
def switched_by_a_number():
    paddle.jit.enable_to_static(0)


@only
def a_module_to_ignore_that_is_a_name():
    paddle.jit.ignore_module("numpy")


@only
def a_layer_fed_with_another_width():
    to_static(Scale(), full_graph=True)(paddle.ones([3]))


@only
def a_hidden_mistake_of_a_sublayer():
    net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(4, 2))
    to_static(net, full_graph=True)(paddle.ones([1, 4]))
