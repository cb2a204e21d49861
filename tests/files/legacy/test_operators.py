"""Every operator as 1.8 wrote it computes in scull what PaddlePaddle 2.6.2 computes of the file."""

import json
import os
import subprocess

import numpy as np
import pytest

from scull import static
from scull.files.legacy.table import TABLE, modernised
from scull.files.program import bytes_of, program_of
from scull.files.wire import read_program
from scull.ir.verify import verify
from tests.files.legacy.case import Case
from tests.files.legacy.cases import cases
from tests.files.legacy.packed import packed

CASES = list(cases())


def file_of(case: Case) -> bytes:
    return packed("operators.npz")[case.name].tobytes()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_old_operator_gives_what_the_reference_gives(case):
    program = program_of(file_of(case))
    known = packed("operators.npz")
    names = [n for n in map(case.result, case.fetched()) if f"{case.name}/{n}" in known]
    expected = [known[f"{case.name}/{name}"] for name in names]
    verify(program, shapes=False)
    options = {"scope": static.Scope(), "return_numpy": False}  # boxes have levels of detail
    found = static.Executor().run(program, feed=case.feed(), fetch_list=names, **options)
    for name, x, y in zip(names, map(np.array, found), expected, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype), name
        largest = np.abs(y).max(initial=0) if y.dtype == "float32" else 0
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5 * largest, err_msg=name)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_runs_as_it_is_written_is_saved_as_it_was_read(case):
    again = bytes_of(program_of(file_of(case)))
    message = read_program(file_of(case))
    if modernised(message) is message:
        assert again == file_of(case)
    else:
        assert bytes_of(program_of(again)) == again  # today's operators are not rewritten again


PYTHON = os.environ.get("SCULL_PADDLE_PYTHON")
RUN = """
import glob, json, numpy as np, paddle
paddle.enable_static()
answer = {}
for path in sorted(glob.glob("*.program")):
    name = path[:-8]
    given = np.load(name + ".npz")
    program = paddle.static.Program.parse_from_string(open(path, "rb").read())
    feed = {k[1:]: given[k] for k in given.files if k[0] == "<"}
    fetch = [k[1:] for k in given.files if k[0] == ">"]
    with paddle.static.scope_guard(paddle.static.Scope()):
        found = paddle.static.Executor().run(program, feed=feed, fetch_list=fetch)
    answer[name] = all(
        np.allclose(x, given[">" + k], 1e-5, 1e-5, True) for k, x in zip(fetch, found)
    )
print(json.dumps(answer))
"""


@pytest.mark.skipif(not PYTHON, reason="SCULL_PADDLE_PYTHON names no reference")
def test_the_reference_runs_what_older_operators_became(tmp_path):
    rewritten = [c for c in CASES if c.type in TABLE and c.type != "set_value"]
    for case in rewritten:
        known = packed("operators.npz")
        (tmp_path / f"{case.name}.program").write_bytes(bytes_of(program_of(file_of(case))))
        names = [case.result(slot) for slot in case.fetched()]
        results = {f">{n}": known[f"{case.name}/{n}"] for n in names if f"{case.name}/{n}" in known}
        feed = {f"<{name}": x for name, x in case.feed().items()}
        np.savez(tmp_path / f"{case.name}.npz", **feed, **results)
    command = [str(PYTHON), "-B", "-c", RUN]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[-2000:]
    answer = json.loads(made.stdout.splitlines()[-1])
    assert len(answer) == len(rewritten) and all(answer.values()), answer
