#!/usr/bin/python3
"""Tests of tools/conformance: for every mistake a small tree that it refuses, and one that it accepts."""

import importlib.machinery
import importlib.util
import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("conformance", str(Path(__file__).parent / "conformance"))
conformance = importlib.util.module_from_spec(importlib.util.spec_from_loader("conformance", LOADER))
LOADER.exec_module(conformance)

HEAD = 'title = "RFC 1: Rules"\nabout = "What it is."\norder = 1\n'
RULE = '[[rule]]\nid = "1-1"\nlevel = "MUST"\nbinds = "server"\nsentence = "Answers."\n'
TESTED = RULE + 'tests = ["Suite.it_answers"]\n'
TREE = {
    "katana/a_test.cpp": "TEST(Suite, it_answers) {}\n",
    "katana/a.cases.md": "### A case\n",
    "tests/conformance/h1corpus.json": '{"cases": [{"name": "host-two"}]}',
    "tests/conformance/h2spec_cases.txt": "# comment\nhttp2/6.1/1 Sends a frame\n",
}


class ConformanceTest(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)

    def findings(self, rules, allowed=0, page=True):
        """The findings for a tree with this file of rules."""
        files = {**TREE, "tests/conformance/rules/RFC1.toml": HEAD + rules,
                 conformance.RATCHET: json.dumps({"RFC1": allowed})}
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text)
        (self.root / conformance.PAGE).parent.mkdir(parents=True, exist_ok=True)
        if page:
            try:
                (self.root / conformance.PAGE).write_text(conformance.page_of(conformance.read(self.root)))
            except KeyError:
                pass  # a rule lacks a key
        return list(conformance.mistakes(self.root, sorted(files)))

    def refuses(self, words, rules, **how):
        found = self.findings(rules, **how)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])
        self.assertRegex(found[0], r"^[^:]+:1: .+\. .+\.$")

    def test_a_rule_that_differs_has_tests_and_counts_for_the_ratchet(self):
        differs = 'differs = "It refuses."\n'
        self.assertEqual(self.findings(TESTED + differs, allowed=1), [])
        self.refuses("1 rules that are missing or differ", TESTED + differs)
        self.refuses("has no tests", RULE + 'not_applicable = "It is none."\n' + differs, allowed=1)
        self.assertIn("| differs: It refuses. (`Suite.it_answers`) |",
                      conformance.page_of([("RFC1.toml", conformance.tomllib.loads(HEAD + TESTED + differs))]))

    def test_a_rule_with_a_test_of_any_kind_is_accepted(self):
        for test in ("Suite.it_answers", "a_test.cpp::it_answers", "case A case", "corpus host-*",
                     "h2spec http2/6.1/1"):
            with self.subTest(test=test):
                self.assertEqual(self.findings(RULE + f'tests = ["{test}"]\n'), [])

    def test_a_test_that_does_not_exist_is_refused(self):
        for test in ("Suite.it_does_not", "b_test.cpp::it_answers", "case Another", "corpus path-*",
                     "h2spec http2/6.1/2", "h2spec", ""):
            with self.subTest(test=test):
                self.refuses("does not exist", RULE + f'tests = ["{test}"]\n')

    def test_a_rule_has_exactly_one_outcome(self):
        words = "none, or several"
        self.refuses(words, RULE)
        self.refuses(words, RULE + "tests = []\n")
        self.refuses(words, RULE + 'not_applicable = ""\n')
        self.refuses(words, TESTED + 'not_applicable = "it is no proxy"\n')
        self.assertEqual(self.findings(RULE + 'not_applicable = "it is no proxy"\n'), [])

    def test_a_rule_that_stands_twice_is_refused(self):
        self.refuses("same id", TESTED + TESTED.replace("Answers", "Replies"))
        second = TESTED.replace("1-1", "1-2")
        self.refuses("same sentence", TESTED + second)
        self.assertEqual(self.findings(TESTED + second.replace("server", "client")), [])

    def test_a_sentence_that_is_too_long_and_an_unknown_level_or_key_are_refused(self):
        self.refuses("201 characters", TESTED.replace("Answers.", "x" * 201))
        self.assertEqual(self.findings(TESTED.replace("Answers.", "x" * 200)), [])
        self.refuses("the level", TESTED.replace('"MUST"', '"SHOULD"'))
        self.refuses("unknown key", TESTED + 'note = "x"\n')
        self.refuses("has no binds", TESTED.replace('binds = "server"\n', ""))

    def test_the_count_of_missing_rules_may_only_fall(self):
        missing = RULE + 'missing = "no test shows it"\n'
        self.refuses("are allowed", missing)
        self.assertEqual(self.findings(missing, allowed=1), [])
        self.refuses("has only 0", TESTED, allowed=1)

    def test_a_page_that_is_out_of_date_is_refused(self):
        self.refuses("out of date", TESTED, page=False)
        self.assertEqual(self.findings(TESTED), [])
        self.refuses("out of date", TESTED.replace("Answers", "Replies"), page=False)

    def test_the_page_has_a_row_for_each_rule_and_counts_them(self):
        self.findings(TESTED + RULE.replace("1-1", "1-2").replace("Answers", "A|b") + 'missing = "none"\n', allowed=1)
        page = (self.root / conformance.PAGE).read_text()
        self.assertIn("| [RFC 1: Rules](#rfc-1-rules) | 2 | 1 | 0 | 0 | 1 |", page)
        self.assertIn("| 1-1 | server | MUST | Answers. | `Suite.it_answers` |", page)
        self.assertIn("| 1-2 | server | MUST | A\\|b. | **open**: none |", page)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
