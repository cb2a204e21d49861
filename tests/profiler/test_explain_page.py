"""Pages in a real browser: they draw themselves, show what is chosen, ask nobody for anything."""

import base64
import hashlib
import json
import re
import socket
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest

import scull as paddle
from scull.profiler.explain.facts import facts_of
from scull.profiler.explain.page import page
from scull.profiler.explain.record import recorded
from tests.profiler.browser import needs_browser
from tests.profiler.programs import Case, looped, named, trained, wide


def written(case, path: Path):
    """A page, and the facts it was made of."""
    found = recorded(case.executor, case.main, case.feed, case.fetches, case.scope)
    facts = facts_of(case.main, found, "a title")
    path.write_text(page(facts, str(found.plan)), encoding="utf-8")
    return path, facts


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    return written(trained(), tmp_path_factory.mktemp("training") / "page.html")


class Parts(HTMLParser):
    """The elements of a page as it is written, and the text of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = tag
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside:
            self.texts[self.inside][-1] += data


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_page_names_no_other_place_and_allows_its_own_script_alone(training):
    path, facts = training
    parts = Parts(path.read_text(encoding="utf-8"))
    for _, attributes in parts.tags:
        assert not {"src", "href", "style", "srcset", "action", "onload"} & attributes.keys()
    data, script = parts.texts["script"]
    (style,) = parts.texts["style"]
    assert json.loads(data) == json.loads(json.dumps(facts))
    (policy,) = [a["content"] for _, a in parts.tags if a.get("http-equiv")]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert (rules["script-src"], rules["style-src"]) == (digest(script), digest(style))
    assert not re.search(r"@import|url\((?!#)|https?://(?!www\.w3\.org/2000/svg)", style + script)


HOSTILE = "</script><img src=http://127.0.0.1:{}/ onerror=alert(1)><!--&amp;'\"\u2028\udc80"


def test_a_hostile_name_ends_no_element_of_the_page(tmp_path):
    name = HOSTILE.format(1)
    found, _ = written_bytes(named(name), tmp_path / "page.html")
    parts = Parts(found)
    assert {tag for tag, _ in parts.tags}.isdisjoint({"img", "iframe"})
    data, _ = parts.texts["script"]
    assert json.loads(data)["variables"][0]["name"] == name


def written_bytes(case, path: Path):
    """The text of a page as `Executor.explain` writes it, and its path."""
    case.explain(path)
    return path.read_bytes().decode("utf-8"), path


@needs_browser
def test_a_hostile_name_runs_nothing_and_calls_nobody(browser, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        name = HOSTILE.format(server.getsockname()[1])[:-1]  # without half a letter
        _, path = written_bytes(named(name), tmp_path / "page.html")
        found = browser.open(path, "#v=" + quote(name, safe=""))
        assert found.value("document.querySelector('#chosen h2').textContent") == name
        assert found.value("document.querySelectorAll('img').length") == 0
        assert found.requests == [path.as_uri()] and found.problems == []
        with pytest.raises(BlockingIOError):
            server.accept()


@needs_browser
def test_everything_is_drawn_and_nothing_asked_for(browser, training):
    path, facts = training
    found = browser.open(path)
    assert found.problems == [] and found.requests == [path.as_uri()]
    assert found.value("document.documentElement.dataset.drawn") == "yes"
    assert found.value("document.getElementById('problem').hidden")
    assert found.numbers("#graph svg") == list(range(len(facts["instructions"])))
    count = "document.querySelectorAll('{}').length".format
    assert found.value(count("#graph [data-e]")) == len(facts["edges"])
    kinds = sum(len(edge["kinds"]) for edge in facts["edges"])
    assert found.value(count("#graph g > path.edge")) == kinds
    assert found.value(count("#timeline .item")) == len(facts["spans"])
    assert found.value(count("#memory .item")) == len(facts["buffers"])
    assert found.value(count("#streams .item")) == len(facts["streams"]["tasks"])
    assert found.value(count("#program .op")) == len(facts["operators"])
    assert found.texts("#program .line b")[0] == facts["operators"][0]["source"]


@needs_browser
def test_the_variable_in_the_address_shows_who_writes_reads_and_frees_it(browser, training):
    path, facts = training
    found = browser.open(path)
    for v in facts["variables"]:
        if not v["planned"]:
            continue
        found.value(f"location.hash = 'v=' + encodeURIComponent({json.dumps(v['key'])}), show()")
        assert found.texts("#chosen h2") == [v["name"]]
        shown = {
            part: found.numbers(f"#{part}") for part in ("writers", "readers", "shapes", "frees")
        }
        assert shown == {part: v[part] for part in shown}
        assert found.numbers("#last") == list(dict.fromkeys(v["last"]))
        marked = "[...document.querySelectorAll('.node.{}')].map(e => Number(e.dataset.i))".format
        assert found.value(marked("writes")) == v["writers"]
        assert found.value(marked("reads")) == sorted({*v["readers"], *v["shapes"]})
        assert found.value(marked("frees")) == v["frees"]
        assert found.texts("#never") == (["never freed: it is kept"] if v["kept"] else [])


@needs_browser
def test_a_link_to_a_choice_opens_with_it(browser, training):
    path, _ = training
    assert browser.open(path, "#v=tanh_0.tmp_0").texts("#chosen h2") == ["tanh_0.tmp_0"]
    assert browser.open(path, "#i=2").texts("#chosen h2") == ["2 tanh"]


@needs_browser
@pytest.mark.parametrize(
    "fragment", ["", "#", "#v=nothing", "#i=100000", "#i=-1", "#x", "#v=%E0%A4%A"]
)
def test_an_address_that_names_nothing_chooses_nothing(browser, training, fragment):
    path, _ = training
    found = browser.open(path, fragment)
    assert found.texts("#chosen h2") == ["Nothing is chosen"] and found.problems == []
    assert len(found.numbers("#slowest")) == 8


@needs_browser
def test_clicks_choose_everywhere(browser, training):
    path, facts = training
    found = browser.open(path)

    def chosen(text):
        return found.becomes("document.querySelector('#chosen h2').textContent", text)

    def title(i):
        return f"{i} {facts['operators'][facts['instructions'][i]['operator']]['type']}"

    found.click("#graph [data-i='3'] rect")
    assert chosen(title(3))
    found.click("#streams .item[data-n='5']")
    assert chosen(title(5))
    longest = max(range(len(facts["spans"])), key=lambda n: facts["spans"][n][3])
    found.click(f"#timeline .item[data-n='{longest}']")
    assert chosen(title(facts["spans"][longest][0]))
    largest = max(range(len(facts["buffers"])), key=lambda n: facts["buffers"][n]["size"])
    found.click(f"#memory .item[data-n='{largest}']")
    assert chosen(facts["variables"][facts["buffers"][largest]["variables"][0]]["name"])
    found.click("#program .op a.v")
    name = found.texts("#program .op a.v")[0]
    assert chosen(name) and found.value("location.hash") == f"#v={name}"
    found.click("#chosen button")
    assert chosen("Nothing is chosen") and found.value("location.hash") == ""
    assert found.problems == []


@needs_browser
def test_keys_choose_stretch_and_let_go(browser, training):
    path, facts = training
    found = browser.open(path)

    def address(text):
        return found.becomes("location.hash", text)

    found.value("document.querySelector('#timeline .chart').focus()")
    found.press("ArrowRight")
    assert address("#i=0")
    found.press("ArrowRight")
    assert address("#i=1")
    shown = "Math.round(1e6 * (charts[0].to - charts[0].from) / charts[0].axis.end)"
    found.press("+", "+")
    assert found.becomes(shown, 500_000)
    found.press("0", "0")
    assert found.becomes(shown, 1_000_000)
    found.value("document.querySelector('#graph .drawing').focus()")
    after = next(e["after"] for e in facts["edges"] if e["before"] == 1)
    found.press("ArrowDown")
    assert address(f"#i={after}")
    found.press("Escape")
    assert address("")
    found.press("/", "/")
    assert found.becomes("document.activeElement.id", "find")
    for word, fragment in (("#4", "#i=4"), ("LINEAR_0.W", "#v=linear_0.w_0")):
        found.value(f"at('find').value = '{word}', at('search').requestSubmit()")
        assert address(fragment)
    assert found.problems == []


@needs_browser
def test_a_kind_of_edge_can_be_left_out(browser, training):
    path, _ = training
    found = browser.open(path)
    shown = (
        "[...document.querySelectorAll('#graph g > path.WAR')]"
        ".filter(e => getComputedStyle(e).display !== 'none').length"
    )
    assert found.value(shown) > 0
    labels = "[...document.querySelectorAll('#graph label')]"
    found.value(f"{labels}.find(e => /WAR/.test(e.textContent)).click()")
    assert found.value(shown) == 0


@needs_browser
def test_dark_and_light_follow_the_reader(browser, training):
    path, _ = training
    paper = "getComputedStyle(document.body).backgroundColor"
    light = browser.open(path, prefers_color_scheme="light").value(paper)
    dark = browser.open(path, prefers_color_scheme="dark").value(paper)
    assert light == "rgb(255, 255, 255)" and dark == "rgb(20, 23, 27)"


@needs_browser
def test_a_narrow_screen_needs_no_sideways_scrolling(browser, training):
    path, _ = training
    found = browser.open(path, "#i=2")
    found.ask(
        "Emulation.setDeviceMetricsOverride",
        width=390,
        height=800,
        deviceScaleFactor=1,
        mobile=False,
    )
    assert found.value("document.documentElement.scrollWidth") <= 390


@needs_browser
def test_a_page_can_be_printed(browser, training):
    path, _ = training
    printed = base64.b64decode(browser.open(path).ask("Page.printToPDF")["data"])
    assert printed.startswith(b"%PDF") and len(printed) > 50_000


@needs_browser
def test_loops_and_empty_programs_are_drawn(browser, tmp_path):
    path, facts = written(looped(), tmp_path / "loop.html")
    found = browser.open(path)
    assert found.problems == [] and len(found.texts("#program .listing")) == 2
    inner = next(v for v in facts["variables"] if v["block"] == 1)
    found.value(f"location.hash = 'v={inner['key']}', show()")
    assert found.texts("#chosen h2") == [inner["name"]] and found.texts("#inside span")
    case = Case(paddle.static.Program(), {}, [])
    found = browser.open(written(case, tmp_path / "empty.html")[0])
    assert found.problems == [] and "no instructions" in found.texts("#graph")[0]


@needs_browser
def test_five_hundred_instructions_make_a_small_page(browser, tmp_path):
    path, facts = written(wide(8, 62), tmp_path / "wide.html")
    assert len(facts["instructions"]) == 8 * 62 + 1 and path.stat().st_size < 600_000
    found = browser.open(path)
    assert found.problems == [] and len(found.numbers("#graph svg")) == 497
