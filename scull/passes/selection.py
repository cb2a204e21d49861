"""Which passes run where, by their names."""

INFERENCE = (  # what a loaded model goes through
    "is_test_pass",
    "simplify_with_basic_ops_pass",
    "identity_scale_op_clean_pass",
    "identity_op_clean_pass",
    "conv_bn_fuse_pass",
    "common_subexpression_elimination_pass",
    "constant_folding_pass",
)
SIMPLIFYING = (  # what keeps every bit, in training too
    "identity_scale_op_clean_pass",
    "identity_op_clean_pass",
    "constant_folding_pass",
    "common_subexpression_elimination_pass",
    "dead_code_elimination_pass",
)
SWITCHES: dict[str, tuple[str, ...]] = {  # of a BuildStrategy, in the order in which they run
    "fused_attention": ("fused_attention_pass",),
    "fuse_gemm_epilogue": ("fuse_gemm_epilogue_pass",),
    "fuse_elewise_add_act_ops": ("fuse_elewise_add_act_pass",),
    "enable_auto_fusion": ("fuse_activations_pass", "fuse_elewise_add_act_pass"),
    "fuse_all_optimizer_ops": ("fuse_all_optimizer_ops_pass",),
    "memory_optimize": ("buffer_shared_memory_reuse_pass",),
    "enable_addto": ("inplace_addto_op_pass",),
    "enable_inplace": ("buffer_shared_inplace_pass",),
}
PLANNED: dict[str, str] = {  # what changes no Program: by pass, what a plan does then
    "buffer_shared_memory_reuse_pass": "every value goes after its last use",
    "inplace_addto_op_pass": "a sum takes the memory of a summand that nobody needs any more",
    "buffer_shared_inplace_pass": "a result takes that of an operand nobody needs any more",
}


def asked(strategy: object) -> tuple[str, ...]:
    """The passes that the switches of a BuildStrategy ask for and that change a Program."""
    found = dict.fromkeys(
        name for switch, names in SWITCHES.items() if getattr(strategy, switch) for name in names
    )
    return tuple(name for name in found if name not in PLANNED)
