"""The release of Paddle whose API this is, as `paddle.version` says it."""

full_version = "2.6.2"
major, minor, patch, rc = "2", "6", "2", "0"
commit = ""
istaged = True
with_mkl = "OFF"
cuda_version = cudnn_version = xpu_version = xpu_xccl_version = cinn_version = "False"


def show() -> None:
    """Print the release and what it is built with."""
    rows = {"full_version": full_version, "major": major, "minor": minor, "patch": patch, "rc": rc}
    rows |= {"cuda": cuda(), "cudnn": cudnn()}
    print("\n".join(f"{name}: {value}" for name, value in rows.items()))


def mkl() -> str:
    """Whether MKL is built in: it is not."""
    return with_mkl


def cuda() -> str:
    """The version of CUDA, "False" without it."""
    return cuda_version


def cudnn() -> str:
    """The version of cuDNN, "False" without it."""
    return cudnn_version


def xpu() -> str:
    """The version of XPU, "False" without it."""
    return xpu_version


def xpu_xccl() -> str:
    """The version of XCCL, "False" without it."""
    return xpu_xccl_version


def cinn() -> str:
    """The version of CINN, "False" without it."""
    return cinn_version
