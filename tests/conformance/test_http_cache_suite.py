"""The response cache as a proxy, held to the public suite of HTTP caches: the npm package http-cache-tests.

KATANA_CACHE_TESTS names the unpacked package, with node-fetch installed in it; tools/matrix cache-tests does both. The
proxy is tests/end_to_end/http_cache_proxy.cpp.
"""
import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))
from program_process import Program, built  # noqa: E402  (its folder is not this one)
from server_process import environment, free_port  # noqa: E402

FOLDER = os.environ.get("KATANA_CACHE_TESTS")
pytestmark = pytest.mark.skipif(not FOLDER, reason="KATANA_CACHE_TESTS is not set: tools/matrix cache-tests does it")
RUNNER = pathlib.Path(__file__).with_name("http_cache_suite.mjs")

# Required tests that fail, each with what keeps it from passing.
SENDS_NO_CONDITIONS = "the cache asks a handler, which is given no condition: it validates nothing"
SENDS_ITS_OWN_DATE = "the server writes Date itself, so that Expires counts from the time here"
FAILURES = {
    "cc-resp-must-revalidate-stale": SENDS_NO_CONDITIONS,
    "conditional-etag-vary-headers": SENDS_NO_CONDITIONS,
    "304-lm-use-stored-Test-Header": SENDS_NO_CONDITIONS,
    "other-date-update": SENDS_ITS_OWN_DATE,
    "freshness-expires-old-date": SENDS_ITS_OWN_DATE,
    "freshness-expires-age-fast-date": SENDS_ITS_OWN_DATE,
    "headers-store-Transfer-Encoding": "the client refuses a reply with an unknown transfer coding",
    "headers-store-Content-Range": "a 200 with Content-Range is not cached: it may be a part",
    "headers-store-Set-Cookie": "a reply with Set-Cookie is not cached, unless keep_set_cookie says so",
    "age-parse-prefix": "an Age that is a list is no age: the other tests of lists ask for that",
}


@pytest.fixture(name="report", scope="module")
def fixture_report():
    """The result of each test, by its id."""
    port = free_port()
    variables = {**environment(), "npm_config_port": str(port), "npm_config_protocol": "http",
                 "npm_config_pidfile": "/dev/null"}
    with subprocess.Popen(["node", "server/server.mjs"], cwd=FOLDER, env=variables, stdout=subprocess.PIPE,
                          text=True) as origin:
        try:
            assert origin.stdout.readline().startswith("Listening on"), "the origin did not start"
            with Proxy(port) as proxy:
                done = subprocess.run(["node", "--no-warnings", str(RUNNER), FOLDER, proxy.url()], text=True,
                                      stdout=subprocess.PIPE, timeout=400, check=True)
        finally:
            origin.kill()
    return json.loads(done.stdout)


class Proxy(Program):
    """A running http_cache_proxy in front of 127.0.0.1:`origin`."""

    def __init__(self, origin):
        command = [built("http_cache_proxy"), "--port", "0", "--set", f"origin=http://127.0.0.1:{origin}",
                   "--set", "http.drain_notice=0s", "--set", "log.levels=warn"]
        self._start("http_cache_proxy", command, shared=True, env=environment())

    def stop(self):
        """End it by SIGTERM."""
        self.process.terminate()
        assert self.process.wait(30) == 0


def came_of(report, name):
    """Whether a test passed, and if not, whether a test that it depends on failed."""
    test = report[name]
    if test["result"] is True:
        return "passed"
    needed = [report.get(each) for each in test["needs"]]
    return "failed" if all(each and each["result"] is True for each in needed) else "depends"


def test_every_required_test_passes_but_those_that_the_mapping_decides(report):
    """The guide has the same figures: docs/guides/http-caching.md."""
    required = {name: came_of(report, name) for name, test in report.items() if test["kind"] == "required"}
    failed = {name: report[name]["result"] for name, outcome in required.items() if outcome == "failed"}
    assert set(failed) == set(FAILURES), failed
    held_up = {report[name]["suite"] for name, outcome in required.items() if outcome == "depends"}
    assert held_up <= {"update304", "stale", "partial"}, held_up
    counts = {outcome: list(required.values()).count(outcome) for outcome in ("passed", "failed", "depends")}
    print(f"cache-tests: {counts['passed']} of {len(required)} required tests passed, {counts['failed']} failed, "
          f"{counts['depends']} depend on what is not offered")


# SPDX-License-Identifier: Apache-2.0
