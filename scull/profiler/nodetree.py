"""Results as Paddle's protobuf, which its `load_profiler_result` reads and writes.

Attributes of operators have no place there, and work on devices is not read.
"""

from functools import cache
from importlib import import_module
from typing import Any

from scull.core.timeline import Change, Span
from scull.errors import FileError
from scull.profiler.result import ProfilerResult, Thread
from scull.profiler.state import TracerEventType
from scull.profiler.tree import MemoryNode, Node

# The fields of each message, numbered from 1; what is not repeated must be there.
MESSAGES = {
    "Host": "string name, int32 type, uint64 start_ns, uint64 end_ns, uint64 process_id,"
    " uint64 thread_id",
    "Memory": "uint64 timestamp_ns, int32 type, uint64 addr, uint64 process_id, uint64 thread_id,"
    " int64 increase_bytes, string place, uint64 current_allocated, uint64 current_reserved,"
    " uint64 peak_allocated, uint64 peak_reserved",
    "Shape": "repeated uint64 size",
    "ShapeVector": "repeated Shape shapes",
    "Shapes": "repeated string key, repeated ShapeVector shape_vecs",
    "DtypeVector": "repeated string dtype",
    "Dtypes": "repeated string key, repeated DtypeVector dtype_vecs",
    "Details": "uint64 timestamp_ns, string op_type, uint64 process_id, uint64 thread_id,"
    " Shapes input_shapes, Dtypes dtypes, string callstack, uint64 op_id",
    "DetailsNode": "Details op_supplement_event",
    "MemoryNode": "Memory mem_event",
    "HostNode": "int64 id, int64 parentid, Host host_trace_event, repeated bytes runtime_nodes,"
    " repeated MemoryNode mem_nodes, repeated DetailsNode op_supplement_nodes",
    "ThreadTree": "uint64 thread_id, repeated HostNode host_nodes",
    "Extra": "string key, string value",
    "Trees": "string version, uint32 span_indx, repeated ThreadTree thread_trees,"
    " repeated Extra extra_info",
}
NO_PARENT = -1
COPIED = ("name", "start_ns", "end_ns", "process_id", "thread_id")


@cache
def messages() -> Any:
    """The classes of the messages by name."""
    descriptor = import_module("google.protobuf.descriptor_pb2")
    pool = import_module("google.protobuf.descriptor_pool").DescriptorPool()
    factory = import_module("google.protobuf.message_factory")
    file = descriptor.FileDescriptorProto(name="nodetree.proto", package="scull", syntax="proto2")
    kinds = descriptor.FieldDescriptorProto
    for message, fields in MESSAGES.items():
        described = file.message_type.add(name=message)
        for number, text in enumerate(fields.split(", "), start=1):
            *label, kind, name = text.split()
            row = described.field.add(name=name, number=number)
            row.label = kinds.LABEL_REPEATED if label else kinds.LABEL_REQUIRED
            if kind in MESSAGES:
                row.type, row.type_name = kinds.TYPE_MESSAGE, f".scull.{kind}"
            else:
                row.type = getattr(kinds, f"TYPE_{kind.upper()}")
    pool.AddSerializedFile(file.SerializeToString())
    found = (pool.FindMessageTypeByName(f"scull.{name}") for name in MESSAGES)
    return dict(zip(MESSAGES, map(factory.GetMessageClass, found), strict=True))


@cache
def malformed() -> type[Exception]:
    """What protobuf raises for bytes that are no message."""
    found: type[Exception] = import_module("google.protobuf.message").DecodeError
    return found


def written(result: ProfilerResult) -> bytes:
    """The result as such a file."""
    trees = messages()["Trees"](version=result.version, span_indx=result.index)
    for number, root in result.get_data().items():
        thread = trees.thread_trees.add(thread_id=number)
        parents = {id(root): NO_PARENT}
        for place, node in enumerate((root, *root.walk())):
            write_node(thread.host_nodes.add(id=place, parentid=parents[id(node)]), node)
            parents.update((id(child), place) for child in node.children_node)
    for key, value in result.extra.items():
        trees.extra_info.add(key=key, value=value)
    found: bytes = trees.SerializeToString()
    return found


def write_node(message: Any, node: Node) -> None:
    """Fill a message with a span, its memory and what is known of its operands."""
    host = message.host_trace_event
    host.type = node.type.value
    for name in COPIED:
        setattr(host, name, getattr(node, name))
    for change in node.mem_node:
        row = message.mem_nodes.add().mem_event
        row.type = change.type.value
        for name in MemoryNode.__slots__:
            if name != "type":
                setattr(row, name, getattr(change, name))
    if node.input_shapes or node.callstack:
        details = message.op_supplement_nodes.add().op_supplement_event
        details.timestamp_ns, details.op_type = node.start_ns, node.name
        details.process_id, details.thread_id = node.process_id, node.thread_id
        details.callstack, details.op_id = node.callstack, 0
        details.input_shapes.SetInParent()
        details.dtypes.SetInParent()
        for key, shapes in node.input_shapes.items():
            details.input_shapes.key.append(key)
            vector = details.input_shapes.shape_vecs.add()
            for shape in shapes:
                vector.shapes.add(size=shape)
        for key, dtypes in node.dtypes.items():
            details.dtypes.key.append(key)
            details.dtypes.dtype_vecs.add(dtype=dtypes)


def read(content: bytes) -> ProfilerResult:
    """The result in such a file."""
    trees = messages()["Trees"]()
    try:
        trees.ParseFromString(content)
    except malformed() as error:
        raise FileError(f"this is neither a trace nor a result of Paddle: {error}") from None
    if not trees.IsInitialized():
        raise FileError("this is neither a trace nor a result of Paddle: it is too short")
    try:
        return result_in(trees)
    except ValueError as error:
        raise FileError(f"a result of Paddle with a kind of span nobody knows: {error}") from None


def result_in(trees: Any) -> ProfilerResult:
    """The result within a message."""
    extra = {row.key: row.value for row in trees.extra_info}
    threads, changes, process = [], [], 0
    for tree in trees.thread_trees:
        nodes = [node for node in tree.host_nodes if node.parentid != NO_PARENT]
        process = next((n.host_trace_event.process_id for n in nodes), process)
        name = extra.get(str(tree.thread_id), "")
        threads.append(Thread(tree.thread_id, name, tuple(map(span_in, nodes))))
        rows = (row.mem_event for node in tree.host_nodes for row in node.mem_nodes)
        changes += [
            Change(
                row.timestamp_ns,
                row.thread_id,
                row.addr,
                row.increase_bytes,
                row.current_allocated,
                row.peak_allocated,
            )
            for row in rows
        ]
    changes.sort(key=lambda change: change.moment)
    return ProfilerResult(
        tuple(threads), tuple(changes), process, trees.span_indx, extra, trees.version
    )


def span_in(node: Any) -> Span:
    """The span of one node."""
    host = node.host_trace_event
    told = None
    for row in node.op_supplement_nodes:
        details = row.op_supplement_event
        shapes, dtypes = details.input_shapes, details.dtypes
        each = zip(shapes.key, shapes.shape_vecs, strict=False)
        names = zip(dtypes.key, dtypes.dtype_vecs, strict=False)
        told = {
            "line": details.callstack,
            "shapes": {key: [list(shape.size) for shape in found.shapes] for key, found in each},
            "dtypes": {key: list(found.dtype) for key, found in names},
        }
    return Span(host.name, TracerEventType(host.type).name, host.start_ns, host.end_ns, told)
