"""What the repository says: nothing of the machine it was written on, and no link into nowhere."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# In pieces, since this file is searched too.
PRIVATE = [
    b"/" + folder + b"/" for folder in (b"work", b"root", b"Users", b"home/[a-z]+", b"mnt/[a-z]+")
]
REGISTRIES = [
    name + rb"\." + top
    for name, top in [
        (b"pypi", b"org"),
        (b"pythonhosted", b"org"),
        (b"anaconda", b"(?:org|com)"),
        (b"npmjs", b"(?:org|com)"),
        (b"download.pytorch", b"org"),
        (b"paddlepaddle", b"org.cn/whl"),
    ]
]
SECRETS = [b"BEGIN [A-Z ]*PRIVATE" + b" KEY", b"gh[pousr]_" + b"[A-Za-z0-9]{36}"]
FORBIDDEN = re.compile(b"|".join(PRIVATE + REGISTRIES + SECRETS))

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)[^)]*\)")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def tracked() -> list[Path]:
    """The files of the repository, and those about to become part of it."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    names = {name.decode() for name in listed.split(b"\0") if name}
    return [ROOT / name for name in sorted(names) if (ROOT / name).is_file()]


def forbidden(content: bytes) -> list[bytes]:
    """The words in a file that say where it was written."""
    return FORBIDDEN.findall(content)


def dead_links(page: Path) -> list[str]:
    """The links of a page to local files that are not there."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    local = [link.split("#")[0] for link in LINK.findall(text) if "://" not in link]
    return [link for link in local if link and not (page.parent / link).exists()]


needs_git = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="these files were unpacked, not cloned: git lists none"
)


@needs_git
def test_no_file_names_a_private_folder_a_registry_or_a_secret():
    files = tracked()
    found = {str(path.relative_to(ROOT)): forbidden(path.read_bytes()) for path in files}
    assert files and {name: words for name, words in found.items() if words} == {}


@needs_git
def test_every_link_of_a_page_to_a_local_file_leads_there():
    pages = [path for path in tracked() if path.suffix == ".md"]
    found = {str(page.relative_to(ROOT)): dead_links(page) for page in pages}
    assert pages and {name: links for name, links in found.items() if links} == {}


@pytest.mark.parametrize(
    "content",
    [
        b"at /" + b"root/ref",
        b"\x00\x12/" + b"work/main/a.py\x00",
        b"/home/" + b"someone/x",
        b"https://pypi" + b".org/simple",
        b"-----BEGIN RSA PRIVATE" + b" KEY-----",
    ],
)
def test_a_forbidden_word_is_found(content):
    assert len(forbidden(content)) == 1


def test_ordinary_words_are_not_forbidden():
    assert forbidden(b"the root/ and work/ of a tree, ~/home, pip install scull") == []


def test_a_link_into_nowhere_is_found(tmp_path):
    page = tmp_path / "page.md"
    (tmp_path / "there.md").touch()
    page.write_text(
        "[a](there.md) [b](there.md#part) [c](#part) [d](https://example.org/x) [e](gone.md)\n"
        '[f](lost/a.py "title")\n```python\nx[0](y)\n```\n'
    )
    assert dead_links(page) == ["gone.md", "lost/a.py"]
