"""One browser for the pages of a module."""

import pytest

from tests.profiler.browser import Browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = Browser(tmp_path_factory.mktemp("browser"))
    yield found
    found.close()
