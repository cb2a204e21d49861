"""The values of training Programs in files, in all the forms that Paddle reads."""

import os
import warnings

import numpy as np
import pytest

import scull as paddle
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    AssertError,
    FileError,
    MismatchError,
    MissingFileError,
    RangeError,
    RunError,
)
from scull.static import io


@pytest.fixture(autouse=True)
def static(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paddle.enable_static()
    with (
        paddle.utils.unique_name.guard(),
        paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()),
        paddle.static.scope_guard(paddle.static.Scope()),
    ):
        yield
    paddle.disable_static()


@pytest.fixture
def trained():
    """A Program with parameters, statistics and states of an optimizer, and an Executor."""
    x = paddle.static.data("x", [None, 3])
    loss = paddle.mean(paddle.static.nn.fc(paddle.static.nn.batch_norm(x), 2))
    paddle.optimizer.Adam(0.1).minimize(loss)
    main, exe = paddle.static.default_main_program(), paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    exe.run(main, feed={"x": np.arange(12, dtype="float32").reshape(4, 3)})
    return main, exe


def names_of(program):
    return sorted(v.name for v in program.list_vars() if io.is_persistable(v))


def values(program):
    scope = paddle.static.global_scope()
    return {n: np.array(scope.find_var(n).value) for n in names_of(program)}


def emptied(load):
    """What is in a new scope after loading."""
    with paddle.static.scope_guard(paddle.static.Scope()):
        load()
        scope = paddle.static.global_scope()
        return {n: np.array(scope.find_var(n).value) for n in sorted(scope.local_var_names())}


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype and np.array_equal(found[name], array)


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("suffix", ["", ".pdparams", ".pdopt", ".pdmodel"])
def test_all_values_come_back_by_any_name_of_the_files(trained, protocol, suffix):
    main, exe = trained
    paddle.static.save(main, "deep/net", protocol)
    same(emptied(lambda: paddle.static.load(main, "deep/net" + suffix, exe)), values(main))
    same(paddle.static.load_program_state("deep/net" + suffix), values(main))


def test_parameters_and_states_are_in_files_of_their_own(trained):
    main, _ = trained
    paddle.static.save(main, "net")
    parameters = paddle.load("net.pdparams", return_numpy=True)
    assert sorted(parameters) == sorted(p.name for p in main.all_parameters())
    assert sorted(paddle.load("net.pdopt", return_numpy=True)) == sorted(
        set(names_of(main)) - set(parameters)
    )
    assert not [n for n in os.listdir() if n.endswith((".tmp", "-0"))]


def test_bfloat16_parameters_come_back(trained):
    exe = paddle.static.Executor()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        w = paddle.create_parameter([2, 2], "bfloat16")
        x = paddle.static.data("y", [2, 2], "bfloat16")
        paddle.matmul(x, w)
    exe.run(startup)
    paddle.static.save(main, "half")
    same(emptied(lambda: paddle.static.load(main, "half", exe)), values(main))
    state = paddle.static.load_program_state("half")
    assert state[w.name].dtype == "uint16"
    paddle.static.set_program_state(main, state)


def test_large_parameters_are_cut_for_old_protocols_and_joined(trained, monkeypatch):
    main, exe = trained
    monkeypatch.setattr("scull.files.pickles.in_pieces.__defaults__", (8,))
    paddle.static.save(main, "net", 2)
    same(emptied(lambda: paddle.static.load(main, "net", exe)), values(main))
    monkeypatch.undo()


@pytest.mark.parametrize("filename", [None, "all"])
def test_what_save_vars_wrote_is_loaded_as_a_state(trained, filename):
    main, exe = trained
    io.save_vars(exe, "vars", main, filename=filename)
    path = "vars/all" if filename else "vars"
    everything = [v for v in main.list_vars() if io.is_persistable(v)]
    same(emptied(lambda: paddle.static.load(main, path, exe, everything)), values(main))
    same(paddle.static.load_program_state(path, everything), values(main))
    same(emptied(lambda: io.load_vars(exe, "vars", main, filename=filename)), values(main))
    data = io.save_vars(exe, None, main)
    same(emptied(lambda: io.load_vars(exe, None, main, filename=data)), values(main))


def test_a_folder_of_variables_needs_no_list_and_what_is_no_variable_is_told(trained):
    main, exe = trained
    io.save_vars(exe, "vars", main)
    same(emptied(lambda: paddle.static.load(main, "vars", exe)), values(main))
    with open("vars/notes", "w") as stream:
        stream.write("by hand")
    with pytest.warns(RuntimeWarning, match="Failed to load model/variables `notes`"):
        same(paddle.static.load_program_state("vars"), values(main))
    some = main.all_parameters()[:1]
    assert list(emptied(lambda: paddle.static.load(main, "vars", exe, some))) == [some[0].name]


def test_a_state_is_set_where_it_fits(trained):
    main, _ = trained
    state = {name: array + 1 for name, array in values(main).items()}
    paddle.static.set_program_state(main, state)
    same(values(main), state)
    with pytest.warns(UserWarning, match="This list is not set.* There are: other more"):
        paddle.static.set_program_state(main, state | {"other": np.ones(1), "more": np.ones(1)})
    name = "fc_0.w_0"
    with pytest.raises(AssertError, match=rf"shape does not match.*namely \[ {name} \]"):
        paddle.static.set_program_state(main, {name: np.ones(7, "float32")})
    with pytest.raises(AssertError, match="data type does not match"):
        paddle.static.set_program_state(main, {name: state[name].astype("float64")})
    with (
        paddle.static.scope_guard(paddle.static.Scope()),
        pytest.raises(AssertError, match="make sure run startup program"),
    ):
        paddle.static.set_program_state(main, state)


def mistakes():
    static = paddle.static
    return [
        (lambda p, exe: static.save(p, ""), AssertionError, "format of dirname/filename"),
        (lambda p, exe: static.save(p, "folder/"), AssertionError, "format of dirname/filename"),
        (lambda p, exe: static.save(p, "net", "4"), ArgumentError, "MUST be `int`"),
        (lambda p, exe: static.save(p, "net", 5), ArgumentError, "received protocol=5"),
        (lambda p, exe: static.save("net", "net"), ArgumentTypeError, "must be a Program"),
        (lambda p, exe: static.load(p, "net", "exe"), AssertionError, "executor is an Executor"),
        (lambda p, exe: static.load(p, "no"), ArgumentError, "executor is required"),
        (lambda p, exe: static.load(p, "no", exe), MissingFileError, "there is no `no.pdparams`"),
        (lambda p, exe: static.load(p, "one/all", exe), ArgumentError, "var_list is required"),
        (lambda p, exe: static.load_program_state("no"), MissingFileError, "no.pdparams"),
        (lambda p, exe: static.load_program_state("one/all"), ArgumentError, "can not be None"),
        (lambda p, exe: static.load_program_state("one/all", ["a"]), TypeError, "must be variable"),
        (
            lambda p, exe: static.load(p, "one/all", exe, p.all_parameters()[:1]),
            RunError,
            "Failed to load model/variables `one/all`: .* bytes follow the last of 1 tensors",
        ),
    ]


@pytest.mark.parametrize("index", range(len(mistakes())))
def test_mistakes_are_told(trained, index):
    main, exe = trained
    io.save_vars(exe, "one", main, filename="all")
    call, error, law = mistakes()[index]
    with pytest.raises(error, match=law):
        call(main, exe)


def test_values_of_another_program_are_refused_whole(trained):
    main, exe = trained
    paddle.static.save(main, "net")
    before = values(main)
    other = paddle.static.Program()
    with paddle.static.program_guard(other, paddle.static.Program()):
        x = paddle.static.data("x", [None, 3])
        paddle.static.nn.fc(x, 9, weight_attr="fc_0.w_0", bias_attr="fc_0.b_0")
        stranger = paddle.static.nn.fc(x, 9, weight_attr="stranger")
    with pytest.raises(AssertError, match=r"Can not find \[.*\] in model file \[net.pdparams\]"):
        paddle.static.load(other, "net", exe)
    everything = [v for v in main.list_vars() if io.is_persistable(v)]
    io.save_vars(exe, "one", main, filename="all")
    with pytest.raises(RangeError, match="is not in program variable list"):
        paddle.static.load(main, "one/all", exe, [*everything, stranger])
    io.save_vars(exe, "vars", main)
    wide = [other.global_block().var("fc_0.w_0")]
    with pytest.raises(MismatchError, match=r"float32\[3, 2\] for `fc_0.w_0`"):
        io.load_vars(exe, "vars", other, wide)
    assert issubclass(MismatchError, RuntimeError) and issubclass(MismatchError, FileError)
    same(values(main), before)


def test_a_program_with_states_needs_their_file(trained):
    main, exe = trained
    paddle.static.save(main, "net")
    os.remove("net.pdopt")
    os.remove(".net.commit")
    with pytest.raises(AssertError, match=r"Optimizer file \[net.pdopt\] not exits"):
        paddle.static.load(main, "net", exe)
    assert sorted(paddle.static.load_program_state("net")) == sorted(
        p.name for p in main.all_parameters()
    )


def test_the_older_name_of_the_protocol_is_known(trained):
    main, _ = trained
    with pytest.warns(UserWarning, match="deprecated argument"):
        paddle.static.save(main, "net", pickle_protocol=2)
    with open("net.pdparams", "rb") as stream:
        assert stream.read(2) == b"\x80\x02"


def test_nothing_to_save_is_told(trained):
    main, exe = trained
    with pytest.warns(UserWarning, match="no variable in your model"):
        assert io.save_vars(exe, "none", main, []) is None
    assert not os.path.exists("none")
    with pytest.raises(ArgumentError, match="dirname is the folder"):
        io.load_vars(exe, None, main)
    with pytest.raises(MissingFileError):
        io.load_vars(exe, "nowhere", main)


# ---- inference models ----


def network():
    x = paddle.static.data("x", [None, 3])
    label = paddle.static.data("label", [None, 1])
    y = paddle.static.nn.fc(x, 2)
    loss = paddle.mean(paddle.nn.functional.square_error_cost(y, label))
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    return exe, x, label, y, loss


def answers(exe, model):
    program, feeds, fetches = model
    feed = {"x": np.arange(6, dtype="float32").reshape(2, 3)}
    assert feeds == ["x"]
    return exe.run(program, feed=feed, fetch_list=fetches)[0]


def test_a_model_is_loaded_from_files_of_any_name_or_one_for_each_value():
    exe, x, _, y, _ = network()
    static = paddle.static
    static.save_inference_model("new/net", x, y, exe)
    expected = answers(exe, static.load_inference_model("new/net", exe))
    os.makedirs("old")
    program = static.normalize_program(static.default_main_program(), [x], [y])
    io.save_vars(exe, "old", program)
    static.save_to_file("old/__model__", static.serialize_program([x], [y]))
    static.save_to_file("old/net.pdmodel", static.serialize_program([x], [y], legacy_format=True))
    ways = [
        ("new", {"model_filename": "net.pdmodel", "params_filename": "net.pdiparams"}),
        ("new", {"model_filename": "net", "params_filename": "net"}),
        ("old", {"model_filename": None}),
        ("old", {"params_filename": None}),
        ("old", {"model_filename": "net"}),
    ]
    for folder, names in ways:
        assert np.array_equal(
            answers(exe, static.load_inference_model(folder, exe, **names)), expected
        )
    data, params = (static.load_from_file(f"new/net{s}") for s in (".pdmodel", ".pdiparams"))
    model = static.load_inference_model(None, exe, model_filename=data, params_filename=params)
    assert np.array_equal(answers(exe, model), expected)


def test_a_prefix_may_be_the_name_of_a_folder():
    exe, x, _, y, _ = network()
    os.makedirs("net")
    paddle.static.save_inference_model("net", [x], [y], exe)
    assert answers(exe, paddle.static.load_inference_model("net", exe)).shape == (2, 2)
    os.makedirs("taken.pdmodel")
    with pytest.raises(ArgumentError, match=r"'taken.pdmodel' is an existing directory"):
        paddle.static.save_inference_model("taken", [x], [y], exe)
    with pytest.raises(ArgumentError, match="There is no directory named"):
        paddle.static.load_inference_model("no/net", exe)


def test_operators_that_nothing_needs_stay_if_asked_and_inputs_that_nothing_needs_are_refused():
    exe, x, label, y, loss = network()
    for skip, more in ((False, 0), (True, 1)):
        paddle.static.save_inference_model("net", [x], [y], exe, skip_prune_program=skip)
        program = paddle.static.load_inference_model("net", exe)[0]
        assert len([o for o in program.global_block().ops if o.type == "reduce_mean"]) == more
    main = paddle.static.default_main_program()
    with pytest.raises(ArgumentError, match=r"feeded_var_names\[1\]: 'label' doesn't exist in pru"):
        paddle.static.normalize_program(main, [x, label], [y])
    with pytest.raises(ArgumentError, match=r"'mean_0.tmp_0' doesn't exist"):
        paddle.static.normalize_program(main, [x, loss], [y])


def test_a_loaded_model_is_saved_again():
    exe, x, _, y, _ = network()
    paddle.static.save_inference_model("net", [x], [y], exe)
    program, feeds, fetches = paddle.static.load_inference_model("net", exe)
    inputs = [program.global_block().var(n) for n in feeds]
    for skip in (False, True):
        paddle.static.save_inference_model(
            "again", inputs, fetches, exe, program=program, skip_prune_program=skip
        )
        model = paddle.static.load_inference_model("again", exe)
        types = [o.type for o in model[0].global_block().ops]
        assert types.count("feed") == types.count("fetch") == 1
        assert answers(exe, model).shape == (2, 2)


def test_a_compiled_program_is_saved_with_a_warning():
    exe, x, _, y, _ = network()
    compiled = paddle.static.CompiledProgram(paddle.static.default_main_program())
    with pytest.warns(UserWarning, match="The input is a CompiledProgram"):
        paddle.static.save_inference_model("net", [x], [y], exe, program=compiled)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddle.static.save_inference_model("net", [x], [y], exe)


def test_bytes_of_values_go_into_a_program():
    exe, x, _, y, _ = network()
    main = paddle.static.default_main_program()
    program = paddle.static.normalize_program(main, [x], [y])
    data = paddle.static.serialize_persistables([x], [y], exe)
    load = paddle.static.deserialize_persistables
    same(emptied(lambda: load(program, data, exe)), values(program))
    with pytest.raises(AssertError, match="Required 'data' shall be not None"):
        load(program, None, exe)
    plain = paddle.static.Program()
    load(plain, None, exe)
    for wrong in (b"junk", data[:-1], data + b"x"):
        with pytest.raises(FileError):
            load(program, wrong, exe)
