"""Predictors: saved models run on arrays."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    FeedError,
    FetchError,
    FileError,
    RangeError,
    RunError,
    UnsupportedError,
)
from scull.inference import (
    Config,
    DataType,
    PredictorPool,
    create_predictor,
    get_num_bytes_of_data_type,
    get_trt_compile_version,
    get_version,
)

MODELS = Path(__file__).resolve().parent.parent / "data" / "models"


@pytest.fixture
def prefix(tmp_path):
    """A model `y = x @ w + b` with two columns, and its parameters."""
    paddle.enable_static()
    with (
        paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()),
        paddle.static.scope_guard(paddle.static.Scope()),
    ):
        x = paddle.static.data("x", [-1, 3])
        y = paddle.static.nn.fc(x, 2)
        exe = paddle.static.Executor()
        exe.run(paddle.static.default_startup_program())
        paddle.static.save_inference_model(str(tmp_path / "net"), [x], [y], exe)
        values = [
            paddle.static.global_scope().find_var(p.name).value
            for p in paddle.static.default_main_program().all_parameters()
        ]
    paddle.disable_static()
    return str(tmp_path / "net"), values


def config_of(path):
    return Config(path + ".pdmodel", path + ".pdiparams")


X = np.arange(6, dtype="float32").reshape(2, 3)


def test_a_model_is_run_through_its_handles(prefix):
    path, (w, b) = prefix
    predictor = create_predictor(config_of(path))
    assert predictor.get_input_names() == ["x"]
    handle = predictor.get_input_handle("x")
    assert handle.shape() == [0] and handle.type() is DataType.FLOAT32
    handle.reshape([2, 3])
    assert handle.shape() == [2, 3]
    handle.copy_from_cpu(X)
    assert predictor.run() is None
    (name,) = predictor.get_output_names()
    out = predictor.get_output_handle(name)
    np.testing.assert_allclose(out.copy_to_cpu(), X @ w + b, rtol=1e-6)
    assert out.shape() == [2, 2] and out.lod() == [] and out.name() == name
    handle.copy_from_cpu(X[:1])
    predictor.run()
    assert out.shape() == [1, 2]


@pytest.mark.parametrize("name", ["linear_static", "network_static"])
def test_a_model_of_the_reference_gives_its_numbers(name):
    data = np.load(MODELS / f"{name.split('_')[0]}.npz")
    predictor = create_predictor(config_of(str(MODELS / name)))
    handle = predictor.get_input_handle(predictor.get_input_names()[0])
    handle.copy_from_cpu(data["static_x"])
    predictor.run()
    found = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    np.testing.assert_allclose(found, data["static_y"], rtol=1e-5, atol=1e-6)


def test_tensors_in_give_tensors_out(prefix):
    path, (w, b) = prefix
    predictor = create_predictor(config_of(path))
    (found,) = predictor.run([paddle.to_tensor(X)])
    np.testing.assert_allclose(found.numpy(), X @ w + b, rtol=1e-6)
    with pytest.raises(ArgumentError, match="a list of 1 Tensors"):
        predictor.run([])
    with pytest.raises(ArgumentTypeError, match="run takes Tensors, not ndarray"):
        predictor.run([X])


def test_what_is_copied_out_is_the_callers_own(prefix):
    predictor = create_predictor(config_of(prefix[0]))
    predictor.get_input_handle("x").copy_from_cpu(X)
    predictor.run()
    handle = predictor.get_output_handle(predictor.get_output_names()[0])
    first = handle.copy_to_cpu()
    kept = first.copy()
    first[:] = 0
    np.testing.assert_array_equal(handle.copy_to_cpu(), kept)


def test_clones_and_pools_share_values_and_nothing_else(prefix):
    path, (w, b) = prefix
    pool = PredictorPool(config_of(path), 2)
    first, second = pool.retrive(0), pool.retrive(1)
    for i, predictor in enumerate((first, second)):
        predictor.get_input_handle("x").copy_from_cpu(X + i)
    for i, predictor in enumerate((first, second)):
        predictor.run()
        found = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
        np.testing.assert_allclose(found, (X + i) @ w + b, rtol=1e-6)
    assert first.scope is second.scope
    with pytest.raises(RangeError, match="2 predictors, none at 2"):
        pool.retrive(2)
    with pytest.raises(ArgumentError, match="1 predictor at least"):
        PredictorPool(config_of(path), 0)


def test_a_model_comes_from_memory_too(prefix):
    path, (w, b) = prefix
    program, values = Path(path + ".pdmodel").read_bytes(), Path(path + ".pdiparams").read_bytes()
    config = Config()
    config.set_model_buffer(program, len(program), values, len(values))
    assert config.model_from_memory()
    (found,) = create_predictor(config).run([paddle.to_tensor(X)])
    np.testing.assert_allclose(found.numpy(), X @ w + b, rtol=1e-6)
    with pytest.raises(ArgumentError, match="9 bytes were announced and 0 are there"):
        Config().set_model_buffer(b"", 9, b"", 0)


def test_a_folder_holds_a_file_a_value(prefix, tmp_path):
    path, (w, b) = prefix
    paddle.enable_static()
    with paddle.static.scope_guard(paddle.static.Scope()):
        exe = paddle.static.Executor()
        program = paddle.static.load_inference_model(path, exe)[0]
        paddle.static.io.save_vars(
            exe, str(tmp_path / "folder"), program, predicate=paddle.static.io.is_persistable
        )
    paddle.disable_static()
    (tmp_path / "folder" / "__model__").write_bytes(Path(path + ".pdmodel").read_bytes())
    config = Config(str(tmp_path / "folder"))
    assert config.model_dir() == str(tmp_path / "folder")
    (found,) = create_predictor(config).run([paddle.to_tensor(X)])
    np.testing.assert_allclose(found.numpy(), X @ w + b, rtol=1e-6)


def test_hooks_are_told_of_every_result(prefix):
    predictor = create_predictor(config_of(prefix[0]))
    told = []
    predictor.register_output_hook(lambda type, name, value: told.append((type, value.shape)))
    predictor.get_input_handle("x").copy_from_cpu(X)
    predictor.run()
    assert [type for type, _ in told] == ["mul", "elementwise_add", "scale"]
    assert all(shape == [2, 2] for _, shape in told)


def test_a_tensor_is_shared_without_a_copy(prefix):
    predictor = create_predictor(config_of(prefix[0]))
    x = paddle.to_tensor(X)
    handle = predictor.get_input_handle("x")
    handle.share_external_data(x)
    assert handle.cell.value is x.array
    predictor.run()
    with pytest.raises(ArgumentTypeError, match="Tensor and LoDTensor"):
        handle.share_external_data(X)


def test_mistakes_with_handles_say_what_is_wrong(prefix):
    predictor = create_predictor(config_of(prefix[0]))
    with pytest.raises(FeedError, match="`x` has no value: call copy_from_cpu"):
        predictor.run()
    with pytest.raises(FeedError, match="`z` is no input of the model; it has `x`"):
        predictor.get_input_handle("z")
    with pytest.raises(FetchError, match="`z` is no output"):
        predictor.get_output_handle("z")
    with pytest.raises(RunError, match="no value yet"):
        predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    handle = predictor.get_input_handle("x")
    with pytest.raises(TypeError, match="numpy ndarray"):
        handle.copy_from_cpu([1.0])
    with pytest.raises(UnsupportedError, match="texts are no tensors"):
        handle.copy_from_cpu(["a"])
    with pytest.raises(FeedError, match="complex64"):
        handle.copy_from_cpu(X.astype("complex64"))
    handle.copy_from_cpu(X.astype("float64"))
    with pytest.raises(FeedError, match="the fed value is float64"):
        predictor.run()


def test_mistakes_with_configs_say_what_is_wrong(prefix, tmp_path):
    config = config_of(prefix[0])
    create_predictor(config)
    with pytest.raises(ArgumentError, match="one predictor"):
        create_predictor(config)
    with pytest.raises(ArgumentTypeError, match="takes a Config, not str"):
        create_predictor("net")
    with pytest.raises(RunError, match=r"cannot open the file .*none\.pdmodel"):
        create_predictor(config_of(str(tmp_path / "none")))
    with pytest.raises(ArgumentError, match="should be set"):
        create_predictor(Config())
    with pytest.raises(ArgumentTypeError, match="a path is a text"):
        Config(1)
    with pytest.raises(FileError, match="is not there"):
        create_predictor(Config(prefix[0] + ".pdmodel", ""))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"PK\x03\x04" + bytes(30), "PyTorch"),
        (pickle.dumps({"w": 1}, 2), "PyTorch"),
        (b"\x89HDF\r\n", "Keras"),
        (b'{"base_code": {}}', "newer releases"),
        (b"\x08\x07\x12\x07pytorch", "ONNX"),
    ],
)
def test_files_of_other_frameworks_are_refused_by_name(data, kind):
    config = Config()
    config.set_model_buffer(data, len(data), b"", 0)
    with pytest.raises(UnsupportedError, match=kind):
        create_predictor(config)


def test_a_damaged_program_is_a_file_error(prefix):
    data = Path(prefix[0] + ".pdmodel").read_bytes()[:50]
    config = Config()
    config.set_model_buffer(data, len(data), b"", 0)
    with pytest.raises(FileError):
        create_predictor(config)


def test_switches_are_told_again_and_change_nothing():
    config = Config("a.pdmodel", "a.pdiparams")
    config.switch_ir_optim(False)
    config.disable_glog_info()
    config.enable_memory_optim()
    config.set_cpu_math_library_num_threads(4)
    assert not config.ir_optim() and config.glog_info_disabled()
    assert config.cpu_math_library_num_threads() == 4
    with pytest.warns(UserWarning, match="scull runs on the CPU"):
        config.enable_use_gpu(100, 0)
    assert not config.use_gpu()
    assert "a.pdmodel" in config.summary()
    assert config.pass_builder().all_passes() == []
    twin = Config(config)
    twin.switch_ir_optim(True)
    assert not config.ir_optim()
    with pytest.raises(UnsupportedError, match="there is no TensorRT"):
        config.enable_tensorrt_engine(workspace_size=1)


def test_the_package_says_its_release_and_sizes():
    assert "2.6.2" in get_version()
    assert get_trt_compile_version() == (0, 0, 0)
    assert get_num_bytes_of_data_type(DataType.FLOAT64) == 8
