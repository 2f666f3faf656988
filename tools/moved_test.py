#!/usr/bin/python3
"""The tests of tools/moved."""
import importlib.machinery
import importlib.util
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOADER = importlib.machinery.SourceFileLoader("moved", str(ROOT / "tools" / "moved"))
moved = importlib.util.module_from_spec(importlib.util.spec_from_loader("moved", LOADER))
LOADER.exec_module(moved)


class MovedTest(unittest.TestCase):
    def test_an_include_leads_to_a_file_of_the_tree(self):
        for old in ("service/router.hpp", "service/auth/remote/remote_keys.hpp", "base/described.hpp",
                    "openapi/description.hpp", "core/sleep.hpp", "host/sqlite/sqlite.hpp", "service/mock/mock.hpp",
                    "cache/outside.hpp", "service/request_words.hpp", "chat/hub.hpp", "wire/chat/limits.hpp",
                    "wire/http1/machine.hpp", "testing/test_server.hpp"):
            with self.subTest(old=old):
                self.assertTrue((ROOT / moved.place(old)).is_file(), moved.place(old))

    def test_includes_namespaces_and_targets_are_rewritten_and_nothing_else(self):
        self.assertEqual(moved.rewrite('#include "katana/core/sleep.hpp"\n#include <katana/http.hpp>\n'
                                       "co_await core::sleep_for(katana::host::pause); score::x;\n"
                                       "target_link_libraries(a katana_service_auth katana_core katana_other)\n"),
                         '#include "katana/net/reactor/sleep.hpp"\n#include <katana/http.hpp>\n'
                         "co_await net::sleep_for(katana::app::pause); score::x;\n"
                         "target_link_libraries(a katana_identity_auth katana_net_reactor katana_other)\n")

    def test_what_is_in_its_place_stays(self):
        text = '#include "katana/net/reactor/sleep.hpp"\nkatana::net::Reactor reactor; katana_net_reactor\n'
        self.assertEqual(moved.rewrite(text), text)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
