"""`scull demo`: both modes learn the same, are saved and reloaded, and a page reports it."""

import io
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from scull.cli import main
from scull.cli.demo import accuracy_line, problems_of
from scull.cli.demo.bar import Bar
from scull.cli.demo.chart import Axis, columns, curves, digit
from scull.cli.demo.compare import Difference, compare
from scull.cli.demo.task import Fitted, Task, Trained
from scull.vision import Digits

ACCURACY = re.compile(r"test accuracy: (\d\.\d{3}) \(n=360, seed 0\)")
VOID = {"meta", "br"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What the whole demo printed, and its report."""
    folder = tmp_path_factory.mktemp("demo")
    path = folder / "report.html"
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", out)
        patch.setattr("sys.stderr", err)
        code = main(["demo", "--out", str(path)])
    assert [entry.name for entry in folder.iterdir()] == ["report.html"]
    return code, out.getvalue().splitlines(), err.getvalue(), path.read_text(encoding="utf-8")


def test_the_last_line_of_each_mode_is_its_accuracy_on_images_never_trained_on(demo):
    code, lines, errors, _ = demo
    assert (code, errors) == (0, "")
    found = [i for i, line in enumerate(lines) if ACCURACY.fullmatch(line)]
    static = next(i for i, line in enumerate(lines) if line.startswith("static"))
    assert found == [static - 1, len(lines) - 1]
    assert all(float(ACCURACY.fullmatch(lines[i]).group(1)) >= 0.97 for i in found)
    assert "never trained on" in lines[0]


def test_where_there_is_no_terminal_an_epoch_is_one_plain_line(demo):
    _, lines, _, _ = demo
    text = "\n".join(lines)
    assert "\x1b" not in text and "\r" not in text
    for mode in ("eager ", "static"):
        epochs = [line for line in lines if re.match(rf"{mode}  epoch +\d+/12  loss \d", line)]
        assert len(epochs) == 12


def test_the_report_needs_nothing_else_and_its_tags_are_closed(demo):
    *_, page = demo
    assert not re.search(r"\b(src|href)=|@import|url\(|<script|https?://", page)

    class Tags(HTMLParser):
        open: list[str]

        def handle_starttag(self, tag, attributes):
            self.open += [tag] * (tag not in VOID)

        def handle_startendtag(self, tag, attributes):
            pass

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

    tags = Tags()
    tags.open = []
    tags.feed(page)
    assert tags.open == []


def test_the_report_shows_curves_digits_the_program_and_the_plan(demo):
    *_, page = demo
    for mode in ("eager", "static"):
        lines = re.findall(rf'<polyline class="{mode}" points="([^"]*)"', page)
        assert [len(points.split()) for points in lines] == [50, 12 * 23]
    assert page.count('<table class="confusion">') in (1, 2)
    counts = [int(n) for n in re.findall(r'<td class="(?:right|wrong)"[^>]*>(\d+)<', page)]
    assert sum(counts) == 360 * page.count('<table class="confusion">')
    misread = sum(int(n) for n in re.findall(r"(\d+) misread", page))
    assert page.count("<figure>") == min(misread, 12) or misread > 12
    assert "conv2d(" in page and "batch_norm_grad" in page and "plan: " in page
    assert "$" not in page.partition("<pre>")[0]


def test_too_few_epochs_fail_with_the_mode_and_its_figure(tmp_path, capsys):
    path = tmp_path / "report.html"
    assert main(["demo", "--epochs", "1", "--out", str(path)]) == 1
    printed = capsys.readouterr()
    found = [ACCURACY.fullmatch(line) for line in printed.out.splitlines()]
    shown = [float(match.group(1)) for match in found if match]
    assert len(shown) == 2 and max(shown) < 0.97 and found[-1]
    for mode, figure in zip(("eager", "static"), shown, strict=True):
        text = re.search(
            rf"scull demo: {mode}: the test accuracy is ([\d.]+), below 0.97", printed.err
        )
        assert math.isclose(float(text.group(1)), figure, abs_tol=0.001)
    assert "the test accuracy is" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("argument", ["--epochs=0", "--epochs=-1", "--seed=x", "more"])
def test_a_wrong_argument_is_refused(argument, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["demo", argument])
    assert "usage: scull demo" in capsys.readouterr().err


def test_equal_curves_differ_by_nothing():
    assert compare([1.0, 0.5], [1.0, 0.5]) == Difference(0.0, None, None)


def test_curves_that_part_say_where_and_how_far():
    found = compare([1.0, 0.5, 0.25], [1.0, 0.50001, 0.3])
    assert (found.parted, found.values) == (2, (0.5, 0.50001))
    assert str(found) == "the losses part at step 2: 0.5 and 0.50001"


def test_a_loss_that_is_not_a_number_parts():
    assert compare([1.0, math.nan], [1.0, math.nan]).parted == 2


def test_only_the_first_50_steps_are_compared():
    assert compare([1.0] * 51, [1.0] * 50 + [2.0]).parted is None


def trained(logits, reloaded):
    """A mode that came to these logits."""
    return Trained("eager", Fitted([1.0], [0.1]), logits, reloaded, 0)


def test_a_reloaded_model_that_predicts_otherwise_is_a_problem():
    right = np.eye(10)[Digits("test").labels[:, 0]]
    same, other = trained(right, right), trained(right, right * 2)
    difference = Difference(0.0, None, None)
    assert list(problems_of([same, same], difference)) == []
    (problem,) = problems_of([same, other], difference)
    assert problem == "eager: the model that was saved and loaded again predicts otherwise"


def test_an_accuracy_is_not_rounded_up():
    right = np.eye(10)[Digits("test").labels[:, 0]]
    right[:11] = np.roll(right[:11], 1, axis=1)
    task = Task(0, 1, None)
    assert trained(right, right).accuracy == pytest.approx(0.96944, abs=1e-5)
    assert accuracy_line(trained(right, right), task) == "test accuracy: 0.969 (n=360, seed 0)"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


def drawn(stream, monkeypatch, **environment):
    """What a bar of three steps writes to `stream`."""
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    bar = Bar("eager", 3, stream)
    for _ in range(3):
        bar.step("loss 1")
    bar.close("loss 0.5")
    return stream.getvalue()


def test_on_a_terminal_the_bar_is_drawn_in_place_and_in_colour(monkeypatch):
    text = drawn(Terminal(), monkeypatch)
    assert text.count("\n") == 1 and text.endswith("\n") and text.startswith("\r")
    assert "3/3" in text and "\x1b[32m" in text


def test_no_color_is_honoured(monkeypatch):
    text = drawn(Terminal(), monkeypatch, NO_COLOR="1")
    assert "\r" in text and "\x1b[3" not in text and "━" in text


def test_a_dumb_terminal_and_a_file_get_one_line(monkeypatch):
    assert drawn(Terminal(), monkeypatch, TERM="dumb") == "eager  loss 0.5\n"
    assert drawn(io.StringIO(), monkeypatch) == "eager  loss 0.5\n"


def test_a_bar_uses_signs_its_stream_can_encode(monkeypatch):
    stream = Terminal()
    stream.encoding = "ascii"
    assert drawn(stream, monkeypatch, NO_COLOR="1").isascii()


def test_a_bar_fits_into_a_narrow_terminal(monkeypatch):
    text = drawn(Terminal(), monkeypatch, NO_COLOR="1", COLUMNS="30")
    lines = text.replace("\x1b[K", "").replace("\n", "").split("\r")
    assert max(map(len, lines)) < 30


def test_ticks_are_round_numbers_within_the_axis():
    assert Axis(0, 276, 0, 500).ticks() == [0, 50, 100, 150, 200, 250]
    assert Axis(0.03, 4.0, 0, 500, log=True).ticks() == pytest.approx([0.1, 1])
    assert Axis(0.9, 6.0, 0, 500, log=True).ticks() == pytest.approx([1, 2, 5])


def test_a_larger_value_stands_higher():
    axis = Axis(0.1, 10.0, 200, 0, log=True)
    assert [axis.at(value) for value in (0.1, 1.0, 10.0)] == [200, 100, 0]


def test_pictures_have_a_title_and_their_points():
    assert curves({"eager": [2.0, 1.0, 0.5]}, "loss").count(",") == 3
    text = columns([("conv2d", 2048), ("relu", 1024)], "bytes")
    assert "<title>0 conv2d: 2 KiB</title>" in text and text.count('class="column"') == 2
    picture = digit(np.eye(8, dtype=np.float32), "a <line>")
    assert picture.count('class="ink"') == 8 and "a &lt;line&gt;" in picture
