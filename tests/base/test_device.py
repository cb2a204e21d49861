"""Devices and processes: one CPU, one process."""

import pytest

from scull import device, distributed, jit, sysconfig, version
from scull.core import session
from scull.core.place import CPU
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError


def test_tensors_live_on_the_cpu():
    assert device.get_device() == "cpu"
    assert device.set_device("cpu") == CPU == session.place()
    assert device.set_device(CPU) is CPU


@pytest.mark.parametrize(
    ("name", "build"), [("gpu", "CUDA"), ("gpu:0", "CUDA"), ("xpu", "XPU"), ("npu:1", "NPU")]
)
def test_a_device_that_is_not_built_in_is_refused(name, build):
    with pytest.raises(ArgumentError, match=f"should not be '{name}'.*not compiled with {build}"):
        device.set_device(name)


@pytest.mark.parametrize("name", ["foo", "cpu:1", 3])
def test_what_names_no_device_is_refused(name):
    with pytest.raises(ArgumentError, match="The device must be a string which is like"):
        device.set_device(name)


def test_there_are_no_gpus_and_what_needs_one_refuses():
    assert device.cuda.device_count() == 0 and device.get_cudnn_version() is None
    assert device.cuda.empty_cache() is None and device.synchronize() is None
    for name in device.cuda.__all__:
        if name not in ("device_count", "empty_cache"):
            with pytest.raises(ArgumentError, match="not supported in CPU-only"):
                getattr(device.cuda, name)()
    with pytest.raises(UnsupportedError, match="there is no GPU"):
        device.cuda.Stream()
    with pytest.raises(UnsupportedError, match="no streams"):
        device.current_stream()


def test_only_the_cpu_is_there():
    assert device.get_all_device_type() == device.get_available_device() == []
    assert device.get_all_custom_device_type() == device.get_available_custom_device() == []
    assert not device.is_compiled_with_custom_device("npu")
    asked = [getattr(device, n) for n in device.__all__ if n.startswith("is_compiled_with_")]
    assert [f() for f in asked if f is not device.is_compiled_with_custom_device] == [False] * 6


def test_a_process_is_alone(monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINER_ENDPOINTS", "a:1,b:2")
    environment = distributed.ParallelEnv()
    assert (distributed.get_rank(), distributed.get_world_size()) == (0, 1)
    assert (environment.rank, environment.nranks, environment.dev_id) == (0, 1, 0)
    assert environment.trainer_endpoints == ["a:1", "b:2"] and environment.current_endpoint == ""
    assert not distributed.is_initialized() and not distributed.is_available()
    with pytest.raises(UnsupportedError, match="processes do not train together"):
        distributed.all_reduce(None)


def test_a_function_runs_as_plain_python_when_asked_to():
    with pytest.raises(ArgumentTypeError, match="'enable_to_static_bool'"):
        jit.enable_to_static(1)
    jit.enable_to_static(False)
    try:
        assert jit.to_static(lambda x: x + 1)(2) == 3
    finally:
        jit.enable_to_static(True)


def test_a_function_that_should_stay_as_it_is_does():
    assert jit.not_to_static(abs) is abs and jit.not_to_static()(abs) is abs


def test_the_release_is_that_of_the_api(capsys):
    assert version.full_version == ".".join((version.major, version.minor, version.patch))
    version.show()
    assert "full_version: 2.6.2\n" in capsys.readouterr().out
    asked = [version.cuda, version.cudnn, version.xpu, version.xpu_xccl, version.cinn]
    assert [f() for f in asked] == ["False"] * 5 and version.mkl() == "OFF"


def test_there_is_nothing_to_compile_against():
    for function in (sysconfig.get_include, sysconfig.get_lib):
        with pytest.raises(UnsupportedError, match="written in Python"):
            function()
