"""The report: its stable text, its independence of any network, and what a browser makes of it."""
import json
import os
import re
import shutil
import subprocess

import pytest

from katana_lab import analysis, cli, compare, plots, report, results, statistics
from workbench import FIXTURES, make_run

GOLDEN = FIXTURES / "report.md"
COSTS = {"floor": [10.0, 10.2, 9.9, 10.1, 10.0], "ours": [12.0, 12.3, 11.9, 12.2, 12.1],
         "same": [10.1, 10.15, 9.95, 10.1, 10.05]}


@pytest.fixture
def run(monkeypatch):
    """A run of three servers, one of them 20 % dearer."""
    monkeypatch.setattr(statistics, "RESAMPLES", 500)
    return make_run(**COSTS)


def test_the_text_is_what_it_was(run):
    _, text = report.render(run)
    if os.environ.get("KATANA_UPDATE"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8"), "KATANA_UPDATE=1 writes the new text; read the difference"


def test_it_says_what_is_dearer_and_what_is_equivalent(run):
    _, text = report.render(run)
    assert re.search(r"- ours has 2\d % more CPU per request than floor: 1\.2\d \[1\.\d\d, 1\.\d\d\]", text)
    assert "- same and floor are equivalent in CPU per request" in text
    assert "governor: powersave" in text and "no counters" in text


def test_every_experiment_has_an_answer_even_where_nothing_is_compared(run):
    alone = make_run(ours=[10.0, 10.2, 10.1]).experiments[0]
    assert report.section(alone, []).sentences == ["ours: CPU per request, µs: 10.1 (n = 3)."]
    for visit in alone.cases[0].visits:
        visit.void = "the generator slept"
    assert report.section(alone, []).sentences == ["ours: no round counts: the generator slept."]
    page, _ = report.render(run)
    glance = page.split('id="glance"')[1].split("<section")[0]
    assert glance.count("<tr>") == 1 + len(run.experiments)
    definition = alone.definition.model_copy(update={"kind": "machine"})
    machine = alone.model_copy(update={"cases": [], "definition": definition})
    assert report.section(machine, run.doctor).sentences == ["Figures are falsified by: governor."]


def test_the_claim_stands_beside_what_was_measured(run):
    page, text = report.render(run)
    assert "| cost | a paper | 20 µs | 10.0 µs | 0.500 | 5 |" in text and "Why they differ: Another machine." in text
    assert "measured / claimed" in page


def test_stages_and_findings_stand_beside_their_claims():
    result = make_run(ours=[1.0, 1.1]).experiments[0]
    case = result.cases[0]
    case.calls = [results.CallRow(name=name, per_request=1, errors_per_request=0, us_per_call=us)
                  for name, us in (("accept4", 30), ("read", 10), ("write", 60), ("epoll_wait", 500))]
    claims = [{"source": "s", "what": "accept", "value": 15, "unit": "%", "case": "ours", "stage": "accept"},
              {"source": "s", "what": "limit", "value": 20000, "unit": "", "finding": "descriptors"}]
    data = {**result.definition.model_dump(), "claims": claims}
    result.definition = type(result.definition).model_validate(data)
    rows = analysis.claim_rows(result, [results.Finding(what="descriptors", state="good", value="1024")])
    assert [(row.found.text, row.found.ratio) for row in rows] == [("30.0 %", 2.0), ("1024", None)]


def test_a_gain_and_the_calls_of_a_request_stand_beside_their_claims():
    result = make_run(ours=[10.0, 10.1, 9.9], theirs=[12.0, 12.1, 11.9]).experiments[0]
    result.cases[0].calls = [results.CallRow(name=name, per_request=count, errors_per_request=0, us_per_call=1)
                             for name, count in (("accept4", 1), ("close", 1.01), ("epoll_wait", 0.5))]
    gain = {"source": "s", "what": "w", "value": 15, "unit": "%", "case": "ours", "against": "theirs"}
    claims = [{**gain, "figure": "cpu_us_per_request"},
              {**gain, "figure": "rate_per_s", "unit": "times", "value": 2.4},
              {**gain, "case": "theirs", "against": "ours", "figure": "cpu_us_per_request"},
              {"source": "s", "what": "w", "value": 4, "unit": "calls", "case": "ours", "call": "working"},
              {"source": "s", "what": "w", "value": 1, "unit": "calls", "case": "ours", "call": "epoll_ctl"},
              {"source": "s", "what": "w", "value": 1, "unit": "calls", "case": "theirs", "call": "epoll_ctl"}]
    result.definition = type(result.definition).model_validate({**result.definition.model_dump(), "claims": claims})
    rows = [row.found for row in analysis.claim_rows(result)]
    assert rows[0].text.startswith("+20.0 % [+") and rows[0].text.endswith("], by CPU per request")
    assert rows[1].text.startswith("1.20 times [1.") and rows[1].ratio == pytest.approx(0.5, rel=1e-3)
    assert rows[2].text.startswith("-16.7 % [-") and rows[2].n == 3 and rows[2].ratio is None
    assert [row.text for row in rows[3:]] == ["2.01 calls", "0 calls", "n/a"] and rows[5].n == 0


def test_every_caption_says_on_how_many_it_stands(run):
    result = run.experiments[0]
    result.cases[0].calls_n = 4321
    captions = [one["layout"]["title"]["text"] for one in report.section(result, []).plots]
    assert len(captions) >= 5
    for caption in captions:
        assert "n = " in caption or "first round" in caption, caption
    assert any("n = 4,321 requests" in caption for caption in captions)


def test_outliers_are_reported_with_and_without():
    page, text = report.render(make_run(ours=[10.0, 10.1, 10.2, 10.0, 99.0]))
    assert re.search(r"ours, CPU per request: outliers \(Tukey\) 99\.0; mean 27\.9 \[.*\] with them, "
                     r"mean and median 10\.1, 10\.1 without, n = 5\.", text)
    assert "rounds for a mean within ± 5 %" in page


def test_only_what_is_best_beyond_its_interval_is_marked():
    def marked(**costs):
        rows = report.section(make_run(**costs).experiments[0], []).rows
        return [row.case.name for row in rows if row.cells[0].best]

    assert marked(**COSTS) == [] and marked(a=[10.0, 10.1, 10.2], b=[12.0, 12.1, 12.2]) == ["a"]
    assert marked(a=[10.0, 14.0, 10.2], b=[12.0, 12.1, 12.2]) == [] and marked(a=[1.0], b=[2.0]) == []


def test_what_the_server_counted_and_the_functions_of_the_program_are_in_the_page(run):
    run.experiments[0].cases[0].visits[0].metrics = {"katana_http_requests_total": 12345.0}
    page, text = report.render(run)
    assert "katana_http_requests_total" in page and "12,345" in page
    assert "| floor: … of the program, n = 40 | share |" in text and "| `parse` | 25.0 % |" in text


def test_the_page_asks_no_network_for_anything(run):
    page, _ = report.render(run)
    outside = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?:https?:)?//""", outside)
    assert "@import" not in page.split("</style>")[0] and "url(" not in page.split("</style>")[0]


def test_latency_of_void_rounds_is_drawn_as_such_and_only_where_there_is_no_other(run):
    result = run.experiments[0]
    for visit in result.cases[0].visits:
        visit.void = "the generator slept"
    assert len(plots.latency(result)["data"]) == 2
    for case in result.cases[1:]:
        for visit in case.visits:
            visit.void = "the generator slept"
    drawn = plots.latency(result)
    assert "every round is void" in drawn["layout"]["title"]["text"] and len(drawn["data"]) == 3
    assert all(trace["opacity"] < 0.5 for trace in drawn["data"])


def test_names_cannot_break_out_of_the_page():
    hostile = "</script><b>x"
    experiment = make_run(ours=[1.0, 1.1]).experiments[0]
    experiment.cases[0].name = hostile
    experiment.cases[0].note = "<i>"
    page, _ = report.render(make_run(ours=[1.0]).model_copy(update={"experiments": [experiment]}))
    assert hostile not in page and "<i>" not in page


def test_void_visits_and_skipped_cases_are_told_and_not_counted(run):
    ours = run.experiments[0].cases[1]
    for visit in ours.visits[:2]:
        visit.void = "the generator slept"
        visit.figures["cpu_us_per_request"] = 999.0
    run.experiments[0].cases[2].visits = []
    run.experiments[0].cases[2].skipped = "no such server"
    _, text = report.render(run)
    assert "2 of 5 rounds are void: the generator slept" in text and "skipped: no such server" in text
    assert "999" not in text
    assert sorted(ours.by_round("cpu_us_per_request")) == [2, 3, 4]
    assert re.search(r"^\| ours \| CPU per request \| 1\.2\d\d \[.*\] \| 3 \|", text, re.M)


def test_a_run_of_nothing_is_a_report_too(run):
    empty = run.model_copy(update={"experiments": [], "doctor": [], "unavailable": {}})
    page, text = report.render(empty)
    assert "0 visits" in text and "<html" in page


def test_results_are_read_back_as_they_were_written(run, tmp_path):
    results.write(run, tmp_path / "results.json")
    again = results.read(tmp_path)
    assert report.render(again)[1] == report.render(run)[1]
    results.write(again, tmp_path / "again.json")
    assert results.read(tmp_path / "again.json") == again
    assert cli.main(["report", str(tmp_path)]) == 0
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == report.render(run)[1]


def test_a_baseline_is_small_and_compares_as_the_whole_does(run, tmp_path):
    results.write(run, tmp_path / "whole.json")
    results.write(results.slim(run), tmp_path / "slim.json")
    visit = results.read(tmp_path / "slim.json").experiments[0].cases[0].visits[0]
    assert not visit.histogram and not visit.series.at_s and visit.figures["cpu_us_per_request"] == 10.0
    assert compare.read_samples(tmp_path / "slim.json") == compare.read_samples(tmp_path / "whole.json")


def test_a_key_that_is_no_longer_known_does_not_spoil_a_baseline(run, tmp_path):
    results.write(run, tmp_path / "old.json")
    data = json.loads((tmp_path / "old.json").read_text())
    experiment = data["katana_lab"]["experiments"][0]
    experiment["definition"]["mood"] = experiment["definition"]["load"]["colour"] = "blue"
    experiment["cases"][0]["visits"][0]["taste"] = 3
    (tmp_path / "old.json").write_text(json.dumps(data))
    assert results.read(tmp_path / "old.json").experiments[0].name == "cost"


def test_every_plot_of_the_run_is_drawn(run):
    result = run.experiments[0]
    for draw in (plots.latency, plots.cpu_split, plots.calls, plots.series):
        assert draw(result)["data"], draw.__name__
    assert plots.figure_plot(result, "cpu_us_per_request")["data"]
    assert plots.flame(result.cases[0])["data"][0]["type"] == "icicle"
    assert plots.flame(result.cases[1]) is None and plots.balance(result) is None


def browse(page, *flags):
    """The output of headless Chromium for a page without network."""
    return subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1440,2400",
         "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=20000", "--enable-logging=stderr", *flags,
         f"file://{page}#print"], capture_output=True, text=True, timeout=90, check=False)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A written report."""
    folder = tmp_path_factory.mktemp("report")
    report.write(make_run(**COSTS), folder)
    return folder / "report.html"


def test_a_browser_draws_every_plot_without_an_error(page):
    assert shutil.which("chromium"), "chromium is missing: tools/setup installs it"
    shown = browse(page, "--dump-dom")
    wanted = page.read_text(encoding="utf-8").count('<div class="plot"')
    assert wanted >= 6
    assert len(re.findall(r'<div class="plot[^"]*js-plotly-plot', shown.stdout)) == wanted, shown.stderr[-2000:]
    assert "CONSOLE" not in shown.stderr and "Uncaught" not in shown.stderr


@pytest.mark.parametrize("scheme, light", [("1", True), ("0", False)])
def test_a_browser_shows_it_in_light_and_in_dark(page, tmp_path, scheme, light):
    picture = tmp_path / "page.ppm.png"
    browse(page, f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={picture}")
    darkness = corner_of(picture)
    assert (darkness > 200) if light else (darkness < 60)


def corner_of(picture):
    """The red of the first pixel of a PNG without interlacing (PNG, third edition, §9: filters of the first row)."""
    import struct
    import zlib
    data = picture.read_bytes()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    first = zlib.decompressobj().decompress(packed, 8)
    return first[1]                              # with any filter: the first pixel has no neighbours

# SPDX-License-Identifier: Apache-2.0
