"""katana openapi generate, diff, lint and mock, as a user calls them."""
import contextlib
import json
import os
import re
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

PROGRAM = Path(os.environ.get("KATANA_BUILD", "build/release")).resolve() / "katana"
SECONDS_MAX = 30
ITEMS = """openapi: 3.1.0
info: {title: Items, version: "1", description: Things., contact: {name: Us}}
servers: [{url: "https://example.com"}]
tags: [{name: items}]
paths:
  /items/{id}:
    get:
      operationId: getItem
      description: One of them.
      tags: [items]
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses:
        '200':
          description: It.
          content:
            application/json:
              schema: {type: object, required: [id, count], properties: {id: {type: integer}, count: {type: integer}}}
        '404': {description: None., content: {application/problem+json: {example: {title: gone}}}}
"""


def run(*arguments, cwd):
    return subprocess.run([PROGRAM, "openapi", *arguments], cwd=cwd, capture_output=True, text=True,
                          timeout=SECONDS_MAX, check=False)


@pytest.fixture(name="folder")
def folder_with_items(tmp_path):
    (tmp_path / "items.yaml").write_text(ITEMS)
    return tmp_path


def test_a_name_that_is_no_namespace_is_refused_and_nothing_is_written(folder):
    for name in ("", "2fast", "a b", "shop::", "x{} int main()"):
        refused = run("generate", "items.yaml", "--out", "api", "--namespace", name, cwd=folder)
        assert refused.returncode == 2 and "no name of a namespace" in refused.stderr, refused
    assert not (folder / "api").exists()
    made = run("generate", "items.yaml", "--out", "api", "--namespace", "shop::v2", cwd=folder)
    assert made.returncode == 0 and "namespace shop::v2 {" in (folder / "api/items_api.hpp").read_text(), made


def test_warnings_that_are_not_shown_are_counted(folder):
    members = "".join(f"        p{number}: {{type: string, pattern: '(a|b){number}'}}\n" for number in range(103))
    (folder / "many.yaml").write_text(ITEMS + "components:\n  schemas:\n    Many:\n      type: object\n"
                                      "      properties:\n" + members)
    made = run("generate", "many.yaml", "--out", "api", cwd=folder)
    assert made.returncode == 0 and made.stdout.endswith("; 103 warnings\n"), made
    assert made.stderr.count("is not checked by its type") == 100
    assert made.stderr.endswith("3 more warnings are not shown\n"), made.stderr[-200:]
    assert run("generate", "many.yaml", "--out", "api", "--quiet", cwd=folder).stderr == ""


def test_diff_names_what_breaks_and_its_status_says_so(folder):
    same = run("diff", "items.yaml", "items.yaml", cwd=folder)
    assert same.returncode == 0 and same.stdout == "0 changes: 0 breaking, 0 warnings, 0 others\n", same
    (folder / "new.yaml").write_text(ITEMS.replace("count: {type: integer}", "count: {type: string}"))
    done = run("diff", "items.yaml", "new.yaml", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.startswith("breaking: GET /items/{id}: response-property-type-changed: 200 application/json "
                                  "/count: the type changed from integer to string [new.yaml:17:"), done.stdout
    listed = json.loads(run("diff", "--json", "items.yaml", "new.yaml", cwd=folder).stdout)
    assert [each["rule"] for each in listed] == ["response-property-type-changed"]


def test_diff_warns_and_fails_where_that_is_asked_for(folder):
    parameter = "{name: q, in: query, schema: {type: string}}"
    (folder / "more.yaml").write_text(ITEMS.replace("parameters: [", f"parameters: [{parameter}, "))
    assert run("diff", "more.yaml", "items.yaml", cwd=folder).returncode == 0
    assert run("diff", "--fail-on", "warning", "more.yaml", "items.yaml", cwd=folder).returncode == 1
    added = run("diff", "--all", "items.yaml", "more.yaml", cwd=folder)
    assert added.returncode == 0 and "info: GET /items/{id}: new-optional-request-parameter" in added.stdout


def test_a_description_that_is_none_is_said_with_its_place_and_status_2(folder):
    (folder / "none.yaml").write_text("openapi: 3.1.0\ninfo: {title: x}\npaths: {}\n")
    done = run("diff", "items.yaml", "none.yaml", cwd=folder)
    assert done.returncode == 2 and re.match(r"katana openapi diff: none\.yaml:2:\d+: #/info", done.stderr), done.stderr
    assert run("mock", "none.yaml", cwd=folder).returncode == 2
    assert run("diff", "items.yaml", "missing.yaml", cwd=folder).returncode == 2


def test_lint_finds_nothing_in_a_good_description_and_names_what_is_missing(folder):
    good = run("lint", "items.yaml", cwd=folder)
    assert good.returncode == 0 and good.stdout == "0 findings: 0 errors, 0 warnings\n", good.stdout
    (folder / "bare.yaml").write_text(ITEMS.replace("      description: One of them.\n", ""))
    done = run("lint", "bare.yaml", cwd=folder)
    assert done.returncode == 1
    said = r"bare\.yaml:8:\d+: warning: operation-description: #/paths/~1items~1\{id\}/get: "
    assert re.match(said, done.stdout), done
    assert run("lint", "--without", "operation-description", "bare.yaml", cwd=folder).returncode == 0
    assert run("lint", "--fail-on", "error", "bare.yaml", cwd=folder).returncode == 0
    assert "operation-tags" in run("lint", "--rules", cwd=folder).stdout


def test_requests_are_drawn_by_weight_and_the_same_for_a_seed(folder):
    done = run("requests", "items.yaml", "--count", "20", "--range", "id=5-6", cwd=folder)
    drawn = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(drawn) == 20
    assert {each["target"] for each in drawn} == {"/items/5", "/items/6"}
    assert {each["operation"] for each in drawn} == {"getItem"}
    assert run("requests", "items.yaml", "--count", "20", "--range", "id=5-6", cwd=folder).stdout == done.stdout
    wrong = run("requests", "items.yaml", "--weight", "getItems=1", cwd=folder)
    assert wrong.returncode == 2 and "'getItems=1': give an operation" in wrong.stderr
    assert "give PARAMETER=FIRST-LAST" in run("requests", "items.yaml", "--range", "id=7", cwd=folder).stderr


@contextlib.contextmanager
def mock(folder, *flags):
    process = subprocess.Popen([PROGRAM, "openapi", "mock", "items.yaml", "--port", "0", *flags], cwd=folder,
                               stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        yield re.search(r"'Items', 1 operations, on (http://\S+)", line)[1]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS_MAX) == 0
        process.stdout.close()


def ask(url, **fields):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=fields), timeout=SECONDS_MAX) as reply:
            return reply.status, reply.read().decode(), reply.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), error.headers


def test_mock_answers_by_the_description(folder):
    with mock(folder, "--cors", "https://app.example") as url:
        status, text, headers = ask(f"{url}/items/7", Origin="https://app.example")
        assert status == 200 and set(json.loads(text)) == {"id", "count"}
        assert headers["Access-Control-Allow-Origin"] == "https://app.example"
        assert ask(f"{url}/items/7")[1] == text
        assert ask(f"{url}/items/7", Prefer="code=404")[:2] == (404, '{"title":"gone"}')
        assert ask(f"{url}/items/seven")[0] == 400
        assert ask(f"{url}/other")[0] == 404
    with mock(folder, "--seed", "2") as url:
        assert ask(f"{url}/items/7")[1] != text

# SPDX-License-Identifier: Apache-2.0
