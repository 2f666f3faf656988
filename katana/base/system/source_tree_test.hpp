// in_tree(): where a file of the source tree is, for tests that read it; and what tests keep true
// there.
//
// Thread     any.
// Fails      expect_drawn() fails the test when the file has another text than was drawn from the
//            code; with KATANA_UPDATE in the environment it writes the file.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace katana {

extern const char* const source_dir;  // cmake/source_dir.cpp.in

// `path` begins at the root: "docs/README.md".
inline std::string in_tree(std::string_view path) {
  return std::string(source_dir) + "/" + std::string(path);
}

inline void expect_drawn(std::string_view path, const std::string& drawn) {
  const std::string file = in_tree(path);
  if (std::getenv("KATANA_UPDATE") != nullptr) std::ofstream(file) << drawn;
  std::ostringstream found;
  found << std::ifstream(file).rdbuf();
  EXPECT_EQ(found.str(), drawn) << file
                                << " is not what the code says: run this test with KATANA_UPDATE=1";
}

// The states of a machine as a page of the documentation. `transitions` have from, to and cause,
// which index the names.
template <class Transitions, class States, class Causes>
std::string draw_states(std::string_view title, std::string_view header,
                        const Transitions& transitions, const States& states,
                        const Causes& causes) {
  const auto name = [](const auto& names, auto index) {
    return names.at(static_cast<std::size_t>(index));
  };
  std::ostringstream page;
  page << "# " << title << "\n\nDrawn from the table in `" << header
       << "`; to draw it again, run the tests\nof that folder with `KATANA_UPDATE=1`.\n\n"
       << "```mermaid\nstateDiagram-v2\n  [*] --> " << states.front() << "\n";
  for (const auto& each : transitions) {
    page << "  " << name(states, each.from) << " --> " << name(states, each.to) << ": "
         << name(causes, each.cause) << "\n";
  }
  page << "  " << states.back() << " --> [*]\n```\n";
  return page.str();
}

// A state and a cause lead to one other state, which is what `state_after` gives.
template <class Transitions, class StateAfter>
void expect_one_state_after(const Transitions& transitions, const StateAfter& state_after) {
  for (auto each = transitions.begin(); each != transitions.end(); ++each) {
    EXPECT_TRUE(std::none_of(transitions.begin(), each, [&](const auto& other) {
      return other.from == each->from && other.cause == each->cause;
    }));
    EXPECT_NE(each->from, each->to);
    EXPECT_EQ(state_after(each->from, each->cause), each->to);
  }
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
