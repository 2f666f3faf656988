#include "katana/http/server/engines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "katana/net/engine/uring/features.hpp"
#include "katana/net/engine/uring/options.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::server {
namespace {

constexpr std::string_view automatic = "auto";
// The order of "auto": the first of these that runs here is taken.
constexpr EngineKind preferred[] = {EngineKind::io_uring, EngineKind::epoll_edge};

// Returns which features of io_uring the kernel lacks; an Error if io_uring does not run here.
Result<std::string> probe_io_uring() {
  const auto features = engine::probe_uring();
  if (!features) return std::unexpected(features.error());
  const std::string missing = features->missing();
  return missing.empty() ? missing : "io_uring: " + missing;
}

Result<std::string> always_runs() { return std::string(); }

std::unique_ptr<net::Reactor> make_io_uring_reactor(const net::ReactorOptions& options,
                                                    std::size_t session_bytes_max) {
  return make_uring_reactor(options, session_bytes_max, {});
}

struct EngineRow {
  EngineKind kind;
  std::string_view name;
  Result<std::string> (*probe)();  // a note for the log, or the reason why it does not run
  std::unique_ptr<net::Reactor> (*make)(const net::ReactorOptions&, std::size_t);
};
constexpr EngineRow table[] = {
    {EngineKind::epoll_edge, "epoll-edge", always_runs, make_epoll_edge_reactor},
    {EngineKind::epoll_level, "epoll-level", always_runs, make_epoll_level_reactor},
    {EngineKind::io_uring, "io_uring", probe_io_uring, make_io_uring_reactor},
};
constexpr auto kinds = [] {
  std::array<EngineKind, std::size(table)> all{};
  std::ranges::transform(table, all.begin(), &EngineRow::kind);
  return all;
}();

const EngineRow& row_of(EngineKind kind) noexcept {
  return *std::ranges::find(table, kind, &EngineRow::kind);
}

Result<EngineChoice> choose_automatically() {
  std::string note;
  for (const EngineKind kind : preferred) {
    const EngineRow& row = row_of(kind);
    auto probed = row.probe();
    if (probed) {
      if (!note.empty()) note = fmt::format("engine auto: {}, because {}", row.name, note);
      return EngineChoice{kind, note.empty() ? *std::move(probed) : note};
    }
    note += fmt::format("{}{} does not run here: {}", note.empty() ? "" : "; ", row.name,
                        probed.error().describe());
  }
  return fail(Code::unavailable, "no engine runs here: " + note);
}

}  // namespace

std::span<const EngineKind> engines() noexcept { return kinds; }

std::string engine_names() {
  std::string names;
  for (const EngineRow& row : table)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  return fmt::format("{} or {}", names, automatic);
}

std::string list_engines() {
  std::string lines;
  for (const EngineRow& row : table) {
    const auto probed = row.probe();
    lines += probed ? fmt::format("{} available\n", row.name)
                    : fmt::format("{} unavailable: {}\n", row.name, probed.error().describe());
  }
  return lines;
}

Result<EngineChoice> choose_engine(std::string_view name) {
  if (name == automatic) return choose_automatically();
  const auto* const row = std::ranges::find(table, name, &EngineRow::name);
  if (row == std::end(table)) {
    return fail(Code::invalid_argument,
                fmt::format("engine '{}' is unknown: use {}", name, engine_names()));
  }
  auto note = row->probe();
  if (!note) return std::unexpected(std::move(note).error());
  return EngineChoice{row->kind, *std::move(note)};
}

Result<EngineKind> parse_engine(std::string_view name) {
  const auto choice = choose_engine(name);
  if (!choice) return std::unexpected(choice.error());
  return choice->kind;
}

std::string_view engine_name(EngineKind kind) noexcept { return row_of(kind).name; }

std::unique_ptr<net::Reactor> make_reactor(EngineKind kind, const net::ReactorOptions& options,
                                           std::size_t session_bytes_max) {
  return row_of(kind).make(options, session_bytes_max);
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
