"""Comparisons: regressions, equivalence, and undecided figures. Both kinds of files."""
import argparse
import json
import runpy
import subprocess
import sys

import pytest

from katana_lab import ROOT, UsageError, cli, compare, gate, results
from workbench import make_run

SCRIPT = ROOT / "scripts/compare_benchmarks.py"


def google(path, aggregates=False, **times):
    """A Google Benchmark file: name -> its times in ns, one for each repetition."""
    rows = []
    for name, values in times.items():
        base = {"name": name, "run_name": name, "time_unit": "ns", "repetitions": len(values)}
        if aggregates:
            mean = sum(values) / len(values)
            deviation = (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5
            rows += [{**base, "name": f"{name}_{key}", "run_type": "aggregate", "aggregate_name": key,
                      "real_time": value, "cpu_time": value} for key, value in
                     (("mean", mean), ("median", sorted(values)[len(values) // 2]), ("stddev", deviation))]
        else:
            rows += [{**base, "run_type": "iteration", "repetition_index": index, "real_time": value, "cpu_time": value,
                      "iterations": 1000} for index, value in enumerate(values)]
    path.write_text(json.dumps({"context": {}, "benchmarks": rows}))
    return path


def verdicts(baseline, current, threshold=1.05):
    """name -> verdict"""
    found = compare.compare(compare.read_samples(baseline), compare.read_samples(current), threshold)
    return {row.name: row.verdict for row in found.rows}


BEFORE = [100.0, 101, 99, 100.5, 99.5]


@pytest.mark.parametrize("after, verdict", [
    ([130, 131, 129, 130.5, 129.5], "regression"),
    ([70, 71, 69, 70.5, 69.5], "improvement"),
    ([100.2, 101.1, 99.3, 100.4, 99.6], "equivalent"),
    ([105, 106, 104, 105.5, 104.5], "undecided"),              # at the threshold: the interval holds it
    ([80, 160, 110, 95, 140], "undecided")])                   # too noisy to tell
def test_a_verdict_needs_the_whole_interval_beyond_the_threshold(tmp_path, after, verdict):
    assert verdicts(google(tmp_path / "a", x=BEFORE), google(tmp_path / "b", x=after)) == {"x": verdict}


@pytest.mark.parametrize("factor, verdict", [(1.3, "regression"), (1.0, "equivalent"), (1.06, "undecided"),
                                             (0.8, "improvement")])
def test_files_that_kept_only_aggregates_have_an_interval_from_the_deviation(tmp_path, factor, verdict):
    a = google(tmp_path / "a", aggregates=True, x=BEFORE)
    b = google(tmp_path / "b", aggregates=True, x=[factor * value for value in BEFORE])
    assert verdicts(a, b) == {"x": verdict}


def test_one_run_without_repetitions_has_an_assumed_interval(tmp_path):
    a = google(tmp_path / "a", doubled=[100.0], noisy=[100.0])
    b = google(tmp_path / "b", doubled=[200.0], noisy=[108.0])
    assert verdicts(a, b) == {"doubled": "regression", "noisy": "undecided"}
    rows = compare.compare(compare.read_samples(a), compare.read_samples(b), 1.05).rows
    assert "± 10 % assumed" in rows[0].sentence


def test_units_are_made_the_same(tmp_path):
    a, b = google(tmp_path / "a", x=BEFORE), tmp_path / "b"
    data = json.loads(a.read_text())
    for row in data["benchmarks"]:
        row["time_unit"], row["real_time"] = "us", row["real_time"] / 1000
    b.write_text(json.dumps(data))
    assert verdicts(a, b) == {"x": "equivalent"}


def test_the_laboratorys_own_results_are_compared_by_their_gates(tmp_path):
    for name, costs in (("a", BEFORE), ("b", [1.4 * value for value in BEFORE])):
        results.write(make_run(ours=costs, floor=BEFORE), tmp_path / name / "results.json")
    found = compare.compare(compare.read_samples(tmp_path / "a"), compare.read_samples(tmp_path / "b"), 1.05)
    by_name = {(row.name, row.metric): row.verdict for row in found.rows}
    assert by_name[("cost/ours", "cpu_us_per_request")] == "regression"
    assert by_name[("cost/floor", "cpu_us_per_request")] == "equivalent"
    assert by_name[("cost/ours", "calls_per_request")] == "equivalent"


def test_our_results_are_a_google_benchmark_file_too(tmp_path):
    results.write(make_run(ours=BEFORE), tmp_path / "results.json")
    data = json.loads((tmp_path / "results.json").read_text())
    rows = data["benchmarks"]
    assert [row["name"] for row in rows] == ["cost/ours"] * 5
    assert rows[0]["cpu_time"] == BEFORE[0] and rows[0]["time_unit"] == "us" and rows[0]["repetitions"] == 5
    del data["katana_lab"]
    (tmp_path / "plain.json").write_text(json.dumps(data))
    assert verdicts(tmp_path / "plain.json", tmp_path / "plain.json") == {"cost/ours": "equivalent"}


def test_what_stands_in_one_file_only_is_named(tmp_path):
    found = compare.compare(compare.read_samples(google(tmp_path / "a", x=BEFORE, old=BEFORE)),
                            compare.read_samples(google(tmp_path / "b", x=BEFORE, fresh=BEFORE)), 1.05)
    text = "\n".join(compare.lines(found))
    assert "only in the baseline: old" in text and "only in current: fresh" in text


@pytest.mark.parametrize("text, culprit", [
    ("{", "no JSON"), ("[]", "it is no object"), ("{}", "it has no list 'benchmarks'"),
    ('{"benchmarks": [{}]}', "benchmarks[0]: it has no name"),
    ('{"benchmarks": [{"name": "x"}]}', "'real_time' is None"),
    ('{"benchmarks": [{"name": "x", "real_time": 1, "time_unit": "h"}]}', "time_unit is 'h'"),
    ('{"katana_lab": {"schema_version": 99}}', "its schema is 99"),
    ('{"katana_lab": {"schema_version": 1}}', "machine")])
def test_a_file_that_is_neither_kind_is_refused(tmp_path, text, culprit):
    path = tmp_path / "wrong.json"
    path.write_text(text)
    with pytest.raises(UsageError) as raised:
        compare.read_samples(path)
    assert "wrong.json" in str(raised.value) and culprit in str(raised.value)


def test_files_without_anything_in_common_are_no_comparison(tmp_path):
    with pytest.raises(UsageError, match="no benchmark in common"):
        verdicts(google(tmp_path / "a", x=BEFORE), google(tmp_path / "b", y=BEFORE))


def script(*arguments):
    """(exit status, standard output, standard error) of the script of the contract."""
    run = subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True, check=False)
    return run.returncode, run.stdout, run.stderr


def test_the_script_names_the_regression_with_both_figures_and_the_interval(tmp_path, capsys):
    a, b = google(tmp_path / "a", slow=BEFORE), google(tmp_path / "b", slow=[1.5 * value for value in BEFORE])
    status, out, _ = script("--baseline", a, "--current", b, "--threshold", "1.05")
    assert status == 1
    line = out.splitlines()[0]
    for part in ("REGRESSION: slow real_time", "150.0 ns", "100.0 ns", "ratio 1.500 [1.4", "n = 5", "threshold 1.05"):
        assert part in line
    flags = argparse.Namespace(baseline=a, current=a, threshold=1.05, metric="real_time", all=False)
    assert gate.run(flags) == 0
    assert capsys.readouterr().out == ("1 figures compared at threshold 1.05: 0 regressions, 0 improvements, "
                                       "1 equivalent, 0 undecided\n")


def test_the_scripts_errors_are_one_line_and_status_2(tmp_path):
    status, _, err = script("--baseline", tmp_path / "none", "--current", tmp_path / "none")
    assert status == 2 and err.startswith("compare_benchmarks.py: ") and err.count("\n") == 1


@pytest.mark.parametrize("arguments, status", [
    (["--help"], 0), ([], 2), (["--baseline", "a", "--current", "b", "--x"], 2)])
def test_the_scripts_usage(arguments, status, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    assert ended.value.code == status and "usage" in "".join(capsys.readouterr())


def test_the_command_compares_folders_of_runs(tmp_path, capsys):
    results.write(make_run(ours=BEFORE), tmp_path / "a/results.json")
    results.write(make_run(ours=[2 * value for value in BEFORE]), tmp_path / "b/results.json")
    assert cli.main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 1
    assert "REGRESSION: cost/ours cpu_us_per_request" in capsys.readouterr().out
    assert cli.main(["compare", str(tmp_path / "b"), str(tmp_path / "a")]) == 0
    assert cli.main(["compare", str(tmp_path / "a"), str(tmp_path / "a"), "--threshold", "0.5"]) == 2


def test_the_baselines_of_the_repository_can_be_read():
    files = sorted((ROOT / "lab/baselines").glob("*.json"))
    assert files
    for path in files:
        assert compare.read_samples(path)

# SPDX-License-Identifier: Apache-2.0
