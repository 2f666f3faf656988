#!/usr/bin/python3
"""Tests of tools/compile, on small folders for ninja: its output, its arguments for ninja, and its end."""

import json
import os
import pty
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

COMPILE = Path(__file__).parent / "compile"
RULES = """rule run
  command = $what
  description = Building CXX object CMakeFiles/$module.dir/Unity/unity_0_cxx.cxx.o
"""


class CompileTest(unittest.TestCase):
    """Each test writes a build.ninja, as CMake would have, and builds in it."""

    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "tools").mkdir()
        shutil.copy(COMPILE, self.root / "tools/compile")
        self.folder = self.root / "build/x"
        self.folder.mkdir(parents=True)
        (self.folder / "CMakeCache.txt").write_text(
            "CMAKE_PROJECT_NAME:STATIC=x\nCMAKE_GENERATOR:INTERNAL=Ninja\n"
            f"CMAKE_MAKE_PROGRAM:FILEPATH={shutil.which('ninja')}\n")

    def steps(self, *commands):
        """A folder whose target `all_steps` takes these commands, one for each module m0, m1 …"""
        text, outputs = RULES, []
        for index, command in enumerate(commands):
            output = f"CMakeFiles/m{index}.dir/o"
            outputs.append(output)
            what = f"mkdir -p CMakeFiles/m{index}.dir && {command} && touch {output}"
            text += f"build {output}: run\n  what = {what}\n  module = m{index}\n"
        (self.folder / "build.ninja").write_text(text + f"build all_steps: phony {' '.join(outputs)}\n")

    def command(self):
        return [str(self.root / "tools/compile"), "run", "x", "all_steps"]

    def build(self, **environment):
        return subprocess.run(self.command(), capture_output=True, text=True, check=False, timeout=60,
                              env={**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": "1", **environment})

    def test_a_build_tells_its_first_step_and_its_end(self):
        self.steps("true", "true", "true")
        ended = self.build()
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        lines = ended.stdout.splitlines()
        self.assertRegex(lines[0], r"^all_steps: 1 of 3 steps, \d+ s, about \d+ s more: m0$")
        self.assertRegex(lines[-1], r"^all_steps: built in \d+ s, 3 steps$")

    def test_the_time_that_is_left_begins_with_what_a_step_is_expected_to_take(self):
        self.steps(*["true"] * 101)
        slow = self.build(KATANA_STEP_MS="60000").stdout.splitlines()[0]
        self.assertRegex(slow, r"about (8\d|9\d) min more")  # 100 steps of a minute, of which one took no time

    def test_a_build_with_nothing_to_do_tells_nothing(self):
        self.steps("true")
        self.build()
        again = self.build()
        self.assertEqual((again.returncode, again.stdout), (0, ""))

    def test_steps_of_cmake_before_the_build_are_not_counted_as_its_steps(self):
        self.steps("true", "true")
        text = (self.folder / "build.ninja").read_text()
        text = text.replace("Building CXX object CMakeFiles/$module", "Re-checking globbed $module")
        (self.folder / "build.ninja").write_text(text)
        self.assertEqual(self.build().stdout, "")

    def test_a_failed_step_shows_what_its_compiler_said_and_fails_the_build(self):
        self.steps("true", "{ echo some.cpp:3: error: no such thing; false; }")
        ended = self.build()
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("some.cpp:3: error: no such thing", ended.stdout)
        self.assertNotIn("built in", ended.stdout)  # although the step was the last of them

    def test_what_a_step_says_is_passed_on(self):
        self.steps("echo a warning of the compiler")
        self.assertIn("a warning of the compiler\n", self.build().stdout)

    def test_times_name_the_longest_step_first_and_sum_by_module(self):
        self.steps("true", "sleep 0.3", "true")
        lines = self.build(KATANA_TIMES="1").stdout.splitlines()
        longest = lines.index(next(line for line in lines if line.startswith("The ten longest steps")))
        self.assertRegex(lines[longest + 1], r"^ +0\.[3-9]  CMakeFiles/m1\.dir/o$")
        modules = lines.index("Modules:")
        self.assertRegex(lines[modules + 1], r"^ +0\.[3-9] +\d+\.\d %  m1 \(1\)$")
        self.assertEqual(len(lines), modules + 4)

    def test_times_are_those_of_this_build_not_of_an_earlier_one(self):
        self.steps("sleep 0.3")
        self.build()
        self.steps("sleep 0.3", "true")
        self.assertNotIn("m0", self.build(KATANA_TIMES="1").stdout.split("The ten longest")[1])

    def test_a_terminal_sees_one_line_that_is_written_over(self):
        self.steps("true", "true")
        leader, follower = pty.openpty()
        subprocess.run(self.command(), stdout=follower, stderr=follower, check=True, timeout=60)
        os.close(follower)
        shown = os.read(leader, 65536).decode()
        os.close(leader)
        self.assertEqual(shown.count("\n"), 1, shown)
        self.assertIn("\r\033[Kall_steps: 2 of 2 steps", shown)

    def test_an_interrupt_stops_the_step_and_leaves_nothing_of_it(self):
        self.steps("true", "touch half && sleep 20")
        with subprocess.Popen(self.command(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              start_new_session=True, env={**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": "1"}) as process:
            while not (self.folder / "half").exists() and process.poll() is None:
                time.sleep(0.01)
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            said = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("the same command goes on from there", said)
        self.assertFalse((self.folder / "CMakeFiles/m1.dir/o").exists())
        self.steps("true", "true")
        self.assertIn("1 of 1 steps", self.build().stdout)  # the finished step is kept


class PresetsTest(unittest.TestCase):
    """`make run` and `make test` share build/release: the second configures what the first did."""

    def test_release_sets_again_what_run_sets(self):
        presets = json.loads((COMPILE.parent.parent / "CMakePresets.json").read_text())["configurePresets"]
        variables = {preset["name"]: preset["cacheVariables"] for preset in presets}
        for name, value in variables["run"].items():
            if value is not None:
                self.assertIn(name, variables["release"], "after `make run` the release build would keep it")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
