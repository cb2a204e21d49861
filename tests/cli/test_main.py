"""`scull`, before any command runs."""

import importlib.util
import subprocess
import sys

import pytest

from scull import cli


def test_without_arguments_the_commands_are_listed_and_the_code_is_2(capsys):
    assert cli.main([]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and "doctor" in printed.err


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_lists_every_command(capsys, word):
    assert cli.main([word]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line[:2] == "  "]
    assert listed == list(cli.COMMANDS)


def test_an_unknown_command_is_named_and_the_others_are_listed(capsys):
    assert cli.main(["docter", "--help"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("scull: there is no command `docter`\n")
    assert cli.usage() in printed.err


def test_the_version_is_printed(capsys, monkeypatch):
    monkeypatch.setattr(cli.metadata, "version", lambda name: "1.2.3")
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == "scull 1.2.3\n"


def test_sources_that_are_not_installed_have_no_version(monkeypatch):
    def missing(name):
        raise cli.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(cli.metadata, "version", missing)
    assert cli.version() == "(run from its sources, not installed)"


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_its_module(name):
    assert importlib.util.find_spec(cli.COMMANDS[name].module) is not None


def test_a_command_gets_the_arguments_after_its_name(monkeypatch):
    seen = []

    class Module:
        @staticmethod
        def main(arguments):
            seen.append(arguments)
            return 7

    monkeypatch.setattr(cli.importlib, "import_module", lambda name: Module)
    assert cli.main(["doctor", "--all", "x"]) == 7
    assert seen == [["--all", "x"]]


def test_python_dash_m_scull_is_the_command_line():
    command = [sys.executable, "-W", "error", "-m", "scull", "doctor", "--help"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: scull doctor")
