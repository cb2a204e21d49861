"""CompiledProgram and its strategies under their older names."""

from scull.core.absent import absent
from scull.static.door import BuildStrategy, CompiledProgram, ExecutionStrategy
from scull.static.scope import cpu_places, cuda_places

__getattr__ = absent(
    __name__, {"scull runs on the CPU": "IpuCompiledProgram IpuStrategy IpuDynamicPatcher"}
)

__all__ = ["BuildStrategy", "CompiledProgram", "ExecutionStrategy", "cpu_places", "cuda_places"]
