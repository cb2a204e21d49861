"""Operators of users in C++: there are none, since nothing here is compiled with C++."""

from scull.core.absent import absent
from scull.core.door import doors

CUDA_HOME = None
doors(__name__, "cpp_extension extension_utils")
__getattr__ = absent(
    __name__,
    {
        "C++ operators are compiled with the headers of PaddlePaddle. Write the operator in "
        "Python: paddle.autograd.PyLayer with a `backward` of its own, paddle.static.py_func in a "
        "Program": (
            "BuildExtension CUDAExtension CppExtension _import_module_from_library _jit_compile"
            " get_build_directory load"
            " load_op_meta_info_and_register_op parse_op_info setup"
        )
    },
)
