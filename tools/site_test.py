#!/usr/bin/python3
"""Tests of tools/site: small trees and headers, and what becomes of them."""

import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from site_parts import (api, built, claims, comments, diagrams, families, finish, headers, index,  # noqa: E402
                        markdown, messages, search, settings, slim, stage)

ROOT = Path(__file__).resolve().parent.parent

HEADER = """\
// Tank: what holds water.
//
// Owns      the water.
// Thread    its reactor's only,
//           for `fill`, too.
#pragma once

namespace katana {

// A tank of `litres_max`, see */ and \\\\endverbatim.
class Tank {
 public:
  // Litres that fit; fewer than asked for
  // when it is full.
  int fill(int litres);
  void drain();

  int level() const;

 private:
  int level_ = 0;
};

enum class State {
  dry,  // nothing is in it
  wet,
};

// Which way the water goes.
enum class Way { in, out };

namespace detail {
int hidden();
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
"""


class Folder(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, files):
        for path, text in files.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        return sorted(files)


class CommentsTest(unittest.TestCase):
    def test_lines_keep_their_numbers(self):
        self.assertEqual(comments.convert(HEADER).count("\n"), HEADER.count("\n"))

    def test_a_comment_before_a_declaration_is_its_own_and_a_free_one_is_nobodys(self):
        text = comments.convert("#pragma once\n// Free.\n\n// Of f.\nint f();\n")
        self.assertNotIn("Free", text)
        self.assertIn("/** \\verbatim Of f. \\endverbatim */\nint f();", text)

    def test_a_macro_has_its_comment_and_an_include_has_none(self):
        text = comments.convert("#pragma once\n// Of it.\n#include <a>\n// Of M.\n#define M 1\n")
        self.assertNotIn("Of it", text)
        self.assertIn("Of M. \\endverbatim */\n#define M 1", text)

    def test_slashes_in_a_string_are_no_comment(self):
        line = 'const char* url = "http://a";'
        self.assertEqual(comments.convert(line), line)

    def test_a_trailing_comment_goes_on_below_where_it_begins(self):
        text = comments.convert("#pragma once\nint a;  // one\n        // two\nint b;\n")
        self.assertIn("int a;  /**< \\verbatim one\ntwo \\endverbatim */\nint b;", text)


class HeadersTest(Folder):
    def read(self):
        files = self.write({"katana/base/tank.hpp": HEADER})
        with tempfile.TemporaryDirectory() as folder:
            return headers.read(self.root, folder, headers.public_headers(files))

    def test_the_contract_is_read_with_the_lines_that_go_on(self):
        summary, rows = headers.contract_of(HEADER)
        self.assertEqual(summary, "Tank: what holds water.")
        self.assertEqual(rows, [("Owns", "the water."), ("Thread", "its reactor's only, for `fill`, too.")])

    def test_public_names_have_their_comments_and_others_are_not_there(self):
        (header,) = self.read().values()
        tank, state, _ = header.entities
        self.assertEqual([member.name for member in tank.members], ["fill", "drain", "level"])
        self.assertEqual(tank.members[0].comment, "Litres that fit; fewer than asked for\nwhen it is full.")
        self.assertIn("see * / and", tank.comment)
        self.assertEqual([value.comment for value in state.members], ["nothing is in it", ""])

    def test_names_without_a_comment_are_found_and_those_in_a_row_share_one(self):
        (header,) = self.read().values()
        self.assertEqual([each.name for each in headers.undocumented(header)], ["level", "State"])

    def test_a_contract_names_what_stands_before_its_colon(self):
        for summary, names in (("Path<T>, Query<T> and take(): parameters.", {"Path", "Query", "and", "take"}),
                               ("std::move_only_function, without the rest of <functional>.", set()),
                               ("of" * 200 + " water.", set())):  # the time must not double with each letter
            self.assertEqual(headers.contract_names(summary), names)

    def test_names_whose_meaning_is_said_elsewhere_need_no_comment(self):
        text = """\
// Form: how a type is written as text.
#pragma once

namespace katana {

template <class T>
struct Form;

template <>
struct Form<int> {
  static int parse(const char* text);
};

class Tank {
 public:
  explicit Tank(int litres);
  Tank(const Tank&) = delete;
  bool operator==(const Tank&) const = default;
  const char* begin() const;
  const char* end() const;
  int size() const;

 private:
  struct Valve;
};

struct Tank::Valve {
  int turn();
};

template <class T>
struct Bare {};

template <class T>
concept Small = sizeof(T) < 9;

template <>
struct Bare<int> {};

}  // namespace katana
"""
        files = self.write({"katana/base/form.hpp": text})
        with tempfile.TemporaryDirectory() as folder:
            (header,) = headers.read(self.root, folder, headers.public_headers(files)).values()
        self.assertEqual([each.name for each in headers.undocumented(header)], ["Tank", "Bare", "Small", "Bare<int>"])
        self.assertNotIn("Valve", [each.name for each in header.entities])

    def test_a_member_has_the_help_of_its_description_where_it_is_said(self):
        described = 'KATANA_DESCRIBE(Tank, (litres, help("of water")), (notice, option_rules::notice))\n'
        helps = headers.help_texts(['inline constexpr auto notice =\n    rules::help("so long (503)");\n', described])
        self.assertEqual(helps, {("Tank", "litres"): "of water", ("Tank", "notice"): "so long (503)"})

    def test_a_page_shows_contract_declaration_and_comment(self):
        (self.root / "CMakeLists.txt").write_text('katana_component(base ABOUT "tanks" MODULES base)\n')
        read = self.read()
        pages = api.Pages(self.root, read, set(read)).all()
        page = pages["api/katana/base/tank.md"]
        for expected in ("component `katana::base`", "| **Owns** | the water. |", "### `fill` {#type-tank-fill}",
                         "int fill(int litres);", "| `dry` | nothing is in it |"):
            self.assertIn(expected, page)
        self.assertNotIn("hidden", page)
        self.assertIn("[tank](../api/katana/base/tank.md)", pages["api/index.md"])

    def test_users_include_what_the_headers_of_katana_itself_include_however_far(self):
        files = self.write({"katana/water.hpp": '#include "katana/tanks/tank.hpp"\n', "katana/tanks/pump.hpp": "",
                            "katana/tanks/tank.hpp": '#include <a>\n#include "katana/tanks/wall.hpp"\n',
                            "katana/tanks/wall.hpp": '#include "katana/tanks/tank.hpp"\n'})
        include = api.Includes(self.root, files)
        self.assertEqual(include.gathered(), {"katana/water.hpp", "katana/tanks/tank.hpp"})
        self.assertEqual(include.user_headers(), set(files) - {"katana/tanks/pump.hpp"})

    def test_an_internal_header_is_listed_and_has_no_page(self):
        (self.root / "CMakeLists.txt").write_text("katana_module(tanks LINKS fmt)\nkatana_module(base LINKS fmt)\n")
        files = ["katana/base/pump.hpp", "katana/tanks/tank.hpp", "katana/tanks/wall.hpp"]
        read = {path: headers.Header(path, "Wall: keeps water.", [], []) for path in files}
        pages = api.Pages(self.root, read, {"katana/tanks/tank.hpp"})
        made = pages.all()
        self.assertIn("| `katana/tanks/wall.hpp` | keeps water. |", made["api/katana/tanks/index.md"])
        self.assertIn("Programs do not include its headers.", made["api/katana/base/index.md"])
        self.assertNotIn("api/katana/tanks/wall.md", made)
        self.assertEqual(pages.navigation()[2], {"base": ["api/katana/base/index.md"]})

    def test_anchors_of_a_page_differ(self):
        self.assertEqual(api.with_own_anchors("# A {#a}\n## B {#a}\n## C {#c}\n"), "# A {#a}\n## B {#a-2}\n## C {#c}\n")

    def test_modules_stand_in_the_order_of_the_tree_and_have_the_headers_of_their_folders(self):
        (self.root / "CMakeLists.txt").write_text(
            "# tanks: what holds water.\nkatana_module(tanks FOLDERS small LINKS fmt)\n"
            'katana_module(base THREADED LINKS tanks)\nkatana_component(water ABOUT "tanks" MODULES tanks)\n')
        files = ["katana/base/pump.hpp", "katana/tanks/small/tank.hpp", "katana/water.hpp"]
        pages = api.Pages(self.root, {path: headers.Header(path, "", [], []) for path in files}, set(files))
        index_page = pages.all()["api/index.md"]
        self.assertIn("## katana/tanks {#folder-tanks}\n\nWhat holds water.\n", index_page)
        self.assertIn("| `katana::water` | [tank](../api/katana/tanks/small/tank.md) |", index_page)
        self.assertLess(index_page.index("katana/tanks"), index_page.index("## katana/base"))
        self.assertEqual(pages.navigation()[2], {"tanks": ["api/katana/tanks/index.md",
                                                           {"small/tank.hpp": "api/katana/tanks/small/tank.md"}]})

    def test_headers_of_a_module_of_several_folders_stand_by_folder(self):
        (self.root / "CMakeLists.txt").write_text("katana_module(tanks FOLDERS big small LINKS fmt)\n")
        files = ["katana/tanks/big/tank.hpp", "katana/tanks/small/cup.hpp"]
        pages = api.Pages(self.root, {path: headers.Header(path, "", [], []) for path in files}, set(files))
        self.assertEqual(pages.navigation()[1], {"tanks": [
            "api/katana/tanks/index.md", {"big": [{"tank.hpp": "api/katana/tanks/big/tank.md"}]},
            {"small": [{"cup.hpp": "api/katana/tanks/small/cup.md"}]}]})

    def test_a_folder_of_several_modules_is_a_section_of_them(self):
        rows = "katana_module(net/engine LINKS fmt)\nkatana_module(net/tls LINKS fmt)\n"
        (self.root / "CMakeLists.txt").write_text(rows)
        files = ["katana/net/engine/link.hpp", "katana/net/tls/options.hpp"]
        pages = api.Pages(self.root, {path: headers.Header(path, "", [], []) for path in files}, set(files))
        self.assertEqual(pages.navigation()[1:], [{"net": [
            {"net/engine": ["api/katana/net/engine/index.md", {"link.hpp": "api/katana/net/engine/link.md"}]},
            {"net/tls": ["api/katana/net/tls/index.md", {"options.hpp": "api/katana/net/tls/options.md"}]}]}])


class SlimTest(Folder):
    def test_white_space_around_blocks_goes_and_that_of_words_and_code_stays(self):
        self.assertEqual(slim.slim("<!-- a -->\n<ul>\n  <li>\n    one <b>two</b>\n    three\n  </li>\n</ul>\n"
                                   "<pre>a\n  <b>b</b>\n</pre>\n<p> x <code> y </code> </p>\n"),
                         "<ul><li>one <b>two</b> three</li></ul><pre>a\n  <b>b</b>\n</pre><p>x <code> y </code></p>")

    def test_a_site_beyond_its_limit_is_a_finding(self):
        (self.root / "a.js").write_text("x" * 11)
        self.assertEqual(list(slim.size_findings(self.root, 11)), [])
        self.assertEqual(len(list(slim.size_findings(self.root, 10))), 1)


class LinksTest(Folder):
    def broken(self, files):
        return list(stage.broken_links(self.root, self.write(files)))

    def test_a_dead_link_and_a_dead_anchor_are_named_with_their_line(self):
        found = self.broken({"docs/a.md": "# A\n\n[b](b.md) [c](c.md) [d](b.md#two)\n", "docs/b.md": "# B\n\n## One\n"})
        self.assertEqual(len(found), 2)
        self.assertTrue(found[0].startswith("docs/a.md:3: 'c.md' names no file"), found[0])
        self.assertIn("no heading with the anchor 'two'", found[1])

    def test_what_is_right_or_in_code_or_elsewhere_is_not_named(self):
        self.assertEqual(self.broken({"docs/a.md": "[b](b.md#one-path-t-two) `[x](x.md)` [e](https://example.org)\n"
                                                   "```\n[y](y.md)\n```\n[here](.)\n",
                                      "docs/b.md": "# B\n\n## One `Path<T>`, two\n".replace("Path<T>", "path-t")}), [])

    def test_anchors_are_those_of_headings(self):
        self.assertEqual([anchor for _, _, anchor in markdown.headings("# A `B<C>`!\n## D\n## D\n## E {#f}\n")],
                         ["a-bc", "d", "d_1", "f"])


class IndexTest(Folder):
    def found(self, text, *others):
        files = self.write({"docs/README.md": text, **{name: "# A page\n" for name in others}})
        return list(index.findings(self.root, files))

    def test_a_page_that_is_missing_or_listed_twice_is_named(self):
        found = self.found("[a](guides/a.md) [a](guides/a.md#one)\n", "docs/guides/a.md", "docs/operate/b.md")
        self.assertEqual([each.split(". ")[0] for each in found],
                         ["docs/README.md: docs/guides/a.md is linked 2 times",
                          "docs/README.md: docs/operate/b.md is linked 0 times"])

    def test_pages_that_are_listed_once_and_pages_of_other_folders_are_accepted(self):
        self.assertEqual(self.found("[a](guides/a.md)\n", "docs/guides/a.md", "docs/decisions/0001-a.md"), [])

    def test_metrics_of_pages_for_operators_exist(self):
        files = self.write({"docs/reference/metrics.md": "`katana_open_total` `katana_time_seconds`\n",
                            "docs/guides/queue.md": "`katana_queue_ready`\n",
                            "docs/operate/a.md": "`katana_queue_ready` `katana_opened_total`\n",
                            "docs/operate/b.json": '{"expr": "katana_time_seconds_bucket + katana_queue_ready"}'})
        found = list(index.metric_findings(self.root, files))
        self.assertEqual([each.split(" (")[0] for each in found],
                         ["docs/operate/a.md: no program serves 'katana_opened_total'",
                          "docs/operate/b.json: no program serves 'katana_queue_ready'"])

    def test_messages_in_code_style_are_in_a_source(self):
        files = self.write({"katana/base/tank.cpp": 'fail("the tank is full, " \n     "raise litres_max");\n',
                            "docs/operate/a.md": "| message contains | cause |\n|---|---|\n"
                                                 "| `tank is full, raise …`, \"No such file\" | one |\n"
                                                 "| `the tank … is empty` | `not looked for` |\n"})
        (found,) = index.message_findings(self.root, files)
        self.assertIn("docs/operate/a.md: no source has the message 'is empty'.", found)


class ClaimsTest(Folder):
    FEATURES = '[features]\n"guides/redis.md" = ["Redis"]\n'

    def test_a_feature_that_katana_is_said_to_lack_is_named_and_one_with_its_page_is_not(self):
        lacking = "# A\n\n## What A has and KATANA lacks\n\n- {}\n- An ORM.\n\n## What KATANA adds\n\n- Redis.\n"
        for point, count in (("A Redis\n  client.", 1), ("Redis Sentinel. KATANA has [Redis](../guides/redis.md).", 0),
                             ("A redistribution.", 0)):
            files = self.write({claims.FEATURES: self.FEATURES, "docs/guides/redis.md": "# Redis\n",
                                "docs/coming-from/a.md": lacking.format(point)})
            self.assertEqual(len(list(claims.feature_findings(self.root, files))), count, point)

    def test_a_feature_whose_page_is_gone_is_named(self):
        files = self.write({claims.FEATURES: self.FEATURES})
        self.assertEqual(list(claims.feature_findings(self.root, files)),
                         ["docs/site/features.toml: there is no page docs/guides/redis.md."])

    def test_a_metric_without_the_ending_of_its_family_or_of_no_family_is_named(self):
        files = self.write({"docs/reference/metrics.md": "`katana_output_sheds_total`\n",
                            "apps/chat/a.cpp": 'Row{"katana_chat_lost"}',
                            "SECURITY.md": "`katana_output_sheds` `katana_gone_total` `katana_app_redis` "
                                           "`katana_output_sheds_total` `katana_chat_lost_total`\n"})
        self.assertEqual([each.split(" (")[0] for each in claims.metric_findings(self.root, files)],
                         ["SECURITY.md: no program serves 'katana_gone_total'",
                          "SECURITY.md: 'katana_output_sheds' is served as 'katana_output_sheds_total'. "
                          "Correct the name."])

    def test_a_commit_that_the_history_has_not_is_named_and_those_of_others_are_not(self):
        files = self.write({"docs/figures/a.md": "2026-11-22, commit ce036a4, and commit `0000000`.\n",
                            "docs/scale.md": "AMD (2026-11-25, 1111111):\n",
                            "docs/decisions/0001-a.md": "HttpArena (its commit 28606ba, 2026-04-29)\n"})
        found = list(claims.commit_findings(self.root, files, lambda _, commit: commit == "ce036a4"))
        self.assertEqual([each.split(".md:")[1].split(". ")[0] for each in found],
                         [" the history has no commit 0000000", " the history has no commit 1111111"])

    def test_the_table_of_costs_keeps_its_markers_and_its_commit(self):
        table = "<!-- measured -->\n`lab/cost.py --readme`, commit ce036a4.\n<!-- /measured -->\n"
        for text, count in ((table, 0), (table.replace("<!-- /measured -->", ""), 1), (table.replace("commit", ""), 1)):
            files = self.write({"README.md": text})
            self.assertEqual(len(list(claims.commit_findings(self.root, files, lambda *_: True))), count, text)


class MessagesTest(Folder):
    SOURCE = """\
        // logger_.info("a comment");
        logger_.warn("{} is full: "
                     "{}", name, why);
        options_.logger->error("{}", text);  // the text of another part
        report({.what = "a job threw"});
        return problem(503, "The tank is empty.");
        return {404, "Not Found"};
        constexpr Bytes is_full = "The tank is full.";
        answer(413, is_full);
    """
    PAGES = {"docs/reference/log-messages.md": [("failure", "`a job threw`"), ("warn", "`… is full: …`")],
             "docs/reference/errors.md": [("413", "`The tank is full.`"), ("503", "`The tank is empty.`")]}

    def tree(self, **changed):
        files = {"katana/http/tank.cpp": self.SOURCE}
        for name, rows in self.PAGES.items():
            rows = changed.get(name.split("/")[-1].split(".")[0].replace("-", "_"), rows)
            files[name] = "| a | b | c |\n|---|---|---|\n" + "".join(f"| {first} | {words} | why |\n"
                                                                   for first, words in rows)
        return self.write(files)

    def test_messages_of_the_sources_are_found(self):
        files = self.tree()
        for name, rows in self.PAGES.items():
            self.assertEqual(messages.listed(self.root, files, name), rows)
        self.assertEqual(list(messages.findings(self.root, files)), [])

    def test_a_message_that_a_page_has_not_or_has_for_nothing_is_named(self):
        files = self.tree(log_messages=[("warn", "`… is full: …`"), ("info", "`gone`")])
        found = list(messages.findings(self.root, files))
        self.assertEqual([each.split(". ")[0] for each in found],
                         ["docs/reference/log-messages.md: failure `a job threw` is missing",
                          "docs/reference/log-messages.md: no source has info `gone`"])

    def test_what_was_written_of_a_message_stays_and_a_new_one_wants_it(self):
        files = self.tree(errors=[("503", "`The tank is empty.`")])
        table = messages.table(self.root, files, "docs/reference/errors.md")
        self.assertIn("| 503 | `The tank is empty.` | why |", table)
        (self.root / "docs/reference/errors.md").write_text(table)
        self.assertEqual(list(messages.findings(self.root, files)),
                         ["docs/reference/errors.md: 413 `The tank is full.` has no meaning yet. Write it into the "
                          "last column."])


class TypesOfProblemsTest(Folder):
    TYPE = """\
// The tank is
// empty.
// Client: Fill "it".
inline constexpr ProblemType tank_empty{
    .uri = "urn:katana:problem:tank-empty",
    .status = 503,
    .title = "Service Unavailable"};
"""
    ROW = "| `urn:katana:problem:tank-empty` | 503 | The tank is empty. | Fill \"it\". |"

    def tree(self, row, source=""):
        return self.write({messages.TYPES: self.TYPE, "katana/http/tank.cpp": source,
                           "docs/reference/errors.md": row + "\n"})

    def test_the_types_of_the_header_are_the_rows_of_the_page(self):
        files = self.tree(self.ROW)
        self.assertIn(self.ROW, messages.types_table(self.root, files))
        self.assertEqual(list(messages.type_findings(self.root, files)), [])

    def test_a_type_that_the_page_lacks_or_has_for_nothing_is_named(self):
        files = self.tree(self.ROW.replace("tank-empty", "tank-full"))
        self.assertEqual([each.split(". ")[0] for each in messages.findings(self.root, files)],
                         ["docs/reference/errors.md: urn:katana:problem:tank-empty is missing",
                          "docs/reference/errors.md: no source has urn:katana:problem:tank-full"])

    def test_a_problem_of_the_framework_without_a_type_is_a_mistake(self):
        files = self.tree(self.ROW, 'return problem(503, words);')
        self.assertEqual([each.split(". ")[0] for each in messages.type_findings(self.root, files)],
                         ["katana/http/tank.cpp: problem(STATUS, …) has no type"])

    def test_the_detail_of_a_problem_with_a_type_has_the_status_of_the_type(self):
        files = self.tree(self.ROW, 'return problem(problem_types::tank_empty, "Wait for the lorry.");')
        self.assertEqual(messages.problems(self.root, files), {("503", "Wait for the lorry.")})


class SettingsTest(Folder):
    SOURCE = """\
KATANA_DESCRIBE(ApplicationSettings,
                (development, help("names (of tables, and more) are shown")), http,
                (jobs, help("by name")))

KATANA_DESCRIBE_DERIVED(SettingsWithDatabase, ApplicationSettings, queue)

"""
    PRINTED = ("development: false   # names\nhttp:\n  port: 0\nmine: 1\njobs: {}   # by name\n  # job: {}\n"
               "queue:\n  poll: 1s\n")

    def test_the_page_has_a_section_for_each_group_and_none_for_keys_of_the_program_that_prints_them(self):
        printed = [self.PRINTED, "http:\n  port: 2\nbus:\n  url: ''\n"]
        page = settings.page(printed, ("mine",), "http:\n  port: 1\nlogin:\n  enabled: false\n")
        self.assertIn("## http\n\n```yaml\nhttp:\n  port: 0\n```\n", page)
        self.assertIn("## jobs\n\n```yaml\njobs: {}   # by name\n  # job: {}\n```\n", page)
        self.assertIn("## login\n\nOf the program `fullstack` alone.", page)
        self.assertIn("## bus\n\n```yaml\nbus:\n  url: ''\n```\n", page)
        self.assertNotIn("mine", page)
        files = self.write({settings.SOURCE: self.SOURCE, settings.PAGE: page})
        self.assertEqual(list(settings.findings(self.root, files)), [])

    def test_the_site_has_a_table_of_the_settings_with_the_keys_above_them(self):
        block = 'jobs:   # by name\n  # NAME:\n  #   retry: null   # how_often\n  cron: "0 * * * *"\n'
        self.assertEqual(settings.rows_of(block), [("jobs", "", "by name"), ("jobs.NAME.retry", "null", "how_often"),
                                                   ("jobs.cron", '"0 * * * *"', "")])
        self.assertIn("| `jobs.NAME.retry` | `null` | how\\_often |", settings.tabled(f"# A\n\n```yaml\n{block}```\n"))
        with self.assertRaisesRegex(ValueError, "is no setting"):
            settings.rows_of("- one\n")

    def test_a_group_that_the_page_lacks_is_named(self):
        files = self.write({settings.SOURCE: self.SOURCE,
                            "katana/app/nats/nats.cpp": 'NatsPart() : PartWith("bus", "messages") {}',
                            settings.PAGE: settings.page(["development: false\nhttp:\n  port: 0\n"], (), "")})
        self.assertEqual([each.split(". ")[0] for each in settings.findings(self.root, files)],
                         ["docs/reference/settings.md: the settings 'bus' are missing",
                          "docs/reference/settings.md: the settings 'jobs' are missing",
                          "docs/reference/settings.md: the settings 'queue' are missing"])


class FamiliesTest(Folder):
    SOURCE = """\
        registry.counters({.name = "katana_jobs", .help = "Jobs that "
                           "ran.", .labels = {"job"}});
        Row{"katana_up", "Connections.", true, f}, Row{"katana_lost", "Lost ones.", false, f};
    """

    def test_families_that_no_program_serves_are_found_in_the_sources(self):
        files = self.write({"katana/http/tank.cpp": self.SOURCE,
                            "docs/reference/metrics.md": "| `katana_lost_total` | counter | | Lost ones. |\n"})
        self.assertEqual(families.registered(self.root, files),
                         {"katana_jobs_total": ("counter", "job", "Jobs that ran."),
                          "katana_up": ("gauge", "", "Connections."),
                          "katana_lost_total": ("counter", "", "Lost ones.")})
        self.assertEqual([each.split(". ")[0] for each in families.findings(self.root, files)],
                         ["docs/reference/metrics.md: katana_jobs_total is missing",
                          "docs/reference/metrics.md: katana_up is missing"])
        self.assertNotIn("katana_lost", families.others(self.root, files, {"katana_lost_total"}))

    def test_families_whose_names_end_with_a_signal_are_found_in_the_sources(self):
        files = self.write({"katana/app/fates.cpp": """\
            std::string name = "katana_sent_" + sender.signal();
            const char* const help = sender.signal() == "spans" ? "Spans." : "Records.";
            return {.name = name, .help = help, .labels = {"outcome"}};
        """})
        self.assertEqual(families.registered(self.root, files),
                         {"katana_sent_spans_total": ("counter", "outcome", "Spans."),
                          "katana_sent_log_records_total": ("counter", "outcome", "Records.")})


class NavigationTest(Folder):
    def test_a_guide_that_is_not_named_is_listed_and_a_name_without_a_page_is_a_mistake(self):
        self.write({"docs/site/nav.toml": '[[section]]\ntitle = "Guides"\npages = ["guides/a.md", "guides/x.md"]\n'
                                          'rest = "guides/*.md"\n'})
        pages = type("Pages", (), {"root": self.root, "pages": {"guides/a.md": "# A\n", "guides/b.md": "# New\n",
                                                                "other.md": "# Other\n"}})
        mistakes = []
        nav = stage.navigation(pages, mistakes)
        self.assertEqual(nav, [{"Guides": [{"A": "guides/a.md"}, {"More guides": [{"New": "guides/b.md"}]}]}])
        self.assertEqual(len(mistakes), 2)
        self.assertIn("'guides/x.md' names no page", mistakes[0])
        self.assertIn("no section has 'other.md'", mistakes[1])


    def test_pages_of_a_group_stand_by_their_topics(self):
        self.write({"docs/site/nav.toml": '[[section]]\ntitle = "Project"\n[[section.group]]\ntitle = "Decisions"\n'
                                          'by = "Topic"\npages = ["d/*.md"]\n'})
        pages = type("Pages", (), {"root": self.root, "pages": {
            "d/1.md": "# A\n\nTopic: Tests\n", "d/2.md": "# B\n\nTopic: Build\n", "d/index.md": "# All\n"}})
        self.assertEqual(stage.navigation(pages, []), [{"Project": [{"Decisions": [
            {"All": "d/index.md"}, {"Build": [{"B": "d/2.md"}]}, {"Tests": [{"A": "d/1.md"}]}]}]}])


class SearchTest(Folder):
    def test_pages_of_words_and_queries_exist(self):
        self.write({"docs/site/search.toml": '[words]\n"a.md" = ["x"]\n"b.md" = ["y"]\n'
                                            '[queries]\n"x" = ["a.md", "c.md"]\n'})
        found = list(search.word_findings(self.root, {"a.md": ""}))
        self.assertEqual([each.split(" names")[0] for each in found],
                         ["docs/site/search.toml: 'b.md' (words)", "docs/site/search.toml: 'c.md' (the query 'x')"])

    def site(self, docs):
        self.write({"search/search_index.json": json.dumps({"config": {"separator": " "}, "docs": [
            {"location": place, "title": title, "text": text, **more} for place, title, text, more in docs]})})
        search.write_texts(self.root)
        (self.root / "site").mkdir()
        shutil.copyfile(ROOT / "docs/site/search.js", self.root / "site/search.js")

    def test_texts_stand_once_as_a_reader_sees_them(self):
        self.site([("a.html", "<code>A</code>", "<p>It's &quot;one&quot; &amp;</p><p><b>…</b></p>", {"boost": 4}),
                   ("a.html#b", "B", "", {})])
        self.assertEqual((self.root / search.TEXTS).read_text(),
                         'var __texts=[\n["a.html",4,[],["","A","It\'s \\"one\\" & \\u2026","b","B",""]]\n]\n')
        self.assertFalse((self.root / "search/search_index.json").exists())
        self.assertEqual((list(search.size_findings(self.root, 100)), len(list(search.size_findings(self.root, 50)))),
                         ([], 1))

    @unittest.skipUnless(shutil.which("node"), "needs Node")
    def test_the_page_with_the_word_comes_before_one_that_only_mentions_it(self):
        self.site([("mentions.html", "Pipes", "pumps pumps pumps", {}),
                   ("title.html", "How a pump works", "", {}), ("title.html#more", "More", "of the pump", {}),
                   ("named.html", "Motors", "", {"tags": ["pump"]}), ("inside.html", "MainValve", "", {}),
                   ("redirect.html", "Redirect", "redirects", {}), ("redis.html", "Stores", "Redis", {})])
        for query, wanted in (("pump", ["named.html", "title.html", "mentions.html"]),
                              ("pumping works", ["title.html"]),
                              ('"the pump"', ["title.html#more"]), ("valve", ["inside.html"]),
                              ("redis", ["redis.html"]), ("nothing", [])):
            asked = search.ask(self.root, [query])[query]
            self.assertEqual(asked[:len(wanted) or None], wanted, query)
        self.assertNotIn("redirect.html", search.ask(self.root, ["redis"])["redis"])

    def test_answers_are_pages_each_once(self):
        self.assertEqual(search.first_pages(["guides/a.html#one", "guides/a.html", "b.html"]), ["guides/a.md", "b.md"])


class FinishTest(Folder):
    PAGE = ('<head><script>__md_scope=new URL("/",location)</script></head><a href="/b.html">b</a>'
            '<h1>404 - Not found</h1><script id="__config">{"base": "/", "search": '
            '"/assets/javascripts/workers/search.0f.min.js"}</script>')

    def test_links_of_the_page_that_is_not_found_lead_from_disk(self):
        changes = finish.Changes()
        page = finish.page(changes, "404.html", finish.not_found(changes, self.PAGE))
        self.assertEqual(changes.missing, [])
        self.assertIn('<a href="b.html">', page)
        self.assertIn('"search": "site/search.js"', page)
        self.assertNotIn('"/', page.replace(finish.BASE, "").replace(finish.BASE_OF_CONFIG, ""))

    def test_what_all_pages_have_is_in_files_and_scripts_of_tabs_stay_where_tabs_are(self):
        icon = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M1 2z"/></svg>'
        tabs = '<script>var tabs=__md_get("__tabs");</script>'
        page = (f'<link href="../site/site.css"><script>var palette=__md_get("__palette")</script>{icon}{icon}'
                f"<article>{{}}</article>{tabs}")
        shared = finish.Shared()
        self.assertEqual(shared.taken(page.format("a")), '<link href="../site/site.css"><script '
                         'src="../site/palette.js"></script><svg class="i0"></svg><svg class="i0"></svg>'
                         "<article>a</article>")
        self.assertIn(tabs, shared.taken(page.format('<div class="tabbed-set">')))
        self.assertEqual(shared.script, 'var palette=__md_get("__palette")')
        self.assertIn('.i0{--icon:url("data:image/svg+xml,%3Csvg', shared.style())

    def test_another_theme_is_a_finding(self):
        changes = finish.Changes()
        finish.page(changes, "a.html", "<p>")
        self.assertEqual(len(changes.missing), 1)


class BuiltTest(Folder):
    def test_what_is_missing_or_loaded_from_elsewhere_is_named(self):
        self.write({"a.html": '<a href="b.html#one">1</a><a href="b.html#two">2</a><a href="c.html">3</a>'
                              '<script src="https://cdn.example/x.js"></script>', "b.html": '<h2 id="one">One</h2>'})
        found = list(built.findings(self.root))
        self.assertEqual(len(found), 3)
        self.assertTrue(any("loads https://cdn.example/x.js" in each for each in found))
        self.assertTrue(any("b.html has no such anchor" in each for each in found))
        self.assertTrue(any("c.html, which does not exist" in each for each in found))


class DiagramsTest(unittest.TestCase):
    def test_transitions_of_one_pair_are_one_edge_and_anything_else_is_refused(self):
        text = diagrams.states("  [*] --> idle\n  idle --> closed: end\n  idle --> closed: limit\n  closed --> [*]\n")
        self.assertIn('idle -> closed [label="end\\nlimit"];', text)
        with self.assertRaisesRegex(ValueError, "is no transition"):
            diagrams.states("idle ==> closed")

    def test_a_picture_has_the_colour_of_its_page(self):
        drawn = diagrams.picture("stateDiagram-v2\n  [*] --> idle: begin\n")
        self.assertIn('stroke="currentColor"', drawn)
        self.assertIn('fill="currentColor">begin<', drawn)
        self.assertNotRegex(drawn, "black|#[0-9a-f]{6}")

    def test_the_nodes_of_a_flow_have_their_titles(self):
        text = diagrams.flow('  a -->|"fills<br>it"| T["the tank"]\n  T --> b\n', "LR")
        self.assertIn('a -> T [label="fills\\nit"];', text)
        self.assertIn('T [label="the tank"];', text)
        with self.assertRaisesRegex(ValueError, "is no edge"):
            diagrams.flow("a === b", "LR")

    def test_a_sequence_has_a_lane_for_each_participant_and_an_arrow_for_each_message(self):
        drawn = diagrams.picture("sequenceDiagram\n  participant A as the <tank>\n  A->>b: fill\n  b-->>b: wait\n"
                                 "  Note over A,b: full\n")
        counts = [drawn.count(mark) for mark in ('class="lane"', 'class="head"', "dasharray")]
        self.assertEqual(counts, [2, 2, 1])
        self.assertIn("the &lt;tank&gt;", drawn)
        with self.assertRaisesRegex(ValueError, "is no participant"):
            diagrams.picture("sequenceDiagram\n  loop forever\n")

    def test_another_kind_of_diagram_is_refused(self):
        with self.assertRaisesRegex(ValueError, "is no kind of diagram"):
            diagrams.picture("gantt\n")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
