"""How many cases each law was tried on, printed at the end of a run."""

from collections import Counter

OUTCOMES = ("passed", "failed", "error")
CASES = "cases"  # the property of a test that says how many it tried


def pytest_terminal_summary(terminalreporter):
    counts = Counter()
    for outcome in OUTCOMES:
        for report in terminalreporter.stats.get(outcome, ()):
            properties = dict(report.user_properties)
            if CASES in properties and report.when == "call":
                counts[report.nodeid.partition("::")[2].partition("[")[0]] += properties[CASES]
    if counts:
        terminalreporter.section("cases of operators")
        for name, count in counts.items():
            terminalreporter.line(f"{count:>6} {name}")
