"""Every 500 leaves its cause: one record with route, request and trace, rate-limited, and not told to the client."""
import re
import time

import pytest

from application_process import Application
from raw_client import eventually

TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.mark.parametrize("path, words", [
    ("/fail/throw", "the handler threw: std::runtime_error: cannot load the user: no row 7"),
    ("/fail/statement", "the handler returned an error: .*no such table: nowhere.*SELECT id, name FROM nowhere"),
    ("/fail/field", "the reply's field 'X-Note' is invalid"),
    ("/misuse/pool", r"a database call was awaited on a thread without a reactor \(.*thread work/\d\): await it in"),
    ("/misuse/wait", r"a Future was waited for on a reactor.*\(on route GET /misuse/wait, .*co_await Pool::run"),
])
def test_a_500_is_one_record_with_its_cause_route_request_and_trace(tmp_path, path, words):
    """Before, there was the access record alone; misuse ended the process."""
    with Application(tmp_path) as app:
        status, body, _ = app.get(path, **{"X-Request-Id": "order-7", "traceparent": f"00-{TRACE}-b7ad6b7169203331-01"})
        assert status == 500 and "nowhere" not in body and "row 7" not in body, body
        record = app.wait_for_log(f"GET {path}: .*{words}")
        assert "order-7" in record and TRACE in record and "4711" not in record, record
        assert app.get("/greeting")[0] == 200
        assert app.end() == 0


def test_a_job_that_throws_on_a_pool_is_one_record(tmp_path):
    """No code waits for the job."""
    with Application(tmp_path) as app:
        assert app.get("/fail/job")[0] == 202
        app.wait_for_log("pool 'work': a job threw: std::runtime_error: the job broke")
        assert app.end() == 0


def test_records_of_one_route_are_limited_and_the_next_counts_those_left_out(tmp_path):
    """40 failures leave 2 records in a period, and the first of the next period says how many there were.

    On a busy machine the 40 take several periods."""
    flags = ("--set", "requests.failure_records_max=2", "--set", "requests.failure_period=2s")
    with Application(tmp_path, *flags) as app:
        def records():
            return re.findall(r"the handler threw.*", app.stderr())

        def accounted():
            return len(records()) + sum(int(count) for count in re.findall(r"left_out=(\d+)", "\n".join(records())))

        begin = time.monotonic()
        for _ in range(40):
            assert app.get("/fail/throw")[0] == 500
        periods = 1 + (time.monotonic() - begin) // 2
        time.sleep(2.1)     # a period is real time
        assert app.get("/fail/throw")[0] == 500
        assert eventually(lambda: accounted() == 41), records()
        assert "left_out=" in records()[-1] and len(records()) <= 2 * periods + 1, records()
        assert app.end() == 0


def test_a_conflict_names_neither_table_nor_column_unless_that_is_configured(tmp_path):
    """development: true shows causes, to browsers as a page."""
    with Application(tmp_path) as app:
        status, body, _ = app.get("/fail/taken")
        assert status == 409 and "users" not in body and "constraint is violated" in body, body
        assert app.end() == 0
    with Application(tmp_path, "--set", "development=true") as app:
        status, body, _ = app.get("/fail/taken")
        assert status == 409 and "users.id" in body, body
        status, page, fields = app.get("/fail/throw", Accept="text/html,application/xhtml+xml,*/*;q=0.8")
        assert status == 500 and fields["content-type"].startswith("text/html"), page
        assert "the handler threw" in page and "GET /fail/throw" in page and fields["x-request-id"] in page, page
        assert fields["content-security-policy"].startswith("default-src 'none'"), fields
        assert app.end() == 0

# SPDX-License-Identifier: Apache-2.0
