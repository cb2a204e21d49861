"""The words of the profiler: what it does now, what it watches, what its tables show."""

from enum import Enum


class ProfilerState(Enum):
    """What a profiler does in a step.

    `CLOSED` nothing, `READY` it is about to record, `RECORD` it records, `RECORD_AND_RETURN` it
    records the last step of a period and then hands the result over.
    """

    CLOSED = 0
    READY = 1
    RECORD = 2
    RECORD_AND_RETURN = 3


class ProfilerTarget(Enum):
    """A kind of device whose work is recorded."""

    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM_DEVICE = 3


class SummaryView(Enum):
    """A table of `Profiler.summary`."""

    DeviceView = 0
    OverView = 1
    ModelView = 2
    DistributedView = 3
    KernelView = 4
    OperatorView = 5
    MemoryView = 6
    MemoryManipulationView = 7
    UDFView = 8


class SortedKeys(Enum):
    """What orders the rows of a table: time on the CPU or on a device, the largest first.

    The smallest of the shortest times comes first.
    """

    CPUTotal = 0
    CPUAvg = 1
    CPUMax = 2
    CPUMin = 3
    GPUTotal = 4
    GPUAvg = 5
    GPUMax = 6
    GPUMin = 7


class TracerEventType(Enum):
    """The kind of something that took a while."""

    Operator = 0
    Dataloader = 1
    ProfileStep = 2
    CudaRuntime = 3
    Kernel = 4
    Memcpy = 5
    Memset = 6
    UserDefined = 7
    OperatorInner = 8
    Forward = 9
    Backward = 10
    Optimization = 11
    Communication = 12
    PythonOp = 13
    PythonUserDefined = 14


class TracerMemEventType(Enum):
    """What happened to memory."""

    Allocate = 0
    Free = 1
    ReservedAllocate = 2
    ReservedFree = 3
