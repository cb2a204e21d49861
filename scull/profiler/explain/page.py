"""The page itself: facts, style and script in one file of HTML that needs nothing else."""

import base64
import hashlib
import json
from html import escape
from pathlib import Path
from string import Template

from scull.profiler.explain.facts import Facts

FOLDER = Path(__file__).parent
SCRIPTS = ("base.js", "chart.js", "graph.js", "inspector.js", "code.js", "page.js")


def page(facts: Facts, plan: str) -> str:
    """The page that shows `facts`, and the text of the plan."""
    script = "".join(read(name) for name in SCRIPTS)
    style = read("page.css")
    policy = f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}"
    return Template(read("page.html")).substitute(
        policy=f"{policy}; base-uri 'none'; form-action 'none'",
        title=escape(facts["title"]),
        style=style,
        script=script,
        facts=data(facts),
        plan=escape(plan),
    )


def read(name: str) -> str:
    """One of the files beside this one."""
    return (FOLDER / name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """What lets a browser run this text, and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def data(facts: Facts) -> str:
    """JSON in which nothing can end the element it stands in."""
    text = json.dumps(facts, separators=(",", ":"), allow_nan=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
