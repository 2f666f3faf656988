#!/usr/bin/python3
"""Tests of tools/tidy: for every check a small tree that it refuses and one that it accepts."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import re
import shutil
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("tidy", str(Path(__file__).parent / "tidy"))
tidy = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", LOADER))
LOADER.exec_module(tidy)

CONTRACT = "// Thing: what it is.\n#pragma once\n"


class TidyTest(unittest.TestCase):
    """Each test writes a tree into a temporary folder and runs one check over it."""

    check = ""

    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)

    def findings(self, files):
        """What the check says of a tree of exactly these files; build/ stays from tree to tree."""
        for path in self.root.iterdir():
            if path.name != "build":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path, text in files.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        self.tree = tidy.Tree(self.root)
        return list(tidy.CHECKS[self.check](self.tree))

    def accepts(self, files):
        self.assertEqual(self.findings(files), [])

    def refuses(self, files, *expected):
        """One finding for each expected beginning, and all of them in the promised form."""
        found = self.findings(files)
        self.assertEqual(len(found), len(expected), found)
        for line, beginning in zip(found, expected):
            self.assertTrue(line.startswith(beginning), line)
            self.assertRegex(line, r"^[^:]+:\d+: .+\. .+\.$")


class LayersTest(TidyTest):
    check = "layers"
    rows = """katana_module(base LINKS fmt::fmt)
        katana_module(wire/http LINKS base)  # katana_module(base LINKS fmt::fmt net/engine)
        katana_module(wire/http1 LINKS base wire/http)
        katana_module(net/engine LINKS base)
        katana_module(net/engine/epoll LINKS base net/engine)
        katana_module(net/engine/sim LINKS base net/engine)
        katana_module(net/reactor THREADED LINKS base net/engine)
        katana_module(observe/log LINKS base)
        katana_module(http/session LINKS base wire/http wire/http1 net/reactor)
        katana_module(http/handlers LINKS base wire/http http/session)
        katana_module(app
          THREADED LINKS base net/engine net/engine/epoll http/handlers Threads::Threads)"""
    headers = {"CMakeLists.txt": rows} | {f"katana/{path}.hpp": CONTRACT for path in (
        "base/bytes", "wire/http/head", "wire/http1/machine", "net/engine/engine", "net/engine/link",
        "net/engine/epoll/loop", "net/reactor/reactor", "http/session/session", "http/handlers/reply")}

    def including(self, path, *names):
        return self.headers | {path: "".join(f'#include "katana/{name}.hpp"\n' for name in names)}

    def test_every_module_may_include_itself_and_base(self):
        for module in ("wire/http", "net/engine", "net/engine/epoll", "net/reactor", "http/session", "http/handlers"):
            self.accepts(self.including(f"katana/{module}/x.cpp", "base/bytes"))

    def test_what_a_row_links_is_accepted(self):
        self.accepts(self.including("katana/wire/http1/x.cpp", "wire/http1/machine", "wire/http/head"))
        self.accepts(self.including("katana/net/engine/epoll/x.cpp", "net/engine/engine", "net/engine/link",
                                    "net/engine/epoll/loop"))
        self.accepts(self.including("katana/net/reactor/x.cpp", "net/engine/engine"))
        self.accepts(self.including("katana/http/session/x.cpp", "wire/http1/machine", "net/reactor/reactor"))
        self.accepts(self.including("katana/http/handlers/x.cpp", "wire/http/head", "http/session/session"))
        self.accepts(self.including("katana/app/x.cpp", "net/engine/epoll/loop", "http/handlers/reply"))

    def test_what_is_not_in_the_row_is_refused(self):
        for module, name in (("base", "net/engine/engine"), ("wire/http", "wire/http1/machine"),
                           ("net/engine", "net/reactor/reactor"),
                           ("net/engine", "net/engine/epoll/loop"), ("net/engine/sim", "net/engine/epoll/loop"),
                           ("net/reactor", "net/engine/link"), ("net/reactor", "net/engine/epoll/loop"),
                           ("http/session", "http/handlers/reply"),
                           ("http/handlers", "net/reactor/reactor"), ("http/handlers", "wire/http1/machine")):
            with self.subTest(module=module, name=name):
                path = f"katana/{module}/x.cpp"
                self.refuses(self.including(path, name), f"{path}:1: {module} may not include katana/{name}.hpp")

    def test_a_folder_without_a_row_is_refused(self):
        self.refuses({"CMakeLists.txt": self.rows, "katana/attic/x.cpp": ""},
                     "katana/attic/x.cpp:1: 'attic' is no module")

    def test_a_header_of_katana_itself_includes_what_its_links_name_and_what_they_link(self):
        head = "// HTTP.\n//\n// Links      http/handlers\n#pragma once\n"
        self.accepts(self.headers | {"katana/http.hpp": head + '#include "katana/http/handlers/reply.hpp"\n'
                                                               '#include "katana/net/reactor/reactor.hpp"\n'})
        self.refuses(self.headers | {"katana/http.hpp": head + '#include "katana/net/engine/epoll/loop.hpp"\n'
                                                               "#include <vector>\n"},
                     "katana/http.hpp:5: it may not include katana/net/engine/epoll/loop.hpp",
                     "katana/http.hpp:6: it may not include vector")

    def test_a_header_of_katana_itself_has_includes_only_and_names_modules(self):
        head = "// HTTP.\n//\n// Links      http/handlers\n#pragma once\n"
        self.refuses(self.headers | {"katana/http.hpp": head + "int x;\n"}, "katana/http.hpp:5: more than includes")
        self.refuses(self.headers | {"katana/http.hpp": "// HTTP.\n#pragma once\n"},
                     "katana/http.hpp:1: no modules to link")
        self.refuses(self.headers | {"katana/http.hpp": head.replace("http/handlers", "attic")},
                     "katana/http.hpp:3: no modules to link")

    def test_the_library_includes_no_header_of_katana_itself(self):
        self.refuses(self.headers | {"katana/http.hpp": "// HTTP.\n//\n// Links      http/handlers\n#pragma once\n",
                                     "katana/app/x.cpp": '#include "katana/http.hpp"\n'},
                     "katana/app/x.cpp:1: app may not include katana/http.hpp")

    def test_production_includes_neither_tests_nor_what_is_outside_of_the_library(self):
        self.refuses({"CMakeLists.txt": self.rows,
                      "katana/app/x.cpp": '#include "lab/a.hpp"\n#include "katana/base/b_test.hpp"\n',
                      "lab/a.hpp": CONTRACT, "katana/base/b_test.hpp": CONTRACT},
                     "katana/app/x.cpp:1: app may not include lab/a.hpp",
                     "katana/app/x.cpp:2: app may not include katana/base/b_test.hpp")

    def test_apps_lab_and_tests_include_what_they_like(self):
        self.accepts(self.including("apps/hello/main.cpp", "http/handlers/reply"))
        self.accepts(self.including("tests/simulation/x_test.cpp", "net/reactor/reactor", "net/engine/epoll/loop"))

    def test_libraries_follow_the_table_and_test_libraries_are_for_tests(self):
        self.accepts({"CMakeLists.txt": self.rows,
                      "katana/observe/log/x.cpp": "#include <fmt/format.h>\n#include <vector>\n",
                      "katana/base/x_test.cpp": "#include <gtest/gtest.h>\n"})
        self.refuses({"CMakeLists.txt": self.rows, "katana/base/x.cpp": "#include <gtest/gtest.h>\n",
                      "katana/net/reactor/x.cpp": "\n#include <liburing.h>\n"},
                     "katana/base/x.cpp:1: base may not include gtest/gtest.h",
                     "katana/net/reactor/x.cpp:2: net/reactor may not include liburing.h")

    def test_a_quoted_include_that_is_not_in_the_tree_is_refused(self):
        self.refuses({"CMakeLists.txt": self.rows,
                      "katana/base/x.cpp": '#include "nowhere.hpp"\n'},
                     "katana/base/x.cpp:1: base may not include nowhere.hpp")

    def test_a_test_may_include_what_its_row_names_for_tests(self):
        rows = self.rows.replace("katana_module(observe/log LINKS base)",
                                 "katana_module(observe/log LINKS base TEST_LINKS http/handlers net/reactor)")
        tree = {"CMakeLists.txt": rows, "katana/http/handlers/router.hpp": ""}
        self.accepts({**tree, "katana/observe/log/log_test.cpp": '#include "katana/http/handlers/router.hpp"\n'})
        self.refuses({**tree, "katana/observe/log/log.cpp": '#include "katana/http/handlers/router.hpp"\n'},
                     "katana/observe/log/log.cpp:1: observe/log may not include katana/http/handlers/router.hpp")
        self.refuses({**tree, "katana/observe/log/log_test.cpp": '#include "katana/http/session/x.hpp"\n',
                      "katana/http/session/x.hpp": ""},
                     "katana/observe/log/log_test.cpp:1: observe/log may not include katana/http/session/x.hpp")

    def test_an_include_in_a_comment_is_none(self):
        self.accepts({"CMakeLists.txt": self.rows,
                      "katana/base/x.cpp": '/*\n#include "nowhere.hpp"\n*/\n'})


class RowsTest(TidyTest):
    check = "rows"

    def test_rows_that_link_rows_before_them_are_accepted(self):
        self.accepts({"CMakeLists.txt": "katana_module(base LINKS fmt::fmt)\nkatana_module(net/reactor LINKS base)\n"
                                        "katana_module(host\n  THREADED LINKS net/reactor base Threads::Threads)\n"})

    def test_a_row_that_links_a_later_module_or_itself_is_refused(self):
        self.refuses({"CMakeLists.txt": "\nkatana_module(net/engine LINKS net/reactor)\n"
                                        "katana_module(net/reactor LINKS net/reactor)\n"},
                     "CMakeLists.txt:2: net/engine may not link net/reactor",
                     "CMakeLists.txt:3: net/reactor may not link net/reactor")

    def test_tests_may_link_a_later_module_but_neither_their_own_nor_none(self):
        self.accepts({"CMakeLists.txt": "katana_module(base LINKS fmt::fmt TEST_LINKS net/reactor)\n"
                                        "katana_module(net/reactor LINKS base)\n"})
        self.refuses({"CMakeLists.txt": "katana_module(base TEST_LINKS base\n nowhere)\n"},
                     "CMakeLists.txt:1: tests of base may not link base",
                     "CMakeLists.txt:1: tests of base may not link nowhere")

    def test_a_library_that_is_not_listed_is_refused(self):
        self.refuses({"CMakeLists.txt": "katana_module(base LINKS Boost::asio)\n"},
                     "CMakeLists.txt:1: base may not link Boost::asio")


class CyclesTest(TidyTest):
    check = "cycles"

    def test_a_circle_of_three_is_reported_once(self):
        self.refuses({"lab/a.hpp": '#include "lab/b.hpp"\n', "lab/b.hpp": '#include "lab/c.hpp"\n',
                      "lab/c.hpp": '\n#include "lab/a.hpp"\n'},
                     "lab/c.hpp:2: includes go round: lab/a.hpp -> lab/b.hpp -> lab/c.hpp -> lab/a.hpp")

    def test_two_ways_to_one_file_are_no_circle(self):
        self.accepts({"lab/a.hpp": '#include "lab/b.hpp"\n#include "lab/c.hpp"\n',
                      "lab/b.hpp": '#include "lab/c.hpp"\n', "lab/c.hpp": ""})


class UnitsTest(TidyTest):
    check = "units"

    def test_a_source_that_includes_a_unit_above_it_is_refused(self):
        tree = {"katana/http/client/call.hpp": "",
                "katana/http/client/call.cpp": '#include "katana/http/client/call.hpp"\n',
                "katana/http/client/pool.hpp": '#include "katana/http/client/call.hpp"\n'}
        self.accepts(tree)
        tree["katana/http/client/call.cpp"] += '#include "katana/http/client/pool.hpp"\n'
        self.refuses(tree, "katana/http/client/pool.hpp:1: units depend on one another: katana/http/client/call -> "
                     "katana/http/client/pool -> katana/http/client/call")

    def test_tests_and_other_modules_may(self):
        self.accepts({"katana/http/client/a.hpp": '#include "katana/http/client/b.hpp"\n',
                      "katana/http/client/b.hpp": "",
                      "katana/http/client/b_test.cpp": '#include "katana/http/client/a.hpp"\n',
                      "katana/http/client/b_test.hpp": '#include "katana/http/client/a.hpp"\n',
                      "katana/http/client/b.cpp": '#include "katana/http/client/b_test.hpp"\n', "katana/app/a.hpp": "",
                      "katana/app/a.cpp": '#include "katana/app/b.hpp"\n',
                      "katana/app/b.hpp": '#include "katana/app/a.hpp"\n'})

    def test_the_listed_modules_are_modules(self):
        self.assertLessEqual(set(tidy.CIRCULAR_MODULES), set(tidy.Tree(Path(__file__).parent.parent).rows))


@unittest.skipIf(tidy.header_modules.missing_compilers(), "needs clang++-19 and g++-12")
class HeadersTest(TidyTest):
    check = "headers"

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        tidy.MODULES_FOLDER = Path(folder.name)  # so the standard library is compiled once for all tests
        cls.addClassCleanup(setattr, tidy, "MODULES_FOLDER", None)

    whole = {"lab/a.hpp": CONTRACT + "#include <cstdint>\nstruct A { std::int32_t a; };\n",
             "lab/b.hpp": CONTRACT + '#include "lab/a.hpp"\nstruct B { A a; };\n'}

    def test_headers_that_include_what_they_use_are_accepted(self):
        self.accepts(self.whole)

    def test_a_header_that_leans_on_others_is_refused_at_its_line(self):
        self.refuses({"lab/b.hpp": CONTRACT + "struct B { A a; };\n"}, "lab/b.hpp:3: does not compile alone")

    def test_what_others_include_first_is_no_excuse(self):
        for name in ("aa", "cc"):  # before and behind what it leans on, wherever it is compiled
            leans = {f"lab/{name}.hpp": CONTRACT + "struct C { A a; };\n",
                     "lab/d.hpp": CONTRACT + f'#include "lab/b.hpp"\n#include "lab/{name}.hpp"\nstruct D {{ C c; }};\n'}
            self.refuses(self.whole | leans, f"lab/{name}.hpp:3: does not compile alone")

    def test_all_that_is_at_fault_is_named_at_once(self):
        alone = {f"lab/{name}.hpp": CONTRACT + f"struct {name.upper()} {{ std::string s; }};\n" for name in "xyz"}
        self.refuses(self.whole | alone, *(f"lab/{name}.hpp:3: does not compile alone" for name in "xyz"))

    def test_a_standard_header_that_another_header_includes_is_no_excuse(self):
        self.refuses(self.whole | {"lab/b.hpp": CONTRACT + "using B = std::int32_t;\n",
                                   "lab/c.hpp": CONTRACT + '#include "lab/a.hpp"\n#include "lab/b.hpp"\n'},
                     "lab/b.hpp:3: does not compile alone")

    def test_what_only_gcc_refuses_is_refused(self):
        self.refuses({"katana/base/x.hpp": CONTRACT + "struct X { int f(this X self) { return self.n; } int n; };\n"},
                     "katana/base/x.hpp:3: does not compile alone (g++-12: ")

    def test_a_compiler_that_crashes_beside_another_is_started_again_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            script, crashes = Path(folder) / "clang", Path(folder) / "crashes"
            script.write_text(f"""#!/bin/sh
case "$*" in *-fsyntax-only*) [ -e {crashes} ] || {{ : >{crashes}; kill -SEGV $$; }} ;; esac
exec {tidy.header_modules.CLANG} "$@"
""")
            script.chmod(0o755)
            with unittest.mock.patch.object(tidy.header_modules, "CLANG", str(script)):
                self.accepts(self.whole)
            self.assertTrue(crashes.exists())

    def test_a_warning_is_refused(self):
        self.refuses({"lab/a.hpp": CONTRACT + "inline int f(int unused) { return 1; }\n"},
                     "lab/a.hpp:3: does not compile alone")

    def test_only_what_changed_is_compiled_again(self):
        self.accepts(self.whole)
        self.assertEqual(self.tree.headers_compiled, 2)
        self.accepts(self.whole)
        self.assertEqual(self.tree.headers_compiled, 0)
        broken = self.whole | {"lab/a.hpp": CONTRACT}
        self.refuses(broken, "lab/b.hpp:4: does not compile alone")  # b includes a: both again
        self.assertEqual(self.tree.headers_compiled, 2)
        self.refuses(broken, "lab/b.hpp:4: does not compile alone")  # a failure is never remembered as passed
        self.assertEqual(self.tree.headers_compiled, 1)


class WireTest(TidyTest):
    check = "wire"

    def test_bytes_views_and_deleted_functions_are_accepted(self):
        self.accepts({"katana/wire/http1/x.cpp": '#include <string_view>\n// a new head, printf("%d"), std::string\n'
                                                 'std::string_view name = "new throw";  M(const M&) = delete;\n'})

    def test_banned_headers_are_refused(self):
        for header in ("chrono", "mutex", "string", "cstdio", "vector"):
            with self.subTest(header):
                self.refuses({"katana/wire/ws/x.hpp": f"\n#include <{header}>\n"},
                             f"katana/wire/ws/x.hpp:2: <{header}> in a pure machine")

    def test_banned_words_are_refused_with_their_kind(self):
        for kind, code in (("a system call", "sendmsg(1)"), ("a clock", "std::chrono::seconds"),
                           ("an allocation", "new int"), ("an allocation", "std::string"),
                           ("an allocation", "std::make_unique"), ("an exception", "throw 1"),
                           ("output", "std::printf"), ("output", "fmt::print"), ("a thread", "thread_local int"),
                           ("randomness", "rand()")):
            with self.subTest(code):
                self.refuses({"katana/wire/ws/x.cpp": f"/* 'tis\n*/\n1'000; {code};\n"},
                             f"katana/wire/ws/x.cpp:3: {kind} in a pure machine")

    def test_tests_and_other_modules_may_allocate(self):
        self.accepts({"katana/wire/ws/x_test.cpp": "#include <string>\nstd::string s;\n",
                      "katana/observe/log/x.cpp": "new int;\n"})


class EngineTest(TidyTest):
    check = "engine"

    def test_the_word_is_refused_even_in_a_comment(self):
        self.refuses({"katana/net/engine/sim/x.cpp": "\n// as Http wants it\n"},
                     "katana/net/engine/sim/x.cpp:2: an engine names 'Http'")

    def test_bytes_and_links_are_accepted_and_so_is_the_word_elsewhere(self):
        self.accepts({"katana/net/engine/x.cpp": "// bytes of a link\n", "katana/http/handlers/x.cpp": "// HTTP\n"})


class AwaitsTest(TidyTest):
    check = "awaits"

    def test_a_conditional_expression_that_awaits_is_refused(self):
        for text in ("auto a = b ? c : co_await d();\n", "auto a = b\n    ? co_await c()\n    : d;\n"):
            with self.subTest(text):
                self.refuses({"katana/base/x.cpp": text}, "katana/base/x.cpp:")

    def test_a_default_argument_of_braces_is_refused_and_a_call_of_the_constructor_accepted(self):
        declared = "  virtual Task<Result<Stored>> store(const Row& (*row)(int),\n  Options options = %s) = 0;\n"
        self.refuses({"katana/base/x.hpp": declared % "{}"}, "katana/base/x.hpp:")
        self.accepts({"katana/base/x.hpp": declared % "Options()" + "void f(Options options = {});\n"})

    def test_statements_beside_one_are_accepted(self):
        self.accepts({"katana/base/x.cpp": "auto a = b ? c : d; co_await e();\nif (x) { y = z ? 1 : 2; }\n"
                                           "co_await f(b ? c : d);\n// a ? b : co_await c\n"})


class NamesTest(TidyTest):
    check = "names"

    def test_a_private_name_is_refused_with_the_name_of_the_field(self):
        for name, remedy in (("Lookout", "AdaptiveSpin"), ("attend_soon", "run_pending"), ("has_room", "capacity"),
                             ("PlainSuccessor", "replace_session"), ("work->behind", "prev, next")):
            with self.subTest(name):
                shown = name.removeprefix("work->")
                self.refuses({"katana/net/reactor/x.cpp": f"\nint a = {name} = 1;\n"},
                             f"katana/net/reactor/x.cpp:2: '{shown}' is a private name. Call it {remedy}")

    def test_comments_strings_tests_and_longer_names_are_accepted(self):
        self.accepts({"katana/net/reactor/x.cpp":
                      '// we attend\nauto a = "settle"; int attendance, room, before = 0;\n',
                      "katana/net/reactor/x_test.cpp": "int settle();\n"})


class FoldersTest(TidyTest):
    check = "rows"

    def test_a_folder_uses_those_above_it_in_the_tree(self):
        self.accepts({"CMakeLists.txt": "katana_module(base)\nkatana_module(wire/http LINKS base)\n"
                                        "katana_module(net/engine LINKS base wire/http)\n"})
        self.refuses({"CMakeLists.txt": "katana_module(net/engine)\nkatana_module(data/config LINKS net/engine)\n"},
                     "CMakeLists.txt:2: data/config links net/engine, which is not below it")

    def test_siblings_do_not_know_each_other(self):
        self.refuses({"CMakeLists.txt": "katana_module(observe/log)\nkatana_module(wire/http LINKS observe/log)\n"},
                     "CMakeLists.txt:2: wire/http links observe/log, which is not below it")


class NamespacesTest(TidyTest):
    check = "namespaces"
    rows = {"CMakeLists.txt": "katana_module(base FOLDERS values)\nkatana_module(net/reactor)\n"
                              "katana_module(http/handlers)\n"}

    def test_a_namespace_is_a_folder_of_its_module(self):
        self.accepts({**self.rows, "katana/net/reactor/x.hpp": "namespace katana::net {\n}\n",
                      "katana/net/reactor/y.hpp": "namespace katana::reactor::detail {\n}\n",
                      "katana/net/reactor/z.hpp": "namespace katana::http {\n}\nnamespace katana::net {\n}\n",
                      "katana/base/values/x.hpp": "namespace katana {\n}\n",
                      "katana/http/handlers/x.hpp": "namespace katana::detail {\n}\n"})

    def test_another_is_refused(self):
        self.refuses({**self.rows, "katana/net/reactor/x.hpp": "namespace katana::core {\n}\n"},
                     "katana/net/reactor/x.hpp:1: its namespace is of another module: core")
        self.refuses({**self.rows, "katana/net/reactor/x.hpp": "namespace katana {\n}\n"},
                     "katana/net/reactor/x.hpp:1: its namespace is of another module: katana")


class UsersTest(TidyTest):
    check = "users"

    def test_users_include_headers_of_katana_itself(self):
        self.accepts({"docs/guides/x.md": '#include "katana/http.hpp"\n#include <vector>\n',
                      "docs/decisions/0001-x.md": '#include "katana/net/reactor/x.hpp"\n',
                      "apps/arena/main.cpp": '#include "katana/net/reactor/x.hpp"\n'})

    def test_deeper_ones_are_refused(self):
        self.refuses({"docs/guides/x.md": '\n#include "katana/net/reactor/x.hpp"\n',
                      "tests/consume/x/main.cpp": "#include <katana/base/values/box.hpp>\n"},
                     "docs/guides/x.md:2: '#include \"katana/net/reactor/x.hpp' is internal",
                     "tests/consume/x/main.cpp:1: '#include <katana/base/values/box.hpp' is internal")

    def test_an_error_converts_without_its_type(self):
        self.accepts({"docs/guides/x.md": "if (!row) co_return std::unexpected(row.error());\n",
                      "katana/base/system/x.hpp": "std::unexpected<Error> fail(Code code);\n"})
        self.refuses({"docs/guides/x.md": "\nif (!row) co_return std::unexpected<Error>(row.error());\n",
                      "katana/base/x.cpp": "return std::unexpected<katana::Error>(taken(row.error()));\n"},
                     "docs/guides/x.md:2: 'std::unexpected<Error>(row.error());' names a type without need",
                     "katana/base/x.cpp:1: 'std::unexpected<katana::Error>(taken(row.error()));' names a type")


class SystemTest(TidyTest):
    check = "system"

    def test_system_headers_stay_in_their_modules(self):
        self.accepts({"katana/net/engine/epoll/x.cpp": "#include <sys/epoll.h>\n",
                      "katana/base/x.hpp": "#include <sys/uio.h>\n",
                      "katana/http/server/x.cpp": "#include <signal.h>\n",
                      "katana/http/session/x_test.cpp": "#include <unistd.h>\n",
                      "katana/observe/log/x.cpp": "#include <vector>\n#include <fmt/format.h>\n"})

    def test_the_compilers_own_headers_are_for_everyone(self):
        self.accepts({"katana/wire/http1/x.hpp": "#include <immintrin.h>\n#include <sanitizer/asan_interface.h>\n"})

    def test_system_headers_elsewhere_are_refused(self):
        for module, header in (("base", "unistd.h"), ("net/reactor", "sys/uio.h"), ("http/session", "netinet/tcp.h"),
                             ("app", "sys/epoll.h"), ("net/engine/sim", "sys/socket.h")):
            with self.subTest(module=module, header=header):
                self.refuses({f"katana/{module}/x.cpp": f"#include <{header}>\n"},
                             f"katana/{module}/x.cpp:1: <{header}> in {module}")


class SizesTest(TidyTest):
    check = "sizes"
    long_body = "  int a;\n" * 69

    def test_sizes_at_the_limit_are_accepted(self):
        self.accepts({"lab/a.cpp": "void f() {\n" + "  int a;\n" * 68 + "}\n" + "\n" * 700 + "//" + "é" * 98 + "\n",
                      "lab/a.py": "# " + "x" * 118 + "\n", "README.md": "x" * 300 + "\n" * 900})

    def test_a_long_file_function_and_line_are_refused(self):
        self.refuses({"lab/a.cpp": "void f() {\n" + self.long_body + "}\n", "lab/b.cpp": "\n//" + "x" * 99 + "\n",
                      "lab/c.sh": "\n" * 801, "lab/d.py": "def f():\n" + "    pass\n" * 70},
                     "lab/a.cpp:1: function f: 71, the limit is 70", "lab/b.cpp:2: columns: 101, the limit is 100",
                     "lab/c.sh:1: lines: 801, the limit is 800", "lab/d.py:1: function f: 71, the limit is 70")

    def test_functions_are_found_as_they_are_written_here(self):
        source = ('namespace a {\nclass B : public C<int> {\n public:\n  B(int x) : x_{x}, y_(1) {\n    f({1});\n  }\n'
                  '  bool operator==(const B&) const { return true; }\n private:\n  int x_ = 1\'000;\n};\n'
                  'template <class T> struct D { T d[2] = {1, 2}; };\n'
                  'constexpr std::array<int, 2> table = {f(1),\n 2};\n#define BRACE {\n'
                  '[[nodiscard]] std::vector<int> g(Options o = {}) {\n  if (o) { h(\'{\'); }\n  return R"x(}")x";\n}\n'
                  '}  // namespace a\nTEST(Suite, a_name) { EXPECT_TRUE(1); }\n')
        self.assertEqual(list(tidy.functions_cpp(source)), [("B", 4, 6), ("operator==", 7, 7), ("g", 15, 18),
                                                            ("TEST(Suite, a_name)", 20, 20)])

    def test_the_ratchet_holds_what_is_too_large_and_only_shrinks(self):
        long = {"lab/a.cpp": "void f() {\n" + self.long_body + "}\n"}
        entry = "lab/a.cpp: function f"
        self.accepts(long | {tidy.RATCHET: json.dumps({entry: 71})})
        self.refuses(long | {tidy.RATCHET: json.dumps({entry: 80})},
                     f"{tidy.RATCHET}:1: '{entry}' is 71 in the tree, 80 here. Lower the entry to 71.")
        self.refuses({"lab/a.cpp": "void f() {\n" + self.long_body + "  int b;\n}\n",
                      tidy.RATCHET: json.dumps({entry: 71})}, "lab/a.cpp:1: function f: 72, the limit is 71")
        self.refuses({"lab/a.cpp": "void f() {}\n", tidy.RATCHET: json.dumps({entry: 71})},
                     f"{tidy.RATCHET}:1: '{entry}' is 1 in the tree, 71 here. Remove the entry.")
        self.refuses({"lab/a.cpp": "", tidy.RATCHET: json.dumps({entry: 71})},
                     f"{tidy.RATCHET}:1: '{entry}' is not in the tree")


class ClosuresTest(TidyTest):
    check = "closures"
    tree_of_two = {"katana/base.hpp": '#include "katana/base/a.hpp"\n', "katana/base/a.hpp": "int a;\n",
                   "katana/base/b.hpp": "int b;\n"}

    def ratchet(self, headers, lines):
        return {tidy.CLOSURES: json.dumps({"katana/base.hpp": {"headers": headers, "lines": lines}})}

    def test_a_header_for_users_within_its_limits_is_accepted(self):
        self.accepts(self.tree_of_two | self.ratchet(1, 500))

    def test_one_more_header_and_more_lines_than_the_limits_are_refused(self):
        grown = self.tree_of_two | {"katana/base/a.hpp": '#include "katana/base/b.hpp"\n' + "int a;\n" * 500}
        self.refuses(grown | self.ratchet(1, 500),
                     "katana/base.hpp:1: 2 headers are included, the limit is 1",
                     "katana/base.hpp:1: 501 lines are included, the limit is 500")

    def test_limits_follow_what_became_smaller(self):
        self.refuses(self.tree_of_two | self.ratchet(2, 1000),
                     f"{tidy.CLOSURES}:1: 'katana/base.hpp' includes 1 headers, 2 here. Lower the entry to 1.",
                     f"{tidy.CLOSURES}:1: 'katana/base.hpp' includes 1 lines, 1000 here. Lower the entry to 500.")

    def test_a_new_header_needs_limits_and_a_removed_one_has_none(self):
        self.refuses(self.tree_of_two, "katana/base.hpp:1: no limit in")
        self.refuses(self.ratchet(1, 500), f"{tidy.CLOSURES}:1: 'katana/base.hpp' is not in the tree")

    def test_the_first_program_of_the_readme_counts(self):
        readme = {"README.md": '```cpp\n#include "katana/base/a.hpp"\nint main() {}\n```\n'}
        limits = {"README.md": {"headers": 1, "lines": 500}, "katana/base.hpp": {"headers": 1, "lines": 500}}
        self.accepts(self.tree_of_two | readme | {tidy.CLOSURES: json.dumps(limits)})
        limits["README.md"]["headers"] = 0
        self.refuses(self.tree_of_two | readme | {tidy.CLOSURES: json.dumps(limits)},
                     "README.md:1: 1 headers are included, the limit is 0")


class WordsTest(TidyTest):
    check = "words"

    def test_marks_of_unfinished_work_are_refused(self):
        for mark in ("TO" "DO", "FIX" "ME", "XX" "X", "HA" "CK", "For " "now"):
            with self.subTest(mark):
                self.refuses({"lab/a.cpp": f"\n// {mark}: later\n"}, f"lab/a.cpp:2: unfinished work: '{mark}'")

    def test_paths_of_one_machine_are_refused_in_every_file(self):
        for path in ("/wor" "k/x", "/roo" "t/x", "/hom" "e/me/x"):
            with self.subTest(path):
                self.refuses({"docs/a.md": f"cd {path}\n"}, "docs/a.md:1: a path of one machine")

    def test_rules_of_language_hold_for_documents_comments_and_printed_texts(self):
        for path, text in {"docs/a.md": "It waits.\nNobody reads it.\n",
                           "docs/decisions/0001-a.md": "\nNobody reads it.\n",
                           "katana/base/a.hpp": "\n// Nobody reads it.\n",
                           "lab/a.cpp": "\nint a;  // nobody reads it\n",
                           "katana/base/a.cpp": '\nf("nobody has read this text");\n',
                           "tools/a.py": "\n# Nobody reads it.\n"}.items():
            with self.subTest(path):
                self.refuses({path: text}, f"{path}:2: subject: '")

    def test_the_ratchet_of_language_only_shrinks(self):
        files = {"docs/a.md": "Nobody reads it. Nobody writes it.\n"}
        self.accepts(files | {"tools/prose_ratchet.json": '{"docs/a.md": {"subject": 2}}'})
        self.refuses(files | {"tools/prose_ratchet.json": '{"docs/a.md": {"subject": 1}}'},
                     "docs/a.md:1: subject: 'Nobody' (2 of the kind, 1 in tools/prose_ratchet.json)",
                     "docs/a.md:1: subject")
        self.refuses(files | {"tools/prose_ratchet.json": '{"docs/a.md": {"subject": 3}}'},
                     "tools/prose_ratchet.json:1: 'docs/a.md' has 2 of 'subject', 3 here. Run")
        self.refuses({"tools/prose_ratchet.json": '{"docs/b.md": {"long": 1}}'},
                     "tools/prose_ratchet.json:1: 'docs/b.md' has none of 'long'. Run")

    def test_ordinary_words_addresses_and_binary_files_are_accepted(self):
        self.accepts({"lab/a.cpp": "// a hackney for nowhere, mkstemp XXXXXX\n", "docs/a.md": "https://a.b/wor" "k/c\n",
                      "tests/seed": "\0/wor" "k/"})


class ContractsTest(TidyTest):
    check = "contracts"

    def test_a_header_needs_its_contract_and_its_pragma(self):
        self.refuses({"lab/a.hpp": "struct A {};\n"}, "lab/a.hpp:1: no contract", "lab/a.hpp:1: no #pragma once")

    def test_a_source_includes_its_own_header_first(self):
        self.refuses({"katana/base/a.hpp": CONTRACT,
                      "katana/base/a.cpp": '\n#include <array>\n#include "katana/base/a.hpp"\n'},
                     "katana/base/a.cpp:2: katana/base/a.hpp is not its first include")

    def test_contract_pragma_and_own_header_are_accepted(self):
        self.accepts({"katana/base/a.hpp": CONTRACT,
                      "katana/base/a.cpp": '#include "katana/base/a.hpp"\n#include <array>\n',
                      "katana/base/a_test.cpp": "#include <array>\n", "katana/base/b.cpp": "#include <array>\n"})


class DecisionsTest(TidyTest):
    check = "decisions"
    path = "docs/decisions/0001-a-decision.md"
    later = "docs/decisions/0007-another.md"
    text = ("# 0001: A listener closes after its drain\n\nTopic: Engines\n\nStatus: accepted\n\n"
            "Summary: A listener closes last.\nOtherwise connections are reset.\n\n"
            "## Context\n\nText.\n\n## Decision\n\nText.\n")

    def changed(self, old, new):
        self.assertIn(old, self.text)
        return {self.path: self.text.replace(old, new), self.later: self.text.replace("# 0001", "# 0007")}

    def test_a_decision_of_the_form_is_accepted_and_so_are_other_documents(self):
        self.accepts({self.path: self.text, "docs/guides/0001-a.md": "# A guide\n", "docs/decisions/a.txt": "text\n"})

    def test_title_topic_status_and_summary_are_asked_for_in_this_order(self):
        for name, old, new in (("title", "# 0001: A", "# A"), ("title", "drain\n", "drain.\n"),
                               ("title", "# 0001", "# 0002"), ("topic", "Topic: ", ""), ("status", "accepted", "new"),
                               ("summary", "Summary: ", ""), ("summary", "last.\n", "last. ")):
            with self.subTest(name, new=new):
                self.refuses(self.changed(old, new), f"{self.path}:1: its {name} has not the form")

    def test_the_status_names_later_decisions_that_exist(self):
        for kind, back in (("amended by", "amends"), ("superseded by", "supersedes")):
            for links in ("[0007](0007-another.md)", "[0007](0007-another.md), [0007](0007-another.md)"):
                files = self.changed("accepted", f"{kind} {links}")
                files[self.later] = files[self.later].replace("accepted",
                                                              f"accepted; {back} [0001](0001-a-decision.md)")
                self.accepts(files)

    def test_a_link_of_the_status_has_its_counterpart(self):
        files = self.changed("accepted", "amended by [0007](0007-another.md)")
        self.refuses(files, f"{self.path}:5: {self.later} does not say 'amends 0001'")
        files = self.changed("accepted", "accepted")
        files[self.later] = files[self.later].replace("accepted", "accepted; amends [0001](0001-a-decision.md)")
        self.refuses(files, f"{self.later}:5: {self.path} does not say 'amended by 0007'")
        files[self.path] = files[self.path].replace("accepted", "superseded by [0007](0007-another.md)")
        self.refuses(files, f"{self.path}:5: {self.later} does not say 'supersedes 0001'",
                     f"{self.later}:5: {self.path} does not say 'amended by 0007'")

    def test_a_decision_amends_an_earlier_one(self):
        self.refuses(self.changed("accepted", "accepted; amends [0007](0007-another.md)"),
                     f"{self.path}:5: '0007-another.md' is not the decision 0007, or not earlier")

    def test_the_target_of_a_link_is_that_decision(self):
        for link in ("[0007](0007-other.md)", "[0008](0007-another.md)", "[0001](0001-a-decision.md)"):
            with self.subTest(link):
                self.refuses(self.changed("accepted", f"amended by {link}"), f"{self.path}:5: '")

    def test_headings_are_those_of_the_list_in_its_order(self):
        self.accepts(self.changed("## Decision", "```\n## Code\n```\n\n### A part\n\n## Measured"))
        for heading in ("Why not", "Context"):
            self.refuses(self.changed("## Decision", f"## {heading}"), f"{self.path}:1: headings Context, {heading}")
        self.refuses(self.changed("## Context", "## Evidence"), f"{self.path}:1: headings Evidence, Decision")


class LicencesTest(TidyTest):
    check = "licences"
    line = "SPDX-License-Identifier: Apache-2.0"

    def test_code_that_ends_with_its_line_is_accepted(self):
        self.accepts({"katana/base/a.hpp": f"{CONTRACT}\n// {self.line}\n", "tools/x": f"#!/bin/sh\n\n# {self.line}\n",
                      "CMakeLists.txt": f"x()\n\n# {self.line}\n", "README.md": "# No code\n",
                      "tests/guides/log_guide.cpp": "int main() {}\n"})

    def test_code_without_it_or_with_it_elsewhere_is_refused(self):
        self.refuses({"a.cpp": "int a;\n", "b.cpp": f"// {self.line}\nint b;\n", "c.py": f"// {self.line}\n"},
                     "a.cpp:1: its last line does not name", "b.cpp:1: its last", "c.py:1: its last")

    def test_many_are_one_finding(self):
        self.refuses({f"{name}.cpp": "int a;\n" for name in range(30)}, "0.cpp:1: 30 files")

    def test_writing_adds_the_line_once(self):
        self.findings({"a.cpp": "int a;\n", "c.py": "c = 1\n"})
        for path in tidy.without_licence(self.tree):
            tidy.write_licence(self.tree, path)
        self.accepts({name: (self.root / name).read_text() for name in ("a.cpp", "c.py")})
        self.assertEqual((self.root / "a.cpp").read_text(), f"int a;\n\n// {self.line}\n")


class CommandTest(unittest.TestCase):
    def run_main(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                return tidy.main(arguments), out.getvalue()
            except SystemExit as stop:
                return stop.code, out.getvalue()

    def test_help_names_every_check(self):
        status, text = self.run_main("--help")
        self.assertEqual(status, 0)
        for name, check in tidy.CHECKS.items():
            self.assertTrue(check.__doc__)
            self.assertRegex(text, rf"(?m)^  {re.escape(name)} ")

    def test_wrong_usage_exits_with_2(self):
        self.assertEqual(self.run_main("--fast")[0], 2)
        self.assertEqual(self.run_main("--only", "nothing")[0], 2)

    def test_the_last_line_says_what_was_checked(self):
        last = self.run_main("--only", "cycles")[1].splitlines()[-1]
        self.assertRegex(last, r"^tidy: \d+ findings; 1 checks, \d+ files")


class PromisesTest(TidyTest):
    check = "promises"
    tests = {"katana/x/thing_test.cpp": "TEST(Thing, a_stranger_is_refused) {}\nTEST_F(ThingTest,\n       waits) {}\n",
             "katana/x/thing_fuzz.cpp": "", "tests/end_to_end/test_thing.py": "def test_a_stranger_is_refused():\n",
             "katana/net/engine/cases_test.hpp": "#define KATANA_CASE(name) TYPED_TEST_P(Engine, name)\n"
                                             "KATANA_CASE(accepts) {}\n",
             "katana/wire/http1/machine.cases.md": "# Cases\n## Two Hosts\n",
             "tests/conformance/h1corpus.json": '{"cases": [{"name": "smuggle-te"}]}', "tools/matrix": "row walk\n",
             "SECURITY.md": "", "docs/known-attacks.md": "", "docs/reference/limits.md": "", "docs/threat-model.md": "",
             "docs/asvs.md": ""}
    table = "| class | shown by |\n|---|---|\n"
    contract = "// Thing: it is.\n//\n// Invariant  it holds,\n//            whatever comes.\n#pragma once\n"

    def documents(self, text):
        return {**self.tests, "SECURITY.md": text}

    def test_every_way_to_name_a_test_is_known(self):
        for named in ("`Thing.a_stranger_is_refused`", "`Thing.*`", "`Thing`", "`ThingTest.waits`", "`thing_fuzz`",
                      "`test_a_stranger_is_refused`", "`thing_test.cpp::Thing.a_stranger_is_refused`",
                      "`Engine.accepts`", 'case "Two Hosts"', "corpus `smuggle-te`", "corpus `smuggle-*`",
                      "`tools/matrix walk`", "`…is_refused`", 'case "Two Hosts"; `Thing`',
                      "corpus `smuggle-te`, `smuggle-*`; `Thing`"):
            self.accepts(self.documents(f"{self.table}| a thing | {named} |\n"))

    def test_a_promise_without_a_test_and_a_test_that_is_not_there_are_refused(self):
        for named in ("`Thing.is_gone`", "`test_is_gone`", "`gone_fuzz`", 'case "Three Hosts"', "corpus `gone-*`",
                      "`tools/matrix gone`", "`other_test.cpp::Thing.a_stranger_is_refused`", "`thing_test.cpp`",
                      "`Thing`, `Gone`"):
            self.refuses(self.documents(f"{self.table}| a thing | {named} |\n"), "SECURITY.md:3: the test '")
        for nothing in ("", "of that module", "by review"):
            self.refuses(self.documents(f"{self.table}| a thing | {nothing} |\n"),
                         "SECURITY.md:3: no test shows 'a thing")

    def test_what_is_left_to_others_is_no_promise_and_other_tables_are_not_looked_at(self):
        for whose in ("the program's", "open", "the operator's: its network"):
            self.accepts(self.documents(f"{self.table}| a thing | {whose} |\n"))
        self.accepts(self.documents("| name | default |\n|---|---|\n| a | 1 |\n"))

    def test_a_bar_within_backticks_ends_no_cell(self):
        self.accepts(self.documents(f"{self.table}| `a|b` | `Thing` |\n"))

    def test_each_numbered_promise_says_what_shows_it(self):
        title = "## What is promised\n\n"
        self.accepts(self.documents(f"{title}1. It holds,\n   always. Shown by `Thing`.\n\n## More\n\n1. One.\n"))
        self.refuses(self.documents(f"{title}1. It holds. Shown by `Thing`.\n2. So does this, see `Thing`.\n"),
                     "SECURITY.md:4: no test shows '2. So does this")

    def test_each_page_of_promises_is_read_and_is_there(self):
        for page in ("SECURITY.md", "docs/known-attacks.md", "docs/reference/limits.md", "docs/threat-model.md",
                     "docs/asvs.md"):
            self.refuses({**self.tests, page: f"{self.table}| a thing | `Gone` |\n"}, f"{page}:3: the test 'Gone'")
            without = {path: text for path, text in self.tests.items() if path != page}
            self.refuses(without, f"{page}:1: the page is not there")

    def test_an_invariant_of_a_header_has_its_row(self):
        row = "| header | shown by |\n|---|---|\n| [`katana/x/thing.hpp`](../katana/x/thing.hpp) | `Thing` |\n"
        self.accepts({**self.tests, "katana/x/thing.hpp": self.contract, "docs/invariants.md": row})
        self.refuses({**self.tests, "katana/x/thing.hpp": self.contract},
                     "katana/x/thing.hpp:3: no test shows 'it holds, whatever comes.'")
        gone = row.replace("`Thing`", "`Gone`")
        self.refuses({**self.tests, "katana/x/thing.hpp": self.contract, "docs/invariants.md": gone},
                     "katana/x/thing.hpp:3: the test 'Gone'")
        self.refuses({**self.tests, "docs/invariants.md": row},
                     "docs/invariants.md:1: katana/x/thing.hpp has no invariant any more")
        self.accepts({**self.tests, "katana/x/thing.hpp": self.contract.replace("it holds,", "none.").replace(
            "//            whatever comes.\n", "")})

    def test_the_list_of_headers_without_a_test_only_becomes_shorter(self):
        row = "| header | shown by |\n|---|---|\n| [`katana/x/thing.hpp`](../katana/x/thing.hpp) | `Thing` |\n"
        excused = {"tools/promises_ratchet.json": '["katana/x/thing.hpp"]'}
        self.accepts({**self.tests, **excused, "katana/x/thing.hpp": self.contract})
        self.refuses({**self.tests, **excused, "katana/x/thing.hpp": self.contract, "docs/invariants.md": row},
                     "tools/promises_ratchet.json:1: katana/x/thing.hpp has a test now")
        self.refuses({**self.tests, **excused},
                     "tools/promises_ratchet.json:1: katana/x/thing.hpp has no invariant, or is gone")


class DeadTest(TidyTest):
    check = "dead"
    header = "int twice(int x);\nstruct Thing {\n  bool is_new() const noexcept { return true; }\n};\n"
    files = {"katana/base/a.hpp": header, "katana/base/a.cpp": "int twice(int x) { return 2 * x; }\n",
             "katana/base/a_test.cpp": "int main() { return twice(2) + Thing().is_new(); }\n"}

    def test_a_function_that_only_tests_call_is_refused(self):
        self.refuses(self.files, "katana/base/a.hpp:3: only tests call is_new()",
                     "katana/base/a.hpp:1: only tests call twice()")

    def test_a_caller_in_production_or_a_page_of_users_is_enough(self):
        self.accepts({**self.files, "katana/base/b.cpp": "int four() {\n  return base::twice(2);\n}\n",
                      "docs/guides/a.md": "Call `is_new()`.\n"})
        self.refuses({**self.files, "katana/base/b.cpp": "void b() {\n  base::twice(2);\n}\n",
                      "docs/decisions/0001-a.md": "`is_new()` was added.\n"}, "katana/base/a.hpp:3: only tests call")

    def test_a_reason_excuses_a_name_and_goes_with_it(self):
        kept = {"tools/tidy_dead.txt": "is_new  a state that tests observe\ntwice   for users\n"}
        self.accepts({**self.files, **kept})
        self.refuses({**self.files, **kept, "katana/base/b.cpp": "void b() {\n  base::twice(2);\n}\n"},
                     "tools/tidy_dead.txt:1: twice() has a caller")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
