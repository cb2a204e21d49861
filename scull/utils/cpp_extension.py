"""Operators of users in C++: there are none, since nothing here is compiled with C++."""

from scull.core.absent import absent

__getattr__ = absent(
    __name__,
    {
        "C++ operators are compiled with the headers of PaddlePaddle. Write the operator in "
        "Python: paddle.autograd.PyLayer with a `backward` of its own, paddle.static.py_func in a "
        "Program": (
            "BuildExtension CUDAExtension CppExtension get_build_directory load"
            " load_op_meta_info_and_register_op parse_op_info setup"
        )
    },
)
