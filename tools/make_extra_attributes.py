"""Write scull/files/data/extra_attributes.json: attributes Paddle saves and scull does not use.

Read from tests/data/reference/op_records.json and op_protos.json, which the harvest scripts made.
"""

import json
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "scull" / "files" / "data" / "extra_attributes.json"
REFERENCE = ROOT / "tests" / "data" / "reference"
KINDS = {bool: "BOOLEAN", int: "INT", float: "FLOAT", str: "STRING"}
LISTS = {bool: "BOOLEANS", int: "INTS", float: "FLOATS", str: "STRINGS"}


def kind_of(value):
    """The wire kind of a default that has none noted."""
    if isinstance(value, list):
        return LISTS[type(value[0])] if value else "STRINGS"
    return KINDS[type(value)]


def text():
    """The table, an operator a line."""
    protos = json.loads((REFERENCE / "op_protos.json").read_text())
    table = {
        name: {
            a: [kind_of(v), v] for a, v in sorted(entry.get("undeclared_attributes", {}).items())
        }
        for name, entry in sorted(protos.items())
        if isinstance(entry, dict) and not name.endswith("_grad")
    }
    lines = [f"{json.dumps(n)}: {json.dumps(t, sort_keys=True)}" for n, t in table.items() if t]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    TARGET.write_text(text())
