"""Files of weights that somebody put where Paddle keeps them."""

import hashlib

import pytest

from scull.errors import MissingFileError
from scull.utils import download

URL = "https://example.org/models/net.pdparams"


@pytest.fixture
def home(monkeypatch, tmp_path):
    """An empty folder of weights."""
    monkeypatch.setattr(download, "WEIGHTS_HOME", str(tmp_path))
    return tmp_path


def test_weights_that_are_there_are_found(home):
    (home / "net.pdparams").write_bytes(b"whole")
    md5 = hashlib.md5(b"whole").hexdigest()
    for given in (None, md5):
        path = download.get_weights_path_from_url(URL, given)
        assert path == str(home / "net.pdparams")


@pytest.mark.parametrize("content", [None, b"half"])
def test_others_are_refused_with_the_place_where_they_belong(home, content):
    if content is not None:
        (home / "net.pdparams").write_bytes(content)
    with pytest.raises(MissingFileError, match=r"put it at .*net\.pdparams"):
        download.get_weights_path_from_url(URL, hashlib.md5(b"whole").hexdigest())


def test_addresses_of_the_web_are_told_from_paths():
    assert download.is_url(URL) and not download.is_url("/models/net.pdparams")


def test_one_process_of_each_machine_fetches_a_file():
    every = ["10.0.0.2:6171", "10.0.0.1:6170", "10.0.0.2:6170", "10.0.0.1:6171"]
    assert download._get_unique_endpoints(every) == {"10.0.0.1:6170", "10.0.0.2:6170"}
    assert download._get_unique_endpoints([""]) == {""}  # a process that nobody launched
