"""Write scull/files/data/framework.desc, the description of the messages in Paddle's files.

Run it with the Python that has PaddlePaddle 2.6.2, from the root of the repository:

    $SCULL_PADDLE_PYTHON tools/make_descriptor.py
"""

from pathlib import Path

from google.protobuf import descriptor_pb2
from paddle.base.proto import framework_pb2

TARGET = Path(__file__).resolve().parent.parent / "scull" / "files" / "data" / "framework.desc"

# The file's name in the pool: one that no other package registers.
NAME = "scull/framework.proto"


def main() -> None:
    files = descriptor_pb2.FileDescriptorSet()
    framework_pb2.DESCRIPTOR.CopyToProto(files.file.add())
    files.file[0].name = NAME
    files.file[0].syntax = "proto2"
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_bytes(files.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
