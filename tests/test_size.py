"""Files, functions and packages stay within the limits of `tools/size.py`."""

from pathlib import Path

import pytest

from tools import size


@pytest.fixture
def tree(tmp_path):
    """Writes files into a tree of their own and says what is wrong with it."""

    def complaints(**files: str) -> list[str]:
        for name, text in files.items():
            path = tmp_path / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return size.complaints(tmp_path)

    return complaints


def body(count: int) -> str:
    return "def long():\n" + "    x = 1\n" * (count - 1)


def test_the_tree_is_within_its_limits():
    assert size.complaints(size.ROOT) == []


def test_the_budgets_sum_to_no_more_than_the_whole():
    assert sum(size.BUDGETS.values()) <= size.TOTAL


def test_every_package_is_a_row_of_the_table():
    shown = {line.split()[0] for line in size.table(size.ROOT).splitlines()}
    folders = {path.parent.name for path in (size.ROOT / "scull").glob("*/*.py")}
    assert folders and folders <= shown


def test_a_file_of_501_lines_is_too_long(tree):
    assert tree(scull__core__a="x = 1\n" * 500) == []
    assert tree(scull__core__a="x = 1\n" * 501) == ["scull/core/a.py: 501 lines, 500 are allowed"]


def test_a_function_of_51_lines_is_too_long(tree):
    assert tree(tests__test_a=body(50)) == []
    assert tree(tests__test_a="\n" + body(51)) == [
        "tests/test_a.py:2: long has 51 lines, 50 are allowed"
    ]


def test_the_docstring_of_a_function_is_not_counted(tree):
    documented = 'def long():\n    """One.\n\n    Two.\n    """\n' + "    x = 1\n" * 49
    assert tree(scull__core__a=documented) == []
    assert len(tree(scull__core__a=documented + "    x = 1\n")) == 1


def test_tables_of_data_and_golden_files_have_any_length(tree):
    assert tree(scull__ops__data__slots="x = 1\n" * 600, tests__golden__a="x = 1\n" * 600) == []


@pytest.mark.parametrize("name", ["scull__core__utils", "scull__helpers__shape", "tests__common"])
def test_a_module_with_a_vague_name_is_refused(tree, name):
    assert tree(**{name: ""}) == [
        f"{name.replace('__', '/')}.py: a module is named after what it holds"
    ]


def test_the_public_name_utils_is_allowed_for_one_package_alone(tree):
    assert tree(scull__utils__unique_name="") == []
    assert len(tree(scull__utils__utils="", scull__nn__utils="")) == 2


def test_a_package_over_its_budget_is_refused(tree, monkeypatch):
    monkeypatch.setitem(size.BUDGETS, "core", 3)
    monkeypatch.setattr(size, "TOTAL", 4)
    assert tree(scull__core__a="x = 1\n" * 2, scull__core__b="x = 1\n" * 3) == [
        "scull/core: 5 lines, 3 are budgeted",
        "scull: 5 lines, 4 are budgeted",
    ]


def test_a_package_without_a_row_has_the_budget_of_the_others(tree, monkeypatch):
    monkeypatch.setattr(size, "OTHER", 1)
    assert tree(scull__metric__a="x = 1\nx = 2\n") == ["scull/metric: 2 lines, 1 are budgeted"]


def test_the_table_names_the_largest_file(tmp_path: Path):
    (tmp_path / "scull/core").mkdir(parents=True)
    (tmp_path / "scull/core/a.py").write_text("x = 1\n" * 7)
    (tmp_path / "scull/core/b.py").write_text("x = 1\n")
    rows = [line.split() for line in size.table(tmp_path).splitlines()]
    assert rows[1] == ["core", "8", str(size.BUDGETS["core"]), "2", "7", "scull/core/a.py"]
    assert rows[-1] == ["total", "8", str(size.TOTAL), "2", "7"]
