"""Scenarios: their requests to the tool and to the server, and their refusals."""
import http.server
import json
import threading

import pytest
from pydantic import ValidationError

from katana_lab import LabError, scenario
from katana_lab.models import Experiment, Load, Scenario, cases_of

DOCUMENT = {"paths": {"/x": {"get": {"operationId": "getX"}, "post": {"operationId": "addX"}},
                      "/y": {"parameters": []}}}


def katana(folder, lines):
    """A tool that writes these lines, and its arguments into a file."""
    path = folder / "katana"
    text = "".join(f"{json.dumps(each)}\n" for each in lines)
    path.write_text(f"#!/bin/sh\necho \"$@\" >> {folder}/asked\ncat <<'END'\n{text}END\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def server():
    """A server of the document; `seen` has the posted values, `status` is that of the reply to them."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self, status, text):
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def do_GET(self):  # noqa: N802  (the library's name)
            self.answer(200, json.dumps(DOCUMENT).encode())

        def do_POST(self):  # noqa: N802
            made.seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.answer(made.status, b"no")

        def log_message(self, *arguments):
            pass

    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.seen, made.status = [], 201
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def drawn(number):
    return {"operation": "addX", "method": "POST", "target": "/x", "fields": {}, "content": json.dumps({"n": number})}


def test_a_load_without_a_scenario_has_no_flags(tmp_path):
    assert scenario.prepare(None, 1, tmp_path / "katana", tmp_path) == []


def test_requests_are_drawn_by_weight_and_the_server_is_filled(tmp_path, server):
    tool = katana(tmp_path, [drawn(0), drawn(1)])
    wanted = Scenario(weights={"getX": 3}, ranges={"id": "1-9"}, requests=7, seed=5, statuses="2xx",
                      fill={"operation": "addX", "count": 2, "unique": {"mail": "m{number}"}})
    flags = scenario.prepare(wanted, server.server_address[1], tool, tmp_path)
    assert server.seen == [{"n": 0, "mail": "m0"}, {"n": 1, "mail": "m1"}]
    assert flags == ["--requests-file", str(tmp_path / "requests.jsonl"), "--expect-status", "2xx"]
    assert len((tmp_path / "requests.jsonl").read_text().splitlines()) == 2
    filled, asked = (tmp_path / "asked").read_text().splitlines()
    assert "--count 2 --seed 5 --weight getX=0 --weight addX=1 --range id=1-9" in filled
    assert "--count 7 --seed 5 --weight getX=3 --weight addX=0 --range id=1-9" in asked


def test_what_cannot_be_asked_is_named(tmp_path, server):
    port = server.server_address[1]
    with pytest.raises(LabError, match="no operation 'getY'; it has getX, addX"):
        scenario.prepare(Scenario(weights={"getY": 1}), port, katana(tmp_path, []), tmp_path)
    with pytest.raises(LabError, match="katana_tool"):
        scenario.prepare(Scenario(weights={"getX": 1}, seed=2), port, tmp_path / "nothing", tmp_path)
    server.status = 422
    with pytest.raises(LabError, match="addX answers 422"):
        scenario.prepare(Scenario(weights={"getX": 1}, fill={"operation": "addX"}), port,
                         katana(tmp_path, [drawn(0)]), tmp_path)


def test_a_scenario_excludes_a_request_and_variants_change_parts_of_it():
    with pytest.raises(ValidationError, match="a scenario says what is sent"):
        Load(method="POST", scenario={"weights": {"a": 1}})
    experiment = Experiment.model_validate({
        "title": "T", "question": "Q?", "load": {"scenario": {"weights": {"a": 1}, "seed": 9}},
        "variants": {"one": {"server": "x"}, "two": {"server": "x", "load": {"scenario": {"weights": {"b": 2}}}}}})
    one, two = (case.load.scenario for case in cases_of(experiment, quick=True))
    assert (one.weights, two.weights, two.seed) == ({"a": 1}, {"b": 2}, 9)

# SPDX-License-Identifier: Apache-2.0
