"""What came too late for the report of its test stands in pytest's JUnit file all the same: as one
more test case of that test's name, or of OUTSIDE."""

import pytest
from _pytest.junitxml import LogXML

OUTSIDE = "safecopy::outside of tests"


def report_of(nodeid, text):
    nodeid = nodeid or OUTSIDE
    return pytest.TestReport(nodeid=nodeid, location=(nodeid.split("::")[0], None, nodeid),
                             keywords={}, outcome="failed", longrepr=text, when="teardown")


def add(config, late):
    """`late` has (nodeid, text). Before the file is written, which is when the session finishes."""
    texts = {}
    for nodeid, text in late:
        texts.setdefault(nodeid, []).append(text)
    for junit in [one for one in config.pluginmanager.get_plugins() if isinstance(one, LogXML)]:
        for nodeid, found in texts.items():
            junit.pytest_runtest_logreport(report_of(nodeid, "\n".join(found)))
