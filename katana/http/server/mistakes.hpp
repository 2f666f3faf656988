// Mistakes: collects the mistakes in the options of a server. Each has the name of the option or
// setting, its value and the valid values.
//
// Thread     one.
// Allocates  for each mistake.
// Fails      result(): invalid_argument with all of them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/session/http1_protocol.hpp"
#include "katana/wire/http/reply_head.hpp"

namespace katana::server {

class Mistakes {
 public:
  // `remedy`: "give 1 to 128".
  void unless(bool fine, Bytes name, const std::string& is, Bytes remedy) {
    if (!fine) found_.push_back(fmt::format("{} is {}: {}", name, is, remedy));
  }
  template <class Number>
  void range(Bytes name, Number value, Number least, Number most) {
    unless(value >= least && value <= most, name, fmt::to_string(value),
           fmt::format("give {} to {}", least, most));
  }
  void positive(Bytes name, Duration value) {
    constexpr Duration most = seconds(std::int64_t{10} * 366 * 24 * 3600);
    unless(value.ns > 0 && value <= most, name, fmt::format("{} ns", value.ns),
           "give more than nothing, and at most ten years");
  }
  void field_text(Bytes name, Bytes field, const std::string& text) {
    constexpr std::size_t most = session::server_name_bytes_max;
    unless(text.size() <= most, name, fmt::format("{} bytes long", text.size()),
           fmt::format("give at most {}", most));
    unless(http::valid_field(field, text), name, "no value that a field can have",
           "leave out control characters, and white space at either end");
  }
  Result<void> result() const {
    if (found_.empty()) return {};
    if (found_.size() == 1) return fail(Code::invalid_argument, found_.front());
    std::string text = fmt::format("{} mistakes in the options of the server:", found_.size());
    for (const std::string& each : found_) text += "\n  " + each;
    return fail(Code::invalid_argument, std::move(text));
  }

 private:
  std::vector<std::string> found_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
