"""Models that a folder offers."""

import sys

import pytest

import scull as paddle
from scull.errors import UnsupportedError

HUBCONF = '''
from beside_hubconf import scale

dependencies = ["json"]


def twice(x=1):
    """Two times `x`."""
    return x * scale


def _hidden():
    pass


limit = 3
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "hubconf.py").write_text(HUBCONF, encoding="utf-8")
    (tmp_path / "beside_hubconf.py").write_text("scale = 2\n", encoding="utf-8")
    yield str(tmp_path)
    sys.modules.pop("beside_hubconf", None)


def test_a_folder_offers_what_can_be_called_and_has_no_underscore(folder):
    before = sys.path.copy()
    assert paddle.hub.list(folder, source="local") == ["twice"]
    assert paddle.hub.help(folder, "twice", source="local") == "Two times `x`."
    assert paddle.hub.load(folder, "twice", source="local", x=4) == 8
    assert sys.path == before and "hubconf" not in sys.modules


def test_a_model_that_is_not_there_is_an_error(folder, tmp_path):
    for name in ("thrice", "limit"):
        with pytest.raises(RuntimeError, match=f"Cannot find callable {name}"):
            paddle.hub.load(folder, name, source="local")
    with pytest.raises(ValueError, match="should be a str"):
        paddle.hub.load(folder, 3, source="local")
    with pytest.raises(RuntimeError, match=r"there is no .*hubconf\.py"):
        paddle.hub.list(str(tmp_path / "empty"), source="local")
    (tmp_path / "hubconf.py").write_text("dependencies = ['not_a_module']\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match="Missing dependencies: not_a_module"):
        paddle.hub.load(folder, "twice", source="local")


def test_nothing_is_downloaded():
    with pytest.raises(UnsupportedError, match="nothing is downloaded from github"):
        paddle.hub.list("owner/name")
    with pytest.raises(ValueError, match='Unknown source: "disk"'):
        paddle.hub.list("owner/name", source="disk")
