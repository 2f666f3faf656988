// Problems: collects all mistakes of a configuration, to report them at once.
//
// Owns       its lines.
// Thread     one.
// Allocates  freely, up to problems_max lines.
// Fails      never.
// Invariant  problems beyond problems_max are only counted.
#pragma once

#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/data/config/node.hpp"

namespace katana::config {

inline constexpr std::size_t problems_max = 32;  // lines that are kept; further ones are counted

class Problems {
 public:
  // Adds "katana.yaml:12: network.http.port: expected 1 to 65535, got 0". The path may be empty.
  void add(const Origin& origin, Bytes path, Bytes words);
  // Adds a note about something that is no mistake. At most problems_max notes are kept.
  void note(const Origin& origin, Bytes words);
  const std::vector<std::string>& notes() const noexcept { return notes_; }
  // Appends all problems of `others`.
  void add(const Problems& others);

  bool empty() const noexcept { return count_ == 0; }
  std::size_t count() const noexcept { return count_; }  // all problems, also those not kept
  // An Error of one line for one problem. Several problems have a heading; those of a file are
  // sorted by line.
  Error error() const;

 private:
  struct Line {
    Origin origin;
    std::string text;
  };
  std::vector<Line> lines_;
  std::vector<std::string> notes_;
  std::size_t count_ = 0;
};

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
