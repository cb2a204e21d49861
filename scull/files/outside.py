"""Operators that reach outside of a Program: in one from a file they are refused by default."""

from collections.abc import Iterable
from typing import Any

from scull.errors import ArgumentTypeError, UnsafeFileError
from scull.ir.program import Program

EFFECTS = {  # what an operator would do, and the types that do it
    "call Python": "py_func",
    "print": "print check_numerics",
    "write files": "save save_combine",
    "read files": "load load_combine read_file sparse_tensor_load",
    "read what others provide": """
        create_custom_reader create_double_buffer_reader create_py_reader dequeue enqueue
        queue_generator read""",
    "talk to other processes": """
        alltoall barrier broadcast allreduce c_allgather c_allreduce_max c_allreduce_min
        c_allreduce_prod c_allreduce_sum c_broadcast c_comm_init c_comm_init_all c_comm_init_hccl
        c_comm_init_multitrainer c_concat c_gen_bkcl_id c_gen_hccl_id c_gen_nccl_id c_gen_xccl_id
        c_reduce_max c_reduce_min c_reduce_prod c_reduce_sum c_reducescatter c_scatter
        c_softmax_with_cross_entropy checkpoint_notify dgc distributed_lookup_table
        distributed_push_sparse fetch_barrier fl_listen_and_serv gen_bkcl_id gen_hccl_id
        gen_nccl_id global_gather global_scatter heter_listen_and_serv listen_and_serv
        mp_allreduce_sum nccl_init nccl_all_reduce p_recv p_recv_array p_send p_send_array
        partial_allgather partial_recv partial_send prefetch pull_box_extended_sparse
        pull_box_sparse pull_gpups_sparse pull_sparse pull_sparse_v2 push_box_extended_sparse
        push_box_sparse push_dense push_gpups_sparse push_sparse push_sparse_v2 recv recv_save
        recv_v2 send send_and_recv send_barrier send_v2 sync_batch_norm_comm""",
    "run code of its own": """
        ascend_trigger cinn_instruction_run cinn_launch dlnne_engine lite_engine run_program
        tensorrt_engine""",
}
OUTSIDE = {type: effect for effect, types in EFFECTS.items() for type in types.split()}


def refuse_outside(program: Program, allow_ops: Iterable[str]) -> None:
    """Refuse operators with effects outside of `program`, but for the types in `allow_ops`."""
    allowed = checked_types(allow_ops)
    for block in program.blocks:
        for place, o in enumerate(block.ops):
            effect = effect_of(o.type)
            if effect and o.type not in allowed and forward(o.type) not in allowed:
                raise UnsafeFileError(
                    f"block {block.idx}, operator {place} (`{o.type}`) would {effect}; "
                    f'if the file may do that, load it with `allow_ops=["{forward(o.type)}"]`'
                )


def checked_types(allow_ops: Any) -> frozenset[str]:
    """The types of operators that are allowed."""
    if isinstance(allow_ops, str) or not isinstance(allow_ops, Iterable):
        raise ArgumentTypeError(f"allow_ops is a list of types of operators, not {allow_ops!r}")
    types = frozenset(allow_ops)
    if not all(isinstance(type, str) for type in types):
        raise ArgumentTypeError(f"allow_ops is a list of types of operators, not {allow_ops!r}")
    return types


def effect_of(type: str) -> str:
    """What an operator, or one that computes its gradient, would do outside; empty for nothing."""
    return OUTSIDE.get(forward(type), "")


def forward(type: str) -> str:
    """The type of the operator whose gradient, of any order, is of this type."""
    while type.endswith("_grad"):
        type = type.removesuffix("_grad")
    return type
