"""`match` with tensors in subjects, patterns and guards: the same eagerly, converted, recorded."""

import scull as paddle
from tests.jit.convert.ways import alike

P, N = [1.0, 2.0], [-1.0, -2.0]


@alike((P, 1), (P, 3), (P, 7), (P, 9))
def test_a_value_is_a_condition(x, n):
    match n:
        case 1:
            return x * 10
        case 3 | 7:
            y = x * 30
        case _:
            y = x
    return y + n


@alike((P, 0), (P, 3), (N, 3), (P, 4))
def test_values_and_names_stand_in_one_pattern(x, n):
    match n, x:
        case 0, _:
            return x - 1
        case 3, y if y.sum() > 1:
            return y * 3
        case 3 as k, y:
            return y * k + 5
        case k, y:
            return y * k


@alike((P, 1), (P, 2), (P, 5), (N, 1))
def test_a_choice_between_patterns_with_values(x, n):
    match (n, x, "add"):
        case (1, y, "add") | (2, y, _) if y.sum() > 0:
            return y + n
        case ((1 | 4, _, _) as whole) | [5, *whole]:
            return whole[1] * 4 if len(whole) == 3 else whole[0] * 5
    return x


@alike((P, 1), (P, 2))
def test_a_name_keeps_its_value_where_the_values_do_not_fit(x, n):
    y = x * 100
    match n, x:
        case 1, y:
            y = y + 1
        case _:
            y = y - 1
    return y


class Point:
    __match_args__ = ("x", "n")

    def __init__(self, x, n):
        self.x, self.n = x, n


@alike((P, 1), (N, 1), (P, 2))
def test_classes_and_mappings_have_values_within(x, n):
    match {"point": Point(x, n), "scale": 2, "more": x}:
        case {"scale": 3}:
            return x * 3
        case {"point": Point(y, 1), **rest} if y.sum() > 0:
            return y * len(rest) + rest["more"]
        case {"point": Point(n=2, x=y)}:
            return y * 7
        case {"point": Point()}:
            return -x


@alike((P,), (N,))
def test_what_is_recorded_is_a_tensor(x):
    match x, 3:
        case int() | float(), _:
            return x
        case paddle.Tensor(), int(k):
            y = x * k
        case _:
            y = -x
    match y:
        case list():
            return y
        case paddle.Tensor(ndim=1, stop_gradient=False):
            return y + 1
    return y


@alike((P, 4), (N, 4), (P, 0))
def test_a_match_in_a_loop_ends_it(x, n):
    for i in range(n):
        match i:
            case 1:
                continue
            case 3:
                break
            case k if x.sum() > 5:
                x = x - k
        x = x + 1
    match None:
        case 1 | None:
            return x
    return x * 100


@alike((P, 0), (P, 1), (P, 2))
def test_a_match_stands_in_another(x, n):
    match n:
        case 0:
            match x.sum() > 0:
                case True:  # an identity, which a tensor has with itself alone
                    return x
                case _:
                    x = x * 2
        case 1:
            match [x, n]:
                case [y, 1]:
                    return y * 5
    return x + n
