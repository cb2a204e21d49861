"""What a function writes into objects, lists and names is there after every call, as in eager."""

import threading

import pytest

import scull as paddle
from scull import nn
from scull.errors import UnsupportedError

BOTH = pytest.mark.parametrize("full_graph", [True, False])
total = None
seen = []
table = {}


def keep_in(place, value):
    place.append(value)


class Keeping(nn.Layer):
    """Keeps what it computed in an attribute, a list and a dictionary."""

    def __init__(self):
        super().__init__()
        self.linear, self.last, self.parts, self.log = nn.Linear(3, 2), None, {}, []

    def forward(self, x):
        self.last = self.linear(x)
        self.parts["double"] = self.last * 2.0
        self.log.append(self.last.sum())
        return self.last + 1.0


def ones(rows=2):
    return paddle.ones([rows, 3])


@BOTH
def test_attributes_lists_and_dictionaries_hold_tensors_after_every_call(full_graph):
    plain = Keeping()
    static = Keeping()
    static.set_state_dict(plain.state_dict())
    paddle.jit.to_static(static, full_graph=full_graph)
    for rows in (2, 2, 4):
        x = ones(rows) * rows
        assert static(x).tolist() == plain(x).tolist()
        assert static.last.tolist() == plain.last.tolist()
        assert static.parts["double"].tolist() == plain.parts["double"].tolist()
    assert [v.item() for v in static.log] == [v.item() for v in plain.log]


def test_gradients_flow_through_what_was_left():
    class Attention(nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear, self.kept = nn.Linear(3, 2), {}

        def forward(self, x):
            self.kept["weights"] = nn.functional.softmax(self.linear(x))
            return self.kept["weights"].sum()

    net = Attention()
    paddle.jit.to_static(net)
    net(ones())
    net.kept["weights"][0, 0].backward()
    assert net.linear.weight.grad.abs().sum() > 0.0


@BOTH
def test_lists_and_dictionaries_among_the_arguments_are_those_of_the_caller(full_graph):
    @paddle.jit.to_static(full_graph=full_graph)
    def function(x, out, named):
        out.append(x * 2.0)
        keep_in(out, x * 3.0)
        named["sum"] = x.sum()
        named["count"] += 1
        named.pop("gone", None)
        return x

    for _ in range(2):
        out, named = [ones()], {"gone": 1, "count": 0}
        function(ones(), out, named)
        assert [v.sum().item() for v in out] == [6.0, 12.0, 18.0]
        assert (named["sum"].item(), named["count"], "gone" in named) == (6.0, 1, False)


def test_a_list_that_is_replaced_within_stays_the_list_of_the_caller():
    @paddle.jit.to_static
    def function(x, out):
        out.reverse()
        out[0] = out[0] + x
        return x

    out = [ones(), ones() * 2.0]
    held = out
    function(ones(), out)
    assert held is out
    assert [v.sum().item() for v in out] == [18.0, 6.0]


def test_names_of_the_module_hold_tensors():
    @paddle.jit.to_static
    def function(x):
        global total
        total = x.sum()
        table["x"] = x * 2.0
        seen.append(x)
        return x

    function(ones())
    function(ones() * 2.0)
    assert total.item() == 12.0
    assert table["x"].sum().item() == 24.0
    assert [v.sum().item() for v in seen] == [6.0, 12.0]


def test_what_is_written_in_a_branch_is_left_as_the_branch_says():
    class Signed(nn.Layer):
        def __init__(self):
            super().__init__()
            self.sign = None

        def forward(self, x):
            if x.sum() > 0.0:
                self.sign = paddle.ones([])
            else:
                self.sign = -paddle.ones([])
            return x * self.sign

    net = Signed()
    paddle.jit.to_static(net)
    for x in (ones(), -ones(), ones()):
        net(x)
        assert net.sign.item() == (1.0 if x.sum() > 0.0 else -1.0)


def test_objects_made_within_are_not_kept():
    class State:
        def __init__(self, x):
            self.x, self.items = x, []

    @paddle.jit.to_static
    def function(x):
        state = State(x)
        state.x = state.x + 1.0
        state.items.append(state.x)
        return state.items[0]

    assert function(ones()).sum().item() == 12.0
    assert function.concrete_program.left == []


def test_a_recording_that_fails_leaves_nothing_behind():
    class Failing(nn.Layer):
        def __init__(self):
            super().__init__()
            self.last, self.calls, self.log = None, 0, []

        def forward(self, x):
            self.last = x * 2.0
            self.calls += 1
            self.log.append(self.last)
            return x * float(str(x.sum().numpy()))

    net = Failing()
    paddle.jit.to_static(net, full_graph=False)
    with pytest.warns(UserWarning, match="is no one Program"):
        net(ones())
    assert net.last.sum().item() == 12.0
    assert net.calls == 1
    assert [v.sum().item() for v in net.log] == [12.0]


def test_saving_leaves_nothing_behind(tmp_path):
    net = Keeping()
    spec = [paddle.static.InputSpec([None, 3], "float32")]
    paddle.jit.save(net, str(tmp_path / "model"), input_spec=spec)
    assert (net.last, net.parts, net.log) == (None, {}, [])


def test_what_no_conversion_sees_kept_from_a_branch_is_refused():
    kept = {}
    keep = paddle.jit.not_to_static(lambda v: kept.update(v=v))

    @paddle.jit.to_static(full_graph=True)
    def function(x):
        if x.sum() > 0.0:
            keep(x * 2.0)
        return kept["v"] + x

    with pytest.raises(UnsupportedError, match="computed in a branch or a loop"):
        function(ones())


def test_threads_leave_each_their_own():
    @paddle.jit.to_static
    def function(x, out):
        out.append(x * 2.0)
        return x

    function(ones(), [])
    outs = [[] for _ in range(4)]

    def work(number):
        for _ in range(5):
            function(ones() * float(number), outs[number])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [[v.sum().item() for v in out] for out in outs] == [[12.0 * n] * 5 for n in range(4)]


class Last(nn.Layer):
    """Keeps what it computed last."""

    def __init__(self, last=None):
        super().__init__()
        self.last = last

    def forward(self, x):
        self.last = x * 2.0
        return self.last + 1.0


@pytest.mark.parametrize("first", [None, 0.0])
def test_one_program_leaves_another_tensor_in_every_call(first):
    net = Last(None if first is None else paddle.full([2, 3], first))
    paddle.jit.to_static(net, full_graph=True)
    kept = []
    for factor in (1.0, 2.0, 3.0):
        net(ones() * factor)
        kept.append(net.last)
    assert [v.sum().item() for v in kept] == [12.0, 24.0, 36.0]
    assert len(net.forward.program_cache) == 1
    net(ones(4))
    net(ones())
    assert net.last.shape == [2, 3]
    assert len(net.forward.program_cache) == 2


@BOTH
def test_what_is_read_before_it_is_written_is_that_of_the_call_before(full_graph):
    class Hidden(nn.Layer):
        def __init__(self):
            super().__init__()
            self.hidden = None

        def forward(self, x):
            if self.hidden is None:
                self.hidden = paddle.zeros_like(x)
            if x.sum() > 0.0:
                self.hidden = self.hidden + x
            return self.hidden * 1.0

        def reset(self):
            self.hidden = None

    net = Hidden()
    paddle.jit.to_static(net, full_graph=full_graph)
    found = [net(ones() * f).sum().item() for f in (1.0, 2.0, -1.0, 3.0)]
    assert found == [6.0, 18.0, 18.0, 36.0]
    assert len(net.forward.program_cache) == 2
    net.reset()
    assert net(ones()).sum().item() == 6.0


def test_a_number_of_python_stays_one():
    class Counting(nn.Layer):
        def forward(self, x):
            self.count, self.share = 0, 1.0
            while x.sum() > 1.0:
                x = x * 0.5
                self.count += 1
                self.share *= 0.5
            return x + self.count

    net = Counting()
    paddle.jit.to_static(net)
    for factor, count in ((1.0, 3), (4.0, 5), (0.0, 0)):
        net(ones() * factor)
        assert (net.count, net.share) == (count, 0.5**count)
        assert type(net.count) is int


def test_what_a_hook_of_the_library_writes_stays_a_buffer():
    layer = nn.utils.spectral_norm(nn.Linear(3, 3))
    layer(ones())
    names = list(layer._buffers)
    static = paddle.jit.to_static(layer)
    for _ in range(2):
        static(ones())
    assert list(layer._buffers) == names
    assert isinstance(layer.weight, paddle.Tensor)


def test_programs_that_are_kept_hide_nothing_of_the_user():
    class Folder:
        def __init__(self, within=None):
            self.within, self.seen = within, []

    class Keeps(nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear, self.folder = nn.Linear(3, 2), Folder(Folder(Folder(Folder(Folder()))))

        def forward(self, x):
            self.folder.within.within.within.within.seen.append(self.linear(x))
            return x.sum()

    net = Keeps()
    paddle.jit.to_static(net)
    for rows in (1, 2, 3):  # a Program each, which leads to every operator there is
        net(ones(rows))
    seen = net.folder.within.within.within.within.seen
    assert [v.shape for v in seen] == [[1, 2], [2, 2], [3, 2]]


class Counted(nn.Layer):
    """Counts its calls, and keeps what Python knows of the last one."""

    def __init__(self):
        super().__init__()
        self.calls, self.rows, self.log, self.side = 0, None, [], "left"

    def forward(self, x):
        self.calls += 1
        self.rows = x.shape[0]
        self.log.append(self.calls)
        self.side = "right" if self.side == "left" else "left"
        return x * self.calls + (1 if self.side == "left" else 2)


def test_what_python_counts_on_runs_in_pieces():
    plain, static = Counted(), paddle.jit.to_static(Counted(), full_graph=False)
    law = r"`Counted\.calls` goes on from what it was, 0, to 1, and a Program would do so once"
    with pytest.warns(UserWarning, match=law):
        for rows in (2, 3, 2, 3):
            assert static(ones(rows)).tolist() == plain(ones(rows)).tolist()
            assert vars(static)["log"] == plain.log
            assert (static.calls, static.rows, static.side) == (plain.calls, rows, plain.side)


def test_a_name_that_counts_runs_in_pieces():
    counted = 0

    @paddle.jit.to_static(full_graph=False)
    def function(x):
        nonlocal counted
        counted += 1
        return x * counted

    with pytest.warns(UserWarning, match="`counted` goes on from what it was, 0, to 1"):
        found = [function(ones(1)).sum().item() for _ in range(3)]
    assert (found, counted) == ([3.0, 6.0, 9.0], 3)


@BOTH
def test_what_python_knows_is_written_by_every_run(full_graph):
    class Shaped(nn.Layer):
        def __init__(self):
            super().__init__()
            self.rows, self.seen = None, {}

        def forward(self, x):
            self.rows = x.shape[0]
            self.seen["last"] = "many" if x.shape[0] > 2 else "few"
            return x + self.rows

    net = paddle.jit.to_static(Shaped(), full_graph=full_graph)
    for rows, word in ((2, "few"), (3, "many"), (2, "few"), (3, "many")):
        net(ones(rows))
        assert (net.rows, net.seen) == (rows, {"last": word})
    assert len(net.forward.program_cache) == 2
