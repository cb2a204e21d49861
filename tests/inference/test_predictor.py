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
    with pytest.raises(ArgumentError, match="a list of 1 input, `x`"):
        predictor.run([])
    with pytest.raises(ArgumentTypeError, match="run takes Tensors or arrays, not list"):
        predictor.run([[1.0]])


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
    assert first.function is second.function
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
    with pytest.raises(FeedError, match="`z` is no input of the model; it takes 1 input, `x`"):
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
    assert config.passes() == []
    twin = Config(config)
    twin.switch_ir_optim(True)
    assert not config.ir_optim()
    with pytest.raises(UnsupportedError, match="there is no TensorRT"):
        config.enable_tensorrt_engine(workspace_size=1)


def test_the_package_says_its_release_and_sizes():
    assert "2.6.2" in get_version()
    assert get_trt_compile_version() == (0, 0, 0)
    assert get_num_bytes_of_data_type(DataType.FLOAT64) == 8


NAMES = {  # what the classes of Paddle 2.6.2 have
    "Config": """
        Bfloat16 Float32 Half Int8 Precision collect_shape_range_info
        cpu_math_library_num_threads delete_pass disable_glog_info disable_gpu
        disable_mkldnn disable_mkldnn_fc_passes disable_onnxruntime dist_config
        enable_custom_device enable_dlnne enable_ipu enable_lite_engine
        enable_low_precision_io enable_memory_optim enable_mkldnn enable_mkldnn_bfloat16
        enable_mkldnn_int8 enable_new_executor enable_onnxruntime enable_opencl
        enable_ort_optimization enable_profile enable_quantizer enable_save_optim_model
        enable_tensorrt_dla enable_tensorrt_engine enable_tensorrt_explicit_quantization
        enable_tensorrt_inspector enable_tensorrt_memory_optim enable_tensorrt_varseqlen
        enable_tuned_tensorrt_dynamic_shape enable_use_gpu enable_xpu
        exp_disable_mixed_precision_ops exp_disable_tensorrt_ops
        exp_enable_mixed_precision_ops exp_enable_use_cutlass
        fraction_of_gpu_memory_for_pool glog_info_disabled gpu_device_id ir_optim
        lite_engine_enabled load_ipu_config mark_trt_engine_outputs memory_pool_init_size_mb
        mkldnn_enabled mkldnn_int8_enabled model_dir model_from_memory nnadapter
        onnxruntime_enabled params_file pass_builder prog_file quantizer_config
        set_bfloat16_op set_cpu_math_library_num_threads set_dist_config set_ipu_config
        set_ipu_custom_info set_mkldnn_cache_capacity set_mkldnn_op set_model
        set_model_buffer set_optim_cache_dir set_params_file set_prog_file
        set_tensorrt_optimization_level set_trt_dynamic_shape_info set_xpu_config
        set_xpu_device_id shape_range_info_collected shape_range_info_path
        specify_input_name summary switch_ir_debug switch_ir_optim
        switch_specify_input_names switch_use_feed_fetch_ops tensorrt_dla_enabled
        tensorrt_dynamic_shape_enabled tensorrt_engine_enabled
        tensorrt_explicit_quantization_enabled tensorrt_inspector_enabled
        tensorrt_optimization_level tensorrt_precision_mode tensorrt_varseqlen_enabled
        to_native_config trt_allow_build_at_runtime tuned_tensorrt_dynamic_shape
        use_feed_fetch_ops_enabled use_gpu use_opencl use_xpu xpu_config xpu_device_id""",
    "Predictor": """
        clear_intermediate_tensor clone get_input_handle get_input_names get_output_handle
        get_output_names register_output_hook run try_shrink_memory""",
    "Tensor": """
        copy_from_cpu copy_to_cpu lod reshape set_lod shape share_external_data type""",
    "PredictorPool": """
        retrive""",
}


@pytest.mark.parametrize("name", NAMES)
def test_classes_have_every_name_of_paddles(name):
    found = getattr(paddle.inference, name)
    assert [n for n in NAMES[name].split() if not hasattr(found, n)] == []


def test_a_summary_is_a_table():
    config = Config("a.pdmodel", "b.pdiparams")
    config.set_cpu_math_library_num_threads(12)
    text = config.summary()
    assert "| model_file               | a.pdmodel   |\n" in text
    assert "| cpu_math_thread          | 12          |\n" in text
    assert "| ir_optim                 | true        |\n" in text
    assert len({len(line) for line in text.splitlines()}) == 1


def test_files_are_set_one_by_one_too(prefix):
    path, (w, b) = prefix
    config = Config()
    config.set_prog_file(path + ".pdmodel")
    config.set_params_file(path + ".pdiparams")
    (found,) = paddle.inference.Predictor(config).run([X])
    np.testing.assert_allclose(found, X @ w + b, rtol=1e-6)
    config.collect_shape_range_info("shapes.txt")
    assert config.shape_range_info_collected() and config.shape_range_info_path() == "shapes.txt"
