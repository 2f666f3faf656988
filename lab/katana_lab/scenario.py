"""Loads of a scenario: requests of a server's own OpenAPI document, drawn by `katana openapi requests`.

Operations come by their weights, parameters and contents by their schemas, from a seed: the same document and scenario
give the same requests. The requests that fill in data are sent first, to be read later.
"""
from __future__ import annotations

import http.client
import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from katana_lab import LabError
from katana_lab.models import Scenario

_drawn: dict[tuple[str, str], str] = {}           # by scenario and document: rounds ask the same


def draw_lines(katana: Path, document: Path, count: int, seed: int, weights: Mapping[str, float],
               ranges: Mapping[str, str]) -> str:
    """The requests, a JSON object a line."""
    flags = [flag for name, weight in weights.items() for flag in ("--weight", f"{name}={weight:g}")]
    flags += [flag for name, span in ranges.items() for flag in ("--range", f"{name}={span}")]
    try:
        done = subprocess.run([katana, "openapi", "requests", document, "--count", str(count), "--seed", str(seed),
                               *flags], capture_output=True, text=True, check=False)
    except OSError as error:
        raise LabError(f"{katana}: {error.strerror}; build the target katana_tool") from None
    if done.returncode != 0:
        raise LabError(done.stderr.strip())
    return done.stdout


def draw(katana: Path, document: Path, count: int, seed: int, weights: Mapping[str, float],
         ranges: Mapping[str, str]) -> list[dict]:
    """The same as objects: operation, method, target, fields, content."""
    return [json.loads(line) for line in draw_lines(katana, document, count, seed, weights, ranges).splitlines()]


def operations_of(document: str) -> list[str]:
    """Every operationId of a document."""
    return [each["operationId"] for path in json.loads(document)["paths"].values() for each in path.values()
            if isinstance(each, dict) and "operationId" in each]


def only(weights: Mapping[str, float], operations: Sequence[str]) -> dict[str, float]:
    """Weights of all operations: 0 for those that are not named. LabError for a name that the document has not."""
    for name in weights:
        if name not in operations:
            raise LabError(f"the document has no operation '{name}'; it has {', '.join(operations)}")
    return {name: weights.get(name, 0) for name in operations}


def prepare(scenario: Scenario | None, port: int, katana: Path, folder: Path) -> list[str]:
    """Fill the server and draw the requests into the folder; return the flags of katana-load. None: no flags."""
    if scenario is None:
        return []
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        status, document = _ask(link, "GET", scenario.document)
        if status != 200:
            raise LabError(f"{scenario.document} answers {status}")
        file = folder / "openapi.json"
        file.write_text(document, encoding="utf-8")
        operations = operations_of(document)
        _fill(scenario, link, katana, file, operations)
        key = (scenario.model_dump_json(), document)
        if key not in _drawn:
            _drawn[key] = draw_lines(katana, file, scenario.requests, scenario.seed,
                                     only(scenario.weights, operations), scenario.ranges)
    except OSError as error:
        raise LabError(f"the server did not answer before the load: {error}") from None
    finally:
        link.close()
    requests = folder / "requests.jsonl"
    requests.write_text(_drawn[key], encoding="utf-8")
    return ["--requests-file", str(requests), "--expect-status", scenario.statuses]


def _ask(link: http.client.HTTPConnection, method: str, target: str, fields: Mapping[str, str] | None = None,
         content: str = "") -> tuple[int, str]:
    link.request(method, target, content or None, dict(fields or {}))
    reply = link.getresponse()
    return reply.status, reply.read().decode()


def _fill(scenario: Scenario, link: http.client.HTTPConnection, katana: Path, document: Path,
          operations: Sequence[str]) -> None:
    fill = scenario.fill
    if fill is None:
        return
    for number, each in enumerate(draw(katana, document, fill.count, scenario.seed,
                                       only({fill.operation: 1}, operations), scenario.ranges)):
        content = each["content"]
        if fill.unique:
            unique = {name: text.replace("{number}", str(number)) for name, text in fill.unique.items()}
            content = json.dumps({**json.loads(content), **unique})
        status, reply = _ask(link, each["method"], each["target"], each["fields"], content)
        if not 200 <= status < 300:
            raise LabError(f"{fill.operation} answers {status} before the load: {reply[:200]}")

# SPDX-License-Identifier: Apache-2.0
