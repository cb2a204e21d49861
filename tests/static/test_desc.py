"""`.desc`, call stacks and notes of Variables, for code that looks there."""

import subprocess
import sys

import pytest

import scull as paddle
from scull import static
from scull.files.program import program_of


@pytest.fixture
def program():
    paddle.enable_static()
    main = static.Program()
    with static.program_guard(main):
        paddle.tanh(static.data("x", [2]))  # the line that is remembered
    yield main
    paddle.disable_static()


def test_a_program_has_its_view_whatever_was_imported():
    code = (
        "import scull as p; p.enable_static(); m = p.static.Program(); b = m.global_block(); "
        "v = b.create_var(name='v', shape=[2], dtype='float32'); "
        "print(m.desc.num_blocks(), b.desc.ops() if hasattr(b.desc, 'ops') else 0, v.desc.name()); "
        "t = p.static.global_scope().var('a').get_tensor(); t.set([1.0]); print(t._numel())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[0] == "1" and done.stdout.endswith("v\n1\n")


def test_a_call_stack_shows_the_users_line(program):
    file, source = program.global_block().ops[0].attr("op_callstack")
    assert file.startswith('  File "') and "test_desc.py" in file
    assert source == '    paddle.tanh(static.data("x", [2]))  # the line that is remembered'


def test_an_attribute_of_a_variable_is_kept_in_the_message(program):
    before = program.desc.serialize_to_string()
    view = program.global_block().var("x").desc
    assert view.attr("note") is None
    for value in (1, 2):
        view._set_attr("note", value)
    assert view.attr("note") == 2 and program.desc.need_update()
    bytes_now = program.desc.serialize_to_string()
    assert bytes_now != before
    found = program_of(bytes_now).global_block().var("x")
    assert found.desc.attr("note") == 2 and found.shape == (2,)
