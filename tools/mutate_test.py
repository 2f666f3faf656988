#!/usr/bin/python3
"""The tests of tools/mutate and tools/mutants.py."""
import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
LOADER = importlib.machinery.SourceFileLoader("mutate", str(ROOT / "tools" / "mutate"))
mutate = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", LOADER))
LOADER.exec_module(mutate)
generator = mutate.generator


def source(text):
    return generator.Source("katana/a.cpp", text)


def after(body, operator=None):
    """The mutants of one function's body, each unit separately."""
    found = source("void f() {\n" + body + "\n}\n")
    return [mutant.after for mutant in found.mutants if operator in (None, mutant.operator)]


class GeneratorTest(unittest.TestCase):
    def test_a_bound_is_moved_by_one_place_and_by_one(self):
        self.assertEqual(after("if (x < 3) g();"), ["false", "true", "x <= 3", "x < 4", ";"])

    def test_an_attribute_is_no_part_of_a_statement(self):
        self.assertEqual(after("if (a) [[likely]]\n  g();\nreturn b;", "removed"), [";"])
        self.assertEqual(after("if (a) [[likely]] {\n  g();\n}\nreturn b;", "removed"), [";"])
        self.assertEqual(after("if (a) [[unlikely]] return b;", "result"), ["return {};"])

    def test_each_part_of_a_condition_is_dropped(self):
        self.assertEqual(after("if (a && b || !c) g();", "dropped"), ["b || !c", "a || !c", "!c", "a && b"])

    def test_a_call_is_left_out_and_its_arguments_change_places(self):
        self.assertEqual(after("send(from, to);"), [";", "send(to, from);"])

    def test_declarations_stay_and_their_values_change(self):
        self.assertEqual(after("std::optional<Head> head;\nTask<int> task(a, b);\nconst auto left = size - 1;"),
                         ["size + 1", "size - 2", "size - 0"])

    def test_templates_are_no_comparisons(self):
        self.assertEqual(after("std::vector<int> a; if (std::get<0>(b)) g<int>(a);", "boundary"), [])

    def test_a_returned_value_is_lost(self):
        self.assertEqual(after("if (!x) return fail(x);", "result"), ["return {};"])

    def test_of_a_choice_the_other_is_taken(self):
        self.assertEqual(after("x = a ? b : c + d;", "choice"), ["x = a ? c + d : b;"])

    def test_checks_and_messages_are_left_alone(self):
        self.assertEqual(after('KATANA_CHECK(a < b);\nstatic_assert(a < b);\nnames.reserve(a + 1);'), [])
        self.assertEqual(after('tell(fmt::format("{} of {}", a + 1, b));'), [";"])

    def test_text_and_comments_have_no_code(self):
        self.assertEqual(after('// if (a < b)\n/* c && d */ g("a < b", R"x(c && d)x");', "boundary"), [])

    def test_lambdas_within_a_statement_have_mutants_of_their_own(self):
        found = source("void f() { run([&](int x) { return x < 3; }); }")
        self.assertEqual([len(unit.inner) for unit in found.top], [1])
        self.assertIn("return x <= 3;", [mutant.after for mutant in found.mutants])

    def test_constants_and_types_outside_of_functions_stay(self):
        text = ("struct A { int x = 1; };\nenum class B { c = 1 };\nconstexpr int d = 2;\n"
                "namespace e { int g[] = {1}; }\n")
        self.assertEqual(source(text).mutants, [])

    def test_a_condition_of_sql_is_left_out_and_its_parameter_stays(self):
        found = after('q("DELETE FROM t WHERE id = $1 AND fence = $2 AND state = 1");', "sql")
        self.assertEqual(found, ['"DELETE FROM t WHERE id = $1 AND $2 IS NOT NULL AND state = 1"',
                                 '"DELETE FROM t WHERE id = $1 AND fence = $2 "'])

    def test_a_mutant_keeps_its_key_when_lines_move(self):
        text = "void f() { if (x < 3) g(); }"
        self.assertEqual([mutant.key for mutant in source(text).mutants],
                         [mutant.key for mutant in source("// more\n\n" + text).mutants])

    def test_mutants_that_read_the_same_have_different_keys(self):
        keys = [mutant.key for mutant in source("void f() { g(); g(); }").mutants]
        self.assertEqual(len(set(keys)), 2)

    def test_sources_of_the_tree_can_be_read(self):
        for module in ("http/middleware", "stores/jobs/queue", "stores/database/postgres", "wire/ws"):
            for path in mutate.files_of(module)[0]:
                if path.endswith(".cpp"):
                    with self.subTest(path=path):
                        source((ROOT / path).read_text())


class SchemataTest(unittest.TestCase):
    PROGRAM = """
int calls = 0;
void g() { calls += 1; }
int f(int x) {
  if (x < 3) g();
  const int y = x > 0 ? 5 : 7;
  for (int i = 0; i < 2; ++i) g();
  switch (x) {
    case 1: g(); break;
    default: break;
  }
  auto h = [&](int z) -> bool { return z == 1 && x == 1; };
  if (h(x)) return y;
  return calls;
}
int main() { return f(1) + calls; }
"""

    def test_each_switch_makes_the_program_that_its_mutant_is(self):
        """The text of one mutant and the switch behave the same."""
        found = source(self.PROGRAM)
        for number, mutant in enumerate(found.mutants, 1):
            mutant.number = number
        schema = generator.Schemata(found, found.mutants)
        with tempfile.TemporaryDirectory() as folder:
            head = "#include <cstdlib>\n#define KATANA_MUTANT(n) (n == std::atoi(getenv(\"N\")))\n"
            together = self.compile(folder, "all", head + schema.text)
            for mutant in found.mutants[::6]:
                alone = self.compile(folder, "one", generator.with_mutant(found, mutant))
                self.assertEqual(self.run_it(alone, 0), self.run_it(together, mutant.number), mutant.after)
            self.assertEqual(self.run_it(self.compile(folder, "one", self.PROGRAM), 0), self.run_it(together, 0))

    def compile(self, folder, name, text):
        path = Path(folder) / f"{name}.cpp"
        path.write_text(text)
        subprocess.run(["g++-12", "-std=c++23", "-w", "-O0", str(path), "-o", str(path.with_suffix(""))], check=True)
        return path.with_suffix("")

    def run_it(self, path, number):
        try:
            return subprocess.run([str(path)], env={"N": str(number)}, check=False, timeout=1).returncode
        except subprocess.TimeoutExpired:
            return "timeout"

    def test_an_error_names_the_mutant_of_its_line(self):
        found = source("void f() { g(a, b); }")
        for number, mutant in enumerate(found.mutants, 1):
            mutant.number = number
        schema = generator.Schemata(found, found.mutants)
        line = next(line for line, mutant in schema.mutant_of.items() if mutant.operator == "arguments")
        dropped, switched = mutate.blame(f"/x/a.cpp:{line}:3: error: no matching function", {"/x/a.cpp": schema})
        self.assertEqual([mutant.operator for mutant in dropped], ["arguments"])
        self.assertEqual(switched, set())

    def test_a_lambda_that_a_mutant_makes_immediate_is_blamed_on_its_next_change_of_arguments(self):
        found = source("void f() { each([&](int a) { g(a); h(fmt_of(a, b)); }); }")
        schema = generator.Schemata(found, found.mutants)
        line = min(schema.mutant_of) - 1
        errors = f"/y/each.hpp:9:7: error: call to immediate function 'x'\n/x/a.cpp:{line}:3: note: requested here"
        dropped, _ = mutate.blame(errors, {"/x/a.cpp": schema})
        self.assertEqual([mutant.operator for mutant in dropped], ["arguments"])

    def test_types_that_a_switch_cannot_join_blame_the_whole_unit(self):
        found = source("void f() { auto x = a + 1; }")
        schema = generator.Schemata(found, found.mutants)
        line = min(schema.mutant_of)
        dropped, switched = mutate.blame(f"/a.cpp:{line}:3: error: incompatible operand types", {"/a.cpp": schema})
        self.assertEqual(dropped, set(found.mutants))
        self.assertEqual(switched, dropped)


class JudgeTest(unittest.TestCase):
    """A program whose tests are not run: `answers` has the result of each of its test programs."""

    def judge(self, tests, **answers):
        program = mutate.Program.__new__(mutate.Program)
        program.tests, runs = list(answers), []

        def run_it(number, name, some, clean_s):
            runs.append((name, *some))
            return answers[name], ""
        program._run = run_it
        return program.judge(1, tests)[0], runs

    def test_a_mutant_that_only_another_test_program_notices_is_killed(self):
        tests = {("own", "A.a"): 0.0, ("other", "B.b"): 0.0}
        self.assertEqual(self.judge(tests, own="survived", other="killed")[0], "killed")
        self.assertEqual(self.judge(tests, own="survived", other="survived")[0], "survived")
        self.assertEqual(self.judge({}, own="killed", other="killed")[0], "unreached")

    def test_each_test_is_run_by_its_program_and_the_quick_ones_first(self):
        tests = {("own", "A.slow"): 9.0, ("own", "A.a"): 0.0, ("other", "B.b"): 0.1}
        self.assertEqual(self.judge(tests, own="survived", other="survived")[1],
                         [("own", "A.a"), ("other", "B.b"), ("own", "A.slow")])

    def test_other_tests_name_test_programs_and_folders_of_the_tree(self):
        for module, others in mutate.OTHER_TESTS.items():
            self.assertIn(module, mutate.modules())
            for name, folder in others.items():
                self.assertTrue(list((ROOT / folder).glob("*_test.cpp")), name)


class UserTest(unittest.TestCase):
    def test_root_runs_mutants_as_a_user_without_rights_and_others_as_themselves(self):
        with mock.patch.object(mutate.os, "geteuid", return_value=0):
            user = mutate.unprivileged()
        self.assertGreater(user["user"], 0)
        self.assertGreater(user["group"], 0)
        self.assertEqual(user["extra_groups"], [])
        with mock.patch.object(mutate.os, "geteuid", return_value=1000):
            self.assertEqual(mutate.unprivileged(), {})

    def test_a_program_that_ends_early_without_a_mutant_is_no_measure(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(mutate, "BUILD", Path(folder)), \
                mock.patch.object(mutate, "unprivileged", return_value={}):
            program = mutate.Program.__new__(mutate.Program)
            program.folder = Path(folder)
            test = Path(folder) / "t"
            test.write_text("#!/bin/sh\nkill -ABRT $$\n")
            test.chmod(0o755)
            with self.assertRaises(mutate.Failure):
                program._record("t")
            test.write_text("#!/bin/sh\nexit 0\n")
            self.assertEqual(dict(program._record("t")), {})


class ResultsTest(unittest.TestCase):
    def entry(self, result, key="k"):
        return {"key": key, "file": "katana/a.cpp", "line": 3, "operator": "removed", "result": result, "by": "",
                "before": "g();", "after": ";", "sources": "s", "tests": "t"}

    def test_what_no_test_reaches_has_survived_and_what_does_not_compile_is_none(self):
        results = ("killed", "timeout", "survived", "unreached", "invalid", "equivalent")
        entries = [self.entry(result) for result in results]
        self.assertEqual(mutate.score(entries), (5, 2, 1, 2, 50.0))

    def test_a_survivor_is_run_again_when_tests_change_and_a_killed_one_is_not(self):
        self.assertTrue(mutate.still_holds(self.entry("killed"), "s", "other"))
        self.assertFalse(mutate.still_holds(self.entry("survived"), "s", "other"))
        self.assertTrue(mutate.still_holds(self.entry("survived"), "s", "t"))
        self.assertFalse(mutate.still_holds(self.entry("killed"), "other", "t"))
        self.assertTrue(mutate.still_holds(self.entry("unswitched"), "s", "other"))
        self.assertFalse(mutate.still_holds(None, "s", "t"))

    def test_a_line_that_an_interruption_cut_is_passed_over(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.jsonl"
            path.write_text('{"key": "a", "result": "killed"}\n{"key": "b", "res')
            self.assertEqual(list(mutate.previous(path)), ["a"])

    def test_a_survivor_is_shown_with_both_texts(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            mutate.report({"m": {"k": self.entry("survived")}})
        self.assertIn("katana/a.cpp:3: removed\n- g();\n+ ;", out.getvalue())

    def test_a_lower_score_of_the_same_sample_fails_and_a_higher_one_is_kept(self):
        results = {"m": {"a": self.entry("killed"), "b": self.entry("survived")}}
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(mutate, "RATCHET", Path(folder) / "r.json"):
            self.assertTrue(mutate.check_ratchet(results, "all", True))
            worse = {"m": {"a": self.entry("survived"), "b": self.entry("survived")}}
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertFalse(mutate.check_ratchet(worse, "all", True))
            self.assertTrue(mutate.check_ratchet(worse, "200 of seed 1", False))
            self.assertIn("50.0", mutate.RATCHET.read_text())

    def test_a_sample_is_the_same_when_lines_move(self):
        text = "void f() { if (x < 3) g(); h(); i(); j(); }"
        chosen = []
        for each in (source(text), source("\n\n" + text)):
            some = mutate.sample({each: each.mutants}, 3, 1)[each]
            chosen.append([mutant.key for mutant in some])
        self.assertEqual(chosen[0], chosen[1])
        self.assertEqual(len(chosen[0]), 3)

    def test_changed_lines_are_those_of_the_new_text(self):
        diff = "--- a/katana/a.cpp\n+++ b/katana/a.cpp\n@@ -3,2 +4,3 @@\n@@ -9 +11,0 @@\n"
        answer = argparse.Namespace(returncode=0, stdout=diff, stderr="")
        with mock.patch.object(mutate, "run", return_value=answer):
            self.assertEqual(dict(mutate.changed_lines("HEAD")), {"katana/a.cpp": {4, 5, 6}})

    def test_each_equivalent_names_a_mutant_of_the_tree(self):
        for path, before, then in mutate.read_equivalents():
            with self.subTest(path=path, before=before):
                found = generator.Source(path, (ROOT / path).read_text())
                self.assertIn((before, then), [(mutant.before, mutant.after) for mutant in found.mutants])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
