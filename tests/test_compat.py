"""`import paddle` means scull: in a process of its own, since it changes what imports mean."""

import subprocess
import sys


def run(*arguments, **options):
    """What a process of Python printed, or its last line of errors."""
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def installed(code):
    return run("-c", "import scull.compat\nscull.compat.install()\n" + code)


def test_every_module_is_one_object_under_both_names():
    code = "import paddle.base.core, paddle.static as s, scull\n"
    code += "print(paddle is scull, s is scull.static, paddle.base.core is scull.base.core)"
    assert installed(code) == "True True True"


def test_a_module_keeps_its_own_name():
    assert installed("import paddle\nprint(paddle.__spec__.name, paddle.__name__)") == "scull scull"


def test_a_module_scull_does_not_have_is_named():
    found = installed("import paddle.not_there")
    assert found.startswith("ModuleNotFoundError: No module named 'paddle.not_there' in scull")


def test_installing_twice_is_installing_once():
    code = "scull.compat.install()\nimport sys\n"
    code += "print(sum(type(f).__name__ == 'AliasFinder' for f in sys.meta_path))"
    assert installed(code) == "1"


def test_after_uninstall_paddle_means_what_it_meant():
    code = "import paddle\nscull.compat.uninstall()\nscull.compat.uninstall()\nimport sys\n"
    code += "print(scull.compat.installed(), 'paddle' in sys.modules)"
    assert installed(code) == "False False"


def test_a_paddle_that_was_imported_before_is_not_replaced():
    code = "import sys, types\nsys.modules['paddle'] = types.ModuleType('paddle')\n"
    found = run("-c", code + "import scull.compat\nscull.compat.install()")
    assert found.endswith("paddle was imported before: install() comes first")


def test_a_script_is_run_with_its_arguments(tmp_path):
    script = tmp_path / "train.py"
    (tmp_path / "part.py").write_text("import paddle\nword = paddle.__name__\n")
    script.write_text("import part, sys\nprint(__name__, part.word, sys.argv[1:])\n")
    found = run("-m", "scull", str(script), "--epochs", "3")
    assert found == "__main__ scull ['--epochs', '3']"


def test_a_module_is_run_with_its_arguments(tmp_path):
    (tmp_path / "tools").mkdir()
    code = "import sys, paddle\nprint(__name__, paddle.__name__, sys.argv[1:])\n"
    (tmp_path / "tools" / "train.py").write_text(code)
    found = run("-m", "scull", "-m", "tools.train", "--epochs", "3", cwd=tmp_path)
    assert found == "__main__ scull ['--epochs', '3']"


def test_a_module_of_paddles_is_run_too(tmp_path):
    (tmp_path / "train.py").write_text("import paddle, sys\nprint(paddle.__name__, sys.argv[1:])\n")
    found = run("-m", "scull", "-m", "paddle.distributed.launch", "train.py", "--x", cwd=tmp_path)
    assert found == "scull ['--x']"


def test_a_module_that_is_missing_is_named():
    assert "nowhere" in run("-m", "scull", "-m", "nowhere.train")


def test_a_script_that_is_missing_is_named():
    assert "nowhere.py" in run("-m", "scull", "nowhere.py")


def test_a_command_goes_to_the_command_line():
    assert run("-m", "scull", "--help").startswith("usage: scull")
