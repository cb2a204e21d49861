"""Networks in the files of 1.8 open by every door, and states of training go where they belong."""

import shutil

import numpy as np
import pytest

import scull as paddle
from scull import inference, static
from scull.errors import FileError, ScullError
from scull.files.program import bytes_of, program_of
from tests.files.legacy import network
from tests.files.legacy.packed import DATA, packed

ANSWER = np.load(DATA / "network.npy")
FOLDERS = [(folder, *names) for folder, names in network.LAYOUTS.items()]
every_layout = pytest.mark.parametrize(("folder", "model", "parameters"), FOLDERS)


def check(found):
    np.testing.assert_allclose(np.asarray(found), ANSWER, rtol=1e-5)


def named(model, parameters):
    """The settings that name the files of a folder."""
    return {"model_filename": model, "params_filename": parameters}


@every_layout
def test_an_executor_runs_a_network_in_every_layout(folder, model, parameters):
    executor = static.Executor()
    with static.scope_guard(static.Scope()):
        program, feeds, fetches = static.load_inference_model(
            str(DATA / folder), executor, **named(model, parameters)
        )
        assert feeds == ["image"]
        check(executor.run(program, {"image": network.image()}, fetches)[0])


def test_a_folder_with_the_names_of_1_8_opens_without_naming_its_files():
    with static.scope_guard(static.Scope()):
        executor = static.Executor()
        program, _, fetches = static.load_inference_model(str(DATA / "separate"), executor)
        check(executor.run(program, {"image": network.image()}, fetches)[0])


@pytest.mark.parametrize("name", ["loop", "choice"])
def test_loops_and_branches_of_1_8_run(name):
    flow, known = getattr(network, name)(), packed("flows.npz")
    program = program_of(known[name].tobytes())
    assert (bytes_of(program) == known[name].tobytes()) == (name == "choice")  # nothing to rewrite
    with static.scope_guard(static.Scope()):
        found = static.Executor().run(program, feed=flow["feed"], fetch_list=flow["fetch"])
    for key, x in zip(flow["fetch"], found, strict=True):
        np.testing.assert_allclose(x, known[f"{name}/{key}"], rtol=1e-5)


@every_layout
def test_a_layer_is_loaded_of_every_layout(folder, model, parameters):
    layer = paddle.jit.load(str(DATA / folder), **named(model, parameters))
    check(layer(paddle.to_tensor(network.image())))


@every_layout
def test_the_values_alone_are_loaded_of_every_layout(folder, model, parameters):
    state = paddle.load(str(DATA / folder), **named(model, parameters))
    assert state.keys() == network.values().keys()
    for name, x in network.values().items():
        np.testing.assert_array_equal(np.asarray(state[name]), x)


@every_layout
def test_a_predictor_opens_every_layout(folder, model, parameters):
    path = DATA / folder
    config = inference.Config(str(path))
    if parameters is not None:
        config = inference.Config(str(path / model), str(path / parameters))
    predictor = inference.create_predictor(config)
    check(predictor.run([network.image()])[0])


@every_layout
def test_a_program_of_1_8_is_saved_as_it_was_read(folder, model, parameters):
    data = (DATA / folder / model).read_bytes()
    assert bytes_of(program_of(data)) == data


def test_fields_that_only_releases_before_2_wrote_survive():
    data = (DATA / "separate" / "__model__").read_bytes()
    compatible = data + b"\x1a\x0b\x0a\x09\x0a\x03mul\x12\x02\x08\x01"  # OpCompatibleMap
    program = program_of(compatible)
    assert bytes_of(program) == data + compatible[len(data) :]


@pytest.mark.parametrize("missing", ["fc_0.w_0", "conv2d_0.b_0"])
def test_a_value_without_its_file_is_named(tmp_path, missing):
    folder = shutil.copytree(DATA / "separate", tmp_path / "net")
    (folder / missing).unlink()
    with pytest.raises(ScullError, match=missing.replace(".", r"\.")):
        static.load_inference_model(str(folder), static.Executor(), model_filename="__model__")


def test_a_file_of_all_values_that_is_cut_is_refused(tmp_path):
    folder = shutil.copytree(DATA / "combined", tmp_path / "net")
    whole = (folder / "__params__").read_bytes()
    (folder / "__params__").write_bytes(whole[:-40])
    with pytest.raises(FileError, match=r"fc_0\.w_0|bytes"):
        paddle.jit.load(str(folder), params_filename="__params__")


def small_network():
    """A Program with the last layer of the network and what trains it."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        x = static.data("x", [2, 12])
        paddle.mean(static.nn.fc(x, 4))
    return main, startup


@pytest.mark.parametrize("path", ["train", "train.pdparams"])
def test_values_of_a_training_program_are_found_by_name(path):
    state = static.load_program_state(str(DATA / path))
    assert state.keys() == network.values().keys() | network.moments().keys()
    paddle.enable_static()
    main, startup = small_network()
    with static.scope_guard(static.Scope()):
        executor = static.Executor()
        executor.run(startup)
        with pytest.warns(UserWarning, match="conv2d_0.w_0 conv2d_0.b_0"):  # not in the Program
            static.set_program_state(main, state)
        found = np.asarray(static.global_scope().find_var("fc_0.w_0").get_tensor())
    paddle.disable_static()
    np.testing.assert_array_equal(found, network.values()["fc_0.w_0"])


def test_a_program_loads_what_1_8_saved_of_it(tmp_path):
    paddle.enable_static()
    main, startup = small_network()
    with static.scope_guard(static.Scope()):
        executor = static.Executor()
        executor.run(startup)
        static.load(main, str(DATA / "train"), executor)
        found = np.asarray(static.global_scope().find_var("fc_0.b_0").get_tensor())
    paddle.disable_static()
    np.testing.assert_array_equal(found, network.values()["fc_0.b_0"])


def test_a_layer_takes_the_state_that_save_dygraph_wrote():
    state = paddle.load(str(DATA / "layer.pdparams"))
    assert state.keys() == {"weight", "bias"}
    layer = paddle.nn.Linear(12, 4)
    layer.set_state_dict(state)
    np.testing.assert_array_equal(layer.weight.numpy(), network.values()["fc_0.w_0"])
    table = paddle.load(str(DATA / "layer.pdparams"), keep_name_table=True)
    assert table["StructuredToParameterName@@"] == {"weight": "fc_0.w_0", "bias": "fc_0.b_0"}


def test_an_optimizer_of_1_8_is_read_with_its_step():
    state = paddle.load(str(DATA / "layer.pdopt"))
    assert int(np.asarray(state["global_step"])[0]) == 7
    moment = np.asarray(state["fc_0.w_0_moment1_0"])
    np.testing.assert_array_equal(moment, network.moments()["fc_0.w_0_moment1_0"])


def test_a_pickle_of_python_2_is_read():
    state = paddle.load(str(DATA / "python2.pdparams"), return_numpy=True)
    np.testing.assert_array_equal(state["fc_0.b_0"], network.values()["fc_0.b_0"])


def test_a_folder_of_values_without_a_program_is_a_state(tmp_path):
    folder = shutil.copytree(DATA / "separate", tmp_path / "net")
    (folder / "__model__").unlink()
    state = paddle.load(str(folder))
    assert state.keys() == network.values().keys()
    for name, x in network.values().items():
        np.testing.assert_array_equal(np.asarray(state[name]), x)
