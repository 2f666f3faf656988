"""Files for operators: rules, their tests, runbooks and the dashboard agree with one another and with the metrics."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPERATE = ROOT / "docs/operate"
RULES = OPERATE / "alert-rules.yaml"
TESTS = OPERATE / "alert-rules.test.yaml"
ADDED_BY_SCRAPE = {"job", "instance"}
MADE_BY_SCRAPE = {"up"}
RUNBOOK_LINES_MAX = 8


def promtool(*arguments):
    path = shutil.which("promtool")
    assert path, "promtool is missing: make setup (or apt-get install prometheus)"
    return subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)


def reference():
    """name of a series -> its labels, by docs/reference/metrics.md."""
    result = {}
    page = (ROOT / "docs/reference/metrics.md").read_text()
    for name, kind, labels in re.findall(r"^\| `(\w+)` \| (\w+) \| ([^|]*)\|", page, re.M):
        known = {label for label in re.split(r"[, ]+", labels) if label} | ADDED_BY_SCRAPE
        if kind == "histogram":
            result |= {f"{name}_bucket": known | {"le"}, f"{name}_sum": known, f"{name}_count": known}
        else:
            result[name] = known
    return result


def groups():
    return yaml.safe_load(RULES.read_text())["groups"]


def rules(kind):
    return [rule for group in groups() for rule in group["rules"] if kind in rule]


def alerts():
    return {rule["alert"]: rule for rule in rules("alert")}


def recorded():
    """name of a recorded series -> its labels, which begin its name."""
    names = [rule["record"] for rule in rules("record")]
    return {name: set() if name.startswith("slo:") else set(name.split(":")[0].split("_")) for name in names}


def series_of(expression):
    """(name, labels of its selector) of each series that an expression names."""
    plain = re.sub(r'"(?:[^"\\]|\\.)*"', '""', expression)
    plain = re.sub(r"\bby \([^)]*\)", "", plain)
    for name, selector in re.findall(r"([a-zA-Z_][\w:]*)(\{[^}]*\})?", re.sub(r"\[[^\]]*\]", "", plain)):
        if selector or ":" in name or name.startswith(("katana_", "process_")):
            yield name, set(re.findall(r"(\w+)\s*(?:=~|!=|!~|=)", selector))


def mistakes_of(expression):
    """A message for each series and label of an expression that the reference has not."""
    known = reference() | recorded() | {name: ADDED_BY_SCRAPE for name in MADE_BY_SCRAPE}
    have = set()
    for name, labels in series_of(expression):
        if name not in known:
            yield f"no series {name}"
            continue
        have |= known[name]
        yield from (f"{name} has no label {label}" for label in labels - known[name])
    for labels in re.findall(r"\bby \(([^)]*)\)", expression):
        yield from (f"nothing has the label {label}" for label in set(re.split(r"[, ]+", labels)) - have)


def dashboard():
    return json.loads((OPERATE / "grafana-dashboard.json").read_text())


def panels():
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def headings(page):
    """anchor of a heading -> its section."""
    parts = re.split(r"^## (.+)$", page.read_text(), flags=re.M)[1:]
    return {re.sub(r"[^\w-]", "", title.lower().replace(" ", "-")): text
            for title, text in zip(parts[::2], parts[1::2], strict=True)}


def test_promtool_accepts_the_rules():
    checked = promtool("check", "rules", RULES)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_tests_of_the_rules_pass():
    tested = promtool("test", "rules", TESTS)
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_a_rule_names_only_series_and_labels_of_the_reference():
    found = {rule.get("alert") or rule["record"]: list(mistakes_of(rule["expr"]))
             for rule in rules("expr")}
    assert not {name: mistakes for name, mistakes in found.items() if mistakes}


@pytest.mark.parametrize("expression, mistakes", [
    ("rate(katana_http_route_requests_total{status=\"5xx\"}[5m])", []),
    ("rate(katana_http_route_requests_total{code=\"5xx\"}[5m])",
     ["katana_http_route_requests_total has no label code"]),
    ("rate(katana_http_route_request_total[5m])", ["no series katana_http_route_request_total"]),
    ("rate(katana_http_route_duration_seconds[5m])", ["no series katana_http_route_duration_seconds"]),
    ("sum by (job, pool) (up{job=\"notes\"})", ["nothing has the label pool"]),
    ("job:http_errors:ratio_rate7m > 1", ["no series job:http_errors:ratio_rate7m"])])
def test_a_wrong_name_is_found(expression, mistakes):
    assert list(mistakes_of(expression)) == mistakes


def test_the_bucket_of_the_objective_exists():
    """A histogram with three bits of precision counts 500 ms in an eighth of its power of two; `le` is its end."""
    value, bits = 500_000_000, 3
    width = 1 << (value.bit_length() - 1 - bits)
    upper = (value // width + 1) * width - 1
    text = RULES.read_text() + (OPERATE / "grafana-dashboard.json").read_text().replace("\\", "")
    assert set(re.findall(r'\ble="([^"]+)"', text)) == {f"{upper / 1e9:.9f}"}


@pytest.mark.parametrize("name", alerts())
def test_an_alert_has_its_texts_and_a_runbook(name):
    rule = alerts()[name]
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}
    assert all(rule["annotations"].values())
    page, anchor = rule["annotations"]["runbook_url"].split("#")
    section = headings(OPERATE / page)[anchor]
    assert anchor == name.lower()
    assert len(section.strip().splitlines()) <= RUNBOOK_LINES_MAX


@pytest.mark.parametrize("name", alerts())
def test_the_texts_of_an_alert_use_labels_that_it_has(name):
    rule = alerts()[name]
    known = reference() | recorded() | {series: ADDED_BY_SCRAPE for series in MADE_BY_SCRAPE}
    has = set().union(*(known[series] for series, _ in series_of(rule["expr"])))
    if kept := re.findall(r"\bby \(([^)]*)\)", rule["expr"]):
        has = set(re.split(r"[, ]+", kept[0]))
    has |= set(re.findall(r'\]\)\),\s*"(\w+)"', rule["expr"]))  # label_replace()
    assert set(re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"]))) <= has


def test_every_runbook_is_of_an_alert():
    assert set(headings(OPERATE / "runbooks.md")) - {"budgets"} == {name.lower() for name in alerts()}


@pytest.mark.parametrize("name", alerts())
def test_an_alert_has_a_case_that_fires_and_one_that_is_silent(name):
    cases = [case for test in yaml.safe_load(TESTS.read_text())["tests"] for case in test["promql_expr_test"]
             if f'alertname="{name}"' in case["expr"]]
    assert any(case["exp_samples"] for case in cases), "no case in which it fires"
    assert any(not case["exp_samples"] for case in cases), "no case in which it is silent"


def test_the_dashboard_is_what_its_tool_makes():
    made = subprocess.run([sys.executable, ROOT / "tools/dashboard", "--check"], capture_output=True, text=True,
                          timeout=60, check=False)
    assert made.returncode == 0, made.stderr


def test_a_panel_has_its_texts_and_names_only_series_of_the_reference():
    titles = [panel["title"] for panel in panels()]
    assert len(titles) == len(set(titles))
    for panel in panels():
        assert panel["title"] and panel["description"] and panel["fieldConfig"]["defaults"]["unit"], panel
        assert panel["targets"], panel["title"]
        for target in panel["targets"]:
            assert not list(mistakes_of(target["expr"])), panel["title"]
            assert target["legendFormat"], panel["title"]


def test_panels_do_not_overlap():
    taken = set()
    for panel in dashboard()["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells


def test_promtool_accepts_every_expression_of_the_dashboard(tmp_path):
    expressions = [target["expr"].replace("$__rate_interval", "5m")
                   for panel in panels() for target in panel["targets"]]
    path = tmp_path / "panels.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": [
        {"record": f"panel:{index}", "expr": expression} for index, expression in enumerate(expressions)]}]}))
    checked = promtool("check", "rules", path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_panel_that_a_page_names_exists():
    titles = {panel["title"] for panel in panels()}
    for page in ("runbooks.md", "find-a-slow-request.md"):
        text = (OPERATE / page).read_text()
        named = {title for part in re.findall(r"[Pp]anels? ((?:\"[^\"]+\"(?:, | and )?)+)", text)
                 for title in re.findall(r'"([^"]+)"', part)}
        assert named and named <= titles, named - titles


def test_a_setting_that_a_page_names_exists():
    known = (ROOT / "docs/reference/settings.md").read_text()
    for page in ("runbooks.md", "find-a-slow-request.md", "logs.md"):
        for setting in re.findall(r"`((?:http|log|requests|monitor|database|telemetry)\.[a-z_.]+)[`:]",
                                  (OPERATE / page).read_text()):
            assert re.search(rf"^ *#? *{setting.split('.')[-1]}:", known, re.M), f"{page}: {setting}"

# SPDX-License-Identifier: Apache-2.0
