// Flags: what a user types, made into a plan and a target.
//
// Thread: one. Allocates: yes.
// Fails: with one line that names the flag, its value and the remedy; or with the text that --help
// and --version ask for.
#pragma once

#include <string>
#include <variant>

#include "katana/base/system/result.hpp"
#include "lab/load/plan.hpp"
#include "lab/load/target.hpp"
#include "lab/load/tls_connection.hpp"

namespace katana::load {

struct Flags {
  LoadPlan plan;
  RequestSpec request;
  TlsSpec tls;
  std::string url;
  std::string url_file;
  std::string requests_file;
  std::string json_file;  // "-": standard output
  std::string hdr_file;
  bool quiet = false;
  bool strict = false;
  bool print_memory = false;
};

// Text to print, and nothing else to do.
struct Information {
  std::string text;
};

Result<std::variant<Flags, Information>> parse_flags(int count, const char* const* arguments);

// "250us", "500ms", "10s", "2m", "1h"; a number alone is seconds.
Result<Duration> parse_duration(std::string_view text);
// "2xx,3xx,404"
Result<std::bitset<600>> parse_statuses(std::string_view text);
// "5s:1000,20s:10000": over 5 s from `from` to 1,000 a second, then over 20 s to 10,000.
Result<RatePlan> parse_ramp(std::string_view text, double from);
// "5s:100,20s:1000": in 5 s from 1 connection to 100, then in 20 s to 1,000.
Result<ConnectionRamp> parse_connection_ramp(std::string_view text);
// The file's content.
Result<std::string> read_file(const std::string& path);

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
