"""The launcher: one process, told by its environment that it is the only one."""

import argparse
import os
import secrets
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scull.distributed.spawning import HOST, alone, free_port

# What Paddle's launcher takes beside, for several processes; of no effect on one.
IGNORED = (
    "master rank log_level log_overwrite sort_ip ips host start_port gloo_port with_gloo"
    " max_restart elastic_level elastic_timeout auto_parallel_config legacy"
)
OTHERS = "servers trainers workers trainer_num worker_num server_num heter_workers"  # are refused


def parser() -> argparse.ArgumentParser:
    """The options of the command line."""
    made = argparse.ArgumentParser(
        "python -m scull.distributed.launch",
        description="Run a script as the only process that trains.",
    )
    made.add_argument("--nnodes", default="1", help="1")
    made.add_argument("--nproc_per_node", type=int, default=1, help="1")
    made.add_argument("--run_mode", default="collective", help="collective")
    made.add_argument("--devices", "--gpus", "--xpus", default="", help="one device at most")
    made.add_argument("--job_id", default="default", help="names the log")
    made.add_argument("--log_dir", default="log", help="where workerlog.0 has what is printed")
    for name in IGNORED.split():
        made.add_argument(f"--{name}", help=argparse.SUPPRESS)
    for name in OTHERS.split():
        made.add_argument(f"--{name}", default="", help=argparse.SUPPRESS)
    made.add_argument("training_script", help="a script in Python, or a program")
    made.add_argument("training_script_args", nargs=argparse.REMAINDER, help="what it is given")
    return made


def refused(given: Any) -> str | None:
    """What asks for several processes, if anything does."""
    wishes = {
        f"--nnodes {given.nnodes}": given.nnodes not in ("1", "1:1"),
        f"--nproc_per_node {given.nproc_per_node}": given.nproc_per_node != 1,
        f"--run_mode {given.run_mode}": given.run_mode != "collective",
        f"--devices {given.devices}": "," in given.devices,
    }
    wishes |= {f"--{name}": bool(getattr(given, name)) for name in OTHERS.split()}
    return next((wish for wish, is_there in wishes.items() if is_there), None)


def environment(log_dir: Path) -> dict[str, str]:
    """What the process finds in its environment beside what is there."""
    return alone() | {
        "PADDLE_MASTER": f"{HOST}:{free_port()}",
        "PADDLE_GLOBAL_SIZE": "1",
        "PADDLE_LOCAL_SIZE": "1",
        "PADDLE_GLOBAL_RANK": "0",
        "PADDLE_LOCAL_RANK": "0",
        "PADDLE_NNODES": "1",
        "PADDLE_RANK_IN_NODE": "0",
        "PADDLE_LOG_DIR": str(log_dir.absolute()),
        "POD_NAME": secrets.token_hex(3),
    }


def main(argv: Sequence[str]) -> int:
    """Run what a command line names; the exit status of the script."""
    options = parser()
    given = options.parse_args(argv)
    wish = refused(given)
    if wish is not None:
        options.error(f"{wish} is not in scull: processes do not train together")
    log_dir = Path(given.log_dir)
    log_dir.mkdir(parents=True, exist_ok=True)
    script = given.training_script
    start = [sys.executable, "-u", "-m", "scull"] if script.endswith(".py") else []
    with (
        open(log_dir / "workerlog.0", "wb") as log,
        subprocess.Popen(
            [*start, script, *given.training_script_args],
            env=os.environ | environment(log_dir),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        assert process.stdout is not None  # it was asked for
        for line in process.stdout:
            log.write(line)
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
    return process.returncode


def launch() -> None:
    """Run the script that the command line names, as the only process that trains.

    `python -m scull.distributed.launch train.py --lr=0.1` runs `train.py`, in which `import
    paddle` means scull, with the variables of the environment that Paddle's launcher sets. What
    it prints is written to `log/workerlog.0`, too (`--log_dir`), and its exit status is that of
    the launcher. Several processes are refused.
    """
    sys.exit(main(sys.argv[1:]))
