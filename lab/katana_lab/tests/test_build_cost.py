"""build_cost.py: each compiler run of a small project is counted, for its target; wrong flags name their remedy."""
import json

import pytest

from katana_lab import LabError, UsageError
from katana_lab.costs import build, build_record


def project(folder, source="int main() {}\n"):
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(two CXX)\n"
                                           "add_library(part STATIC part.cpp other.cpp)\nadd_executable(two two.cpp)\n"
                                           "target_link_libraries(two part)\n")
    (folder / "part.cpp").write_text("#include <vector>\nint size(const std::vector<int>& v) { return v.size(); }\n")
    (folder / "other.cpp").write_text("int other() { return 1; }\n")
    (folder / "two.cpp").write_text(source)
    return folder


def arguments(folder, tmp_path, *more):
    return build.read_arguments(["--project", str(folder), "--prefix", str(tmp_path), "--folder",
                                 str(tmp_path / "build"), *more])


def test_each_run_of_the_compiler_and_the_linker_is_counted_for_its_target(tmp_path):
    given = arguments(project(tmp_path / "two"), tmp_path, "-DCMAKE_BUILD_TYPE=Debug")
    log = tmp_path / "steps.jsonl"
    build.configure(given, log)
    log.unlink(missing_ok=True)
    assert build.build(given.folder, given.targets) > 0
    steps = build.read_log(log)
    assert sorted(step.name for step in steps if step.source) == ["part/other.cpp", "part/part.cpp", "two/two.cpp"]
    assert [step.target for step in steps if not step.source] == ["two"]
    assert all(step.seconds > 0 and step.mebibytes > 1 for step in steps)
    rows = build.by_target(steps, 1)
    assert len(rows) == 4 and rows[3].startswith("| 1 more |")
    assert "3 runs of the compiler, 1 of the linker" in build.summary(steps, 1)


def test_the_headers_and_templates_of_clang_are_added_up_over_sources(tmp_path):
    source = "#include <vector>\nint main() { std::vector<int> v; v.push_back(1); }\n"
    given = arguments(project(tmp_path / "two", source), tmp_path, "-DCMAKE_CXX_COMPILER=clang++-19")
    build.configure(given, tmp_path / "steps.jsonl")
    times = build.header_times(given.folder)
    vector = [path for path in times.headers if path.endswith("/vector")]
    assert len(vector) == 1 and times.readers[vector[0]] == 2
    assert times.headers[vector[0]] > max(seconds for path, seconds in times.headers.items() if path.endswith("/new"))
    assert times.tables(1)[2].startswith("| `vector` | ")


def test_a_failed_build_and_a_project_without_cmake_are_errors_that_say_so(tmp_path):
    given = arguments(project(tmp_path / "two", "no program\n"), tmp_path)
    build.configure(given, tmp_path / "steps.jsonl")
    with pytest.raises(LabError, match="the build failed in .*build: "):
        build.build(given.folder, [])
    with pytest.raises(UsageError, match="has no CMakeLists.txt"):
        arguments(tmp_path, tmp_path)
    with pytest.raises(UsageError, match="--project and --prefix are given together"):
        build.read_arguments(["--project", str(given.project)])


def test_the_launcher_passes_the_status_of_the_compiler_on(tmp_path):
    log = tmp_path / "log"
    assert build_record.record(str(log), ["sh", "-c", "exit 3"]) == 3
    assert build_record.record(str(log), ["sh", "-c", "kill -9 $$"]) == 128 + 9
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(lines) == 2 and lines[0]["ended"] >= lines[0]["began"]

# SPDX-License-Identifier: Apache-2.0
