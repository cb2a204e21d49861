"""The `golden` fixture compares with a recorded text, and records it when asked to."""

import pytest

from tests.conftest import Golden


def test_a_golden_text_equals_the_text_it_recorded(tmp_path):
    (tmp_path / "plan.txt").write_text("one\ntwo\n")
    golden = Golden(tmp_path / "plan.txt", update=False)
    text = "one\ntwo\n"
    assert golden == "one\ntwo"
    assert text == golden
    assert golden != "one\n two"


def test_a_missing_golden_text_fails_and_says_how_to_record_it(tmp_path):
    with pytest.raises(AssertionError, match=r"there is no plan.txt: record it by"):
        assert Golden(tmp_path / "plan.txt", update=False) == "one"
    assert not (tmp_path / "plan.txt").exists()


def test_updating_records_the_text_and_then_compares(tmp_path):
    path = tmp_path / "executor" / "plan.txt"
    assert Golden(path, update=True) == "one"
    assert path.read_bytes() == b"one\n"
    assert Golden(path, update=False) == "one"
    assert Golden(path, update=False) != "two"


def test_a_test_with_several_texts_names_each(tmp_path):
    golden = Golden(tmp_path / "a.txt", update=True)
    assert golden("first") == "one"
    assert golden("deep/second") == "two"
    assert (tmp_path / "first.txt").read_text() == "one\n"
    assert (tmp_path / "deep/second.txt").read_text() == "two\n"


def test_the_fixture_is_named_after_the_test(golden):
    assert golden.path.name == "the_fixture_is_named_after_the_test.txt"
    assert golden.path.parent.name == "golden"
