"""`scull cache`: what it prints, what it removes."""

import pytest

from scull.cli import main
from scull.cli.cache import cache_text
from scull.flags import flags
from scull.runtime import object_cache as module
from scull.runtime.object_cache import ObjectCache, key_of, object_cache

pytestmark = pytest.mark.skipif(not module.SAFE, reason="no folder can be kept private here")


@pytest.fixture
def cache(tmp_path):
    """The cache the settings name, with three entries."""
    with flags(CACHE_DIR=str(tmp_path)):
        found = object_cache()
        for k in range(3):
            found.get(key_of(str(k)), lambda: bytes(100_000))
        yield found


@pytest.mark.parametrize("arguments", [[], ["show"]])
def test_the_cache_is_shown_in_a_line(cache, tmp_path, capsys, arguments):
    assert main(["cache", *arguments]) == 0
    folder = tmp_path / "objects"
    assert capsys.readouterr().out == f"{folder}, 3 kernels, 0.3 of 512 MiB\n"
    assert len(cache.entries()) == 3


def test_the_cache_is_cleared(cache, capsys):
    for count in (3, 0):
        assert main(["cache", "clear"]) == 0
        assert capsys.readouterr().out == f"{count} files removed\n"
    assert cache.entries() == []


def test_where_there_is_no_cache_the_reason_is_given(tmp_path):
    assert cache_text(ObjectCache(None, 0)) == "none: switched off"
    folder = tmp_path / "objects"
    folder.mkdir(0o755)
    folder.chmod(0o755)
    text = cache_text(ObjectCache(folder, 1 << 20))
    assert text.startswith("none: ") and "open to other users" in text


def test_other_words_are_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["cache", "grow"])
    assert "grow" in capsys.readouterr().err
