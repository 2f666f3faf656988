#include "katana/stores/redis/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace katana::redis {
namespace {

constexpr std::size_t line_bytes_max = 500;

Code code_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::timeout: return Code::deadline_exceeded;
    case Kind::unavailable:
    case Kind::unknown_outcome:
    case Kind::lost_reply: return Code::unavailable;
    case Kind::overloaded: return Code::resource_exhausted;
    case Kind::server:  // the command is the program's: the sender of the request is not to blame
    case Kind::mismatch:
    case Kind::refused: break;
  }
  return Code::internal;
}

// Makes an Error with the command and the detail as the cause, which only the log shows.
katana::Error with_detail(Kind kind, std::string_view what, std::string_view command,
                          std::string_view detail) {
  if (command.empty() && detail.empty()) return {code_of(kind), std::string(what)};
  const bool both = !command.empty() && !detail.empty();
  return katana::Error(code_of(kind), fmt::format("{}{}{}", command, both ? ": " : "",
                                                  detail.substr(0, line_bytes_max)))
      .within(std::string(what));
}

// Prefixes of the errors of a server that cannot serve at present, and has done nothing.
constexpr std::array<std::string_view, 9> not_now = {"LOADING",     "READONLY", "MASTERDOWN",
                                                     "CLUSTERDOWN", "TRYAGAIN", "BUSY",
                                                     "OOM",         "MISCONF",  "NOREPLICAS"};

// The word in capitals at the begin of an error of Redis; empty: it has none.
std::string_view prefix_of(std::string_view line) noexcept {
  const std::string_view word = line.substr(0, line.find(' '));
  const bool is_prefix = !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'A' && c <= 'Z') || c == '_';
  });
  return is_prefix ? word : std::string_view();
}

}  // namespace

std::string_view kind_name(Kind kind) noexcept {
  static constexpr std::array<std::string_view, 8> names = {
      "server",     "timeout",    "unavailable", "unknown outcome",
      "lost reply", "overloaded", "mismatch",    "refused"};
  return names[static_cast<std::size_t>(kind)];
}

Error::Error(Kind kind, std::string_view what, std::string_view command, std::string_view detail)
    : katana::Error(with_detail(kind, what, command, detail)), kind_(kind) {}

Error Error::of_server(std::string_view line, std::string_view command) {
  const std::string_view prefix = prefix_of(line);
  const bool passes = std::ranges::find(not_now, prefix) != not_now.end();
  std::string_view what = passes ? "Redis cannot serve at present" : "Redis refused the command";
  if (prefix == "MOVED" || prefix == "ASK" || prefix == "CROSSSLOT") {
    what =
        "the server is one of a Redis cluster, which this client does not follow. Name a server "
        "that has all keys, or a proxy of the cluster";
  }
  Error error(passes ? Kind::unavailable : Kind::server, what, command, line);
  error.prefix_ = prefix;
  return error;
}

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
