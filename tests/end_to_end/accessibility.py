"""axe-core in the page of a browser: what it finds that keeps people from reading or using the page."""
import json
import pathlib

import pytest


def serious_problems(browser):
    """A line for each problem of impact serious or critical."""
    package = pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    browser.value(pathlib.Path(package.__file__).with_name("axe.min.js").read_text(encoding="utf-8"))
    browser.value("window.found = null; axe.run(document, {resultTypes: ['violations']})"
                  ".then((result) => { window.found = result.violations; },"
                  " (error) => { window.found = String(error); });")
    found = json.loads(browser.eventually(lambda: browser.value("window.found && JSON.stringify(window.found)")))
    assert isinstance(found, list), found
    return [f"{each['id']}: {node['html'][:120]}" for each in found if each["impact"] in ("serious", "critical")
            for node in each["nodes"]]

# SPDX-License-Identifier: Apache-2.0
