"""The runner of the micro-benchmarks: its input, output, files and refusals. Programs here are small scripts."""

import contextlib
import copy
import io
import json
import tempfile
import unittest
from pathlib import Path

from katana_lab import commands
from katana_lab import micro as run

GOOD = {
    "system": "demo",
    "rows": [
        {"question": "add", "subject": "katana", "value": 1.25, "low": 1.0, "high": 1.5, "unit": "ns",
         "better": "lower", "instructions": 12.0},
        {"question": "add", "subject": "a|rival", "value": 12345.6, "low": 12000, "high": 13000, "unit": "ns",
         "better": "lower", "instructions": None},
    ],
    "targets": [{"text": "add at most 2 ns", "value": 1.25, "limit": 2, "direction": "at most", "met": True}],
}


class CheckResult(unittest.TestCase):
    def assert_refused(self, change, culprit):
        """A good result with one change is refused, and the message names the culprit."""
        result = copy.deepcopy(GOOD)
        change(result)
        with self.assertRaises(run.BadResult) as raised:
            run.check_result(result, "demo")
        self.assertIn(culprit, str(raised.exception))

    def test_a_good_result_passes(self):
        run.check_result(GOOD, "demo")

    def test_the_result_of_another_system_is_refused(self):
        self.assert_refused(lambda result: result.update(system="other"), "'demo'")

    def test_nothing_measured_is_refused(self):
        self.assert_refused(lambda result: result.update(rows=[]), "nothing was measured")

    def test_a_missing_list_is_refused(self):
        self.assert_refused(lambda result: result.pop("targets"), "'targets'")

    def test_a_figure_that_is_no_number_is_refused(self):
        for value in ("1", None, True, float("nan")):
            self.assert_refused(lambda result, value=value: result["rows"][1].update(value=value), "rows[1]: 'value'")

    def test_a_median_outside_of_its_range_is_refused(self):
        self.assert_refused(lambda result: result["rows"][0].update(value=9.0), "rows[0]")

    def test_an_unknown_direction_is_refused(self):
        self.assert_refused(lambda result: result["rows"][0].update(better="larger"), "'better'")
        self.assert_refused(lambda result: result["targets"][0].update(direction="about"), "'direction'")

    def test_a_target_that_claims_to_be_met_is_recalculated(self):
        self.assert_refused(lambda result: result["targets"][0].update(value=2.5), "'met'")
        self.assert_refused(lambda result: result["targets"][0].update(direction="at least"), "'met'")


class Table(unittest.TestCase):
    def test_has_a_line_for_each_row_and_target_and_marks_the_best(self):
        text = run.table(GOOD)
        self.assertIn("## demo\n", text)
        self.assertIn("| add | katana | **1.25** | 1.00 to 1.50 | ns | 12.0 |\n", text)
        self.assertIn("|  | a\\|rival | 12,300 | 12,000 to 13,000 | ns | n/a |\n", text)
        self.assertIn("| add at most 2 ns | 1.25 | at most 2.00 | met |\n", text)

    def test_marks_the_largest_where_higher_is_better_and_a_missed_target(self):
        result = copy.deepcopy(GOOD)
        for row in result["rows"]:
            row["better"] = "higher"
        result["targets"][0].update(value=3, met=False)
        text = run.table(result)
        self.assertIn("| **12,300** |", text)
        self.assertIn("| 1.25 |", text)
        self.assertIn("| **missed** |", text)

    def test_figures_have_three_significant_digits(self):
        for value, text in ((0, "0"), (0.00123456, "0.00123"), (9.999, "10.00"), (-4.567, "-4.57"), (99999, "100,000")):
            self.assertEqual(run.figure(value), text)


class Main(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="run-test-")
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        self.out = self.build / "results/micro.json"

    def program(self, name, body):
        path = self.build / f"micro_{name}"
        path.write_text("#!/bin/sh\n" + body)
        path.chmod(0o755)

    def good_program(self, name):
        """Write a program that writes a good result, and its arguments beside it."""
        result = json.dumps({**GOOD, "system": name})
        self.program(name, f"echo \"$@\" > {self.build}/{name}.arguments\nfor file; do :; done\n"
                           f"cat > \"$file\" <<'END'\n{result}\nEND\n")

    def main(self, *arguments):
        """(exit status, standard output, standard error)"""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = commands.run("micro", ["--build", str(self.build), "--out", str(self.out), *arguments],
                                  "lab/micro/run.py")
        return status, out.getvalue(), err.getvalue()

    def test_runs_every_program_and_writes_one_file(self):
        self.good_program("one")
        self.good_program("two")
        status, out, _ = self.main("--quick", "--only", "add")
        self.assertEqual(status, 0)
        self.assertLess(out.index("## one"), out.index("## two"))
        written = json.loads(self.out.read_text())
        self.assertEqual([result["system"] for result in written["systems"]], ["one", "two"])
        self.assertEqual(written["failed"], [])
        self.assertTrue({"cpu", "commit", "date"} <= set(written["machine"]))
        self.assertTrue((self.build / "one.arguments").read_text().startswith("--quick --only add --json "))

    def test_the_document_has_the_tables_and_says_how_and_where_they_were_made(self):
        self.good_program("one")
        document = self.build / "micro.md"
        status, out, _ = self.main("--quick", "--markdown", str(document))
        self.assertEqual(status, 0)
        text = document.read_text()
        self.assertIn("lab/micro/run.py", text)
        self.assertIn("--quick", text.splitlines()[2])
        self.assertIn(out[out.index("## one"):].strip(), text)

    def test_runs_only_what_is_named(self):
        self.good_program("one")
        self.good_program("two")
        status, out, _ = self.main("two")
        self.assertEqual(status, 0)
        self.assertNotIn("## one", out)

    def test_a_program_that_fails_is_named_and_the_others_still_run(self):
        self.program("bad", "exit 3\n")
        self.good_program("good")
        status, out, err = self.main()
        self.assertEqual(status, 1)
        self.assertIn("micro_bad: exit status 3", err)
        self.assertIn("## good", out)
        self.assertEqual(json.loads(self.out.read_text())["failed"], ["bad"])

    def test_a_program_that_writes_nothing_or_no_json_failed(self):
        self.program("silent", "exit 0\n")
        self.program("wrong", "for file; do :; done\necho nothing > \"$file\"\n")
        status, _, err = self.main()
        self.assertEqual(status, 1)
        self.assertIn("micro_silent: its JSON cannot be read", err)
        self.assertIn("micro_wrong: its JSON cannot be read", err)

    def test_a_missing_program_is_wrong_usage_that_says_how_to_build_it(self):
        status, _, err = self.main()
        self.assertEqual(status, 2)
        self.assertIn("there is none", err)
        self.good_program("one")
        status, _, err = self.main("three")
        self.assertEqual(status, 2)
        self.assertIn("micro_three", err)
        self.assertIn("there are: one", err)
        self.assertIn("--target katana_micro_programs", err)

# SPDX-License-Identifier: Apache-2.0
