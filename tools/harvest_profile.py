"""Record a profile of PaddlePaddle and the tables it prints of it: run with its Python."""

import contextlib
import io
import os
import tempfile
from pathlib import Path

import paddle
from paddle import profiler

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "reference"


def step(net, optimizer, x):
    """One step of training, with a span of its own."""
    with profiler.RecordEvent("forward"):
        loss = net(x).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()


def main():
    """Write the result as Paddle's file, and the rows of its tables."""
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU())
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    data = paddle.io.TensorDataset([paddle.ones([8, 4])])
    loader = paddle.io.DataLoader(data, batch_size=2)
    watched = profiler.Profiler(
        targets=[profiler.ProfilerTarget.CPU],
        scheduler=(1, 3),
        on_trace_ready=lambda profiler: None,
        profile_memory=True,
    )
    watched.start()
    for (x,) in loader:
        step(net, optimizer, x)
        watched.step()
    watched.stop()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.pb")
        watched.export(path, "pb")
        (FOLDER / "profile.pb").write_bytes(Path(path).read_bytes())
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        watched.summary(time_unit="ns")
    rows = [line.rstrip() for line in printed.getvalue().split("\n") if line.endswith("  ")]
    text = "\n".join(row for row in rows if not row.startswith("---")) + "\n"
    (FOLDER / "profile.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
