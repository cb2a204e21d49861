"""What code generation knows of a machine: its registers and how wide they are."""

from dataclasses import dataclass, replace

from scull.runtime import llvm


@dataclass(frozen=True)
class Target:
    """Vector registers: how many bits, how many."""

    name: str
    bits: int
    registers: int
    has_half: bool = True  # float16 is converted by an instruction
    has_scale: bool = False  # an instruction multiplies by powers of 2 of its size of vectors
    permuted: tuple[int, ...] = ()  # how many float32 an instruction permutes
    has_pairs: bool = False  # an instruction adds the products of two pairs of bfloat16
    has_matrix: bool = False  # one adds those of sixteen rows of sixteen pairs with as many lanes

    @property
    def lanes(self) -> int:
        """How many float32 a register holds."""
        return self.bits // 32

    @property
    def looks_far(self) -> bool:
        """Whether it starts what is some 500 instructions ahead; others look about half as far."""
        return self.has_matrix


AVX512 = Target("avx512", 512, 32, has_scale=True, permuted=(8, 16))
AVX512_PAIRS = replace(AVX512, name="avx512bf16", has_pairs=True)
AMX = replace(AVX512_PAIRS, name="amx", has_matrix=True)
AVX2 = Target("avx2", 256, 16, permuted=(8,))
GENERIC = Target("generic", 128, 16, has_half=False)
TARGETS = {each.name: each for each in (AMX, AVX512_PAIRS, AVX512, AVX2, GENERIC)}


def target(level: str = "") -> Target:
    """The target of a level of vectors, as `llvm.levels` names them; the highest here if none."""
    return TARGETS[level or llvm.levels()[0]]
