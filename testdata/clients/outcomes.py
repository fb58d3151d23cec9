"""A plugin of pytest that appends the outcome of each test to the file that $OUTCOMES names, a line
of JSON at its beginning and a line at its end, and leaves out the tests that the file says are
known. For run.py."""

import json
import os

with open(os.environ["OUTCOMES"]) as file:
    KNOWN = {json.loads(line)["known"] for line in file}
reports = []


def write(**event):
    with open(os.environ["OUTCOMES"], "a") as file:
        print(json.dumps(event), file=file)


def reason(report):
    """The reason why a test failed or was skipped, in a line."""
    text = report.longrepr
    if isinstance(text, tuple):  # of a skip: file, line, reason
        text = text[2].removeprefix("Skipped: ")
    elif crash := getattr(text, "reprcrash", None):
        text = crash.message
    lines = str(text or getattr(report, "wasxfail", "")).strip().splitlines()
    return lines[0][:200] if lines else ""


def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if item.nodeid not in KNOWN]


def pytest_collectreport(report):
    if report.outcome != "passed" and report.nodeid not in KNOWN:
        write(test=report.nodeid, outcome=report.outcome, message=reason(report))


def pytest_runtest_logstart(nodeid):
    reports.clear()
    write(begin=nodeid)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        reports.append(report)


def pytest_runtest_logfinish(nodeid):
    """A test fails if any part of it does, and is skipped if all of it is."""
    worst = next((r for r in reports if r.outcome == "failed"), None) or next((r for r in reports if r.outcome == "passed"), None)
    worst = worst or next(iter(reports), None)
    passed = worst is None or worst.outcome == "passed"
    write(test=nodeid, outcome="passed" if passed else worst.outcome, message="" if passed else reason(worst))
