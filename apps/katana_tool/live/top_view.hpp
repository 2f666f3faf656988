// The screen of `katana top`: what a program did between two moments, as lines of text.
//
// Owns       its texts.
// Thread     any.
// Allocates  freely.
// Fails      read_snapshot() names the page that cannot be read.
// Invariant  a line has at most `width` characters. Texts of the program have no control characters
//            on the screen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "katana/app/live_documents.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::tool {

// The counts of one route, or of one statement, since the start of the program.
struct Work {
  double count = 0;     // requests, or statements
  double failures = 0;  // 5xx and no reply; statements that failed
  double finished = 0;  // those whose durations are known
  double seconds = 0;   // the sum of these durations
};

// A program at one moment.
struct Snapshot {
  app::StateDocument state = {};
  std::map<std::string, Work> routes = {};      // by "GET /users/{id}"
  std::map<std::string, Work> statements = {};  // by name
  Instant at = {};
};
// `state`: /operations/state; `metrics`: /metrics.
Result<Snapshot> read_snapshot(std::string_view state, std::string_view metrics, Instant at);

// The work between two snapshots, for a person and for --json.
struct WorkRate {
  std::string name = {};
  double per_s = 0;
  double mean_ms = 0;         // of those that ended meanwhile
  double failures_per_s = 0;  // likewise
  std::int64_t total = 0;     // since the start of the program
};
KATANA_DESCRIBE(WorkRate, name, per_s, mean_ms, failures_per_s, total)

// The order of routes and statements.
enum class TopOrder : std::uint8_t { rate, mean, failures, name };
// The next one, and the first after the last.
TopOrder next_order(TopOrder order) noexcept;

// `before`: an earlier snapshot of the same program; an empty one: rates are those since its start.
std::vector<WorkRate> rates(const std::map<std::string, Work>& before,
                            const std::map<std::string, Work>& now, Duration between,
                            TopOrder order);

// The output of --json.
struct TopDocument {
  app::StateDocument state = {};
  std::vector<WorkRate> routes = {};
  std::vector<WorkRate> statements = {};
};
KATANA_DESCRIBE(TopDocument, state, routes, statements)

// The choices of the person who looks.
struct TopView {
  TopOrder order = TopOrder::rate;
  std::string filter = {};  // routes, statements and holders that contain it; empty: all
  bool is_typing = false;   // the filter
  bool is_paused = false;
  std::size_t width = 80;
  std::size_t height = 24;
};

// At most `height` lines.
std::vector<std::string> top_lines(const Snapshot& before, const Snapshot& now,
                                   const TopView& view);

// A text of the program, for a terminal: control characters are '?'; at most `width` characters.
std::string shown(std::string_view text, std::size_t width);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
