"""How many cases each law was tried on, printed at the end of a run."""

from collections import Counter

OUTCOMES = ("passed", "failed", "error")


def pytest_terminal_summary(terminalreporter):
    counts = Counter()
    for outcome in OUTCOMES:
        for report in terminalreporter.stats.get(outcome, ()):
            path, _, name = report.nodeid.partition("::")
            if path.endswith("ops/test_operator.py") and name.endswith("]"):
                counts[name.partition("[")[0]] += 1
    if counts:
        terminalreporter.section("cases of operators")
        for name, count in counts.items():
            terminalreporter.line(f"{count:>6} {name}")
