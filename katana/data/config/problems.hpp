// Problems: everything that is wrong with a configuration, collected to be reported at once.
//
// Owns       its lines.
// Thread     one.
// Allocates  freely, up to problems_max lines.
// Fails      never.
// Invariant  what is added beyond problems_max is counted.
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
  // "katana.yaml:12: network.http.port: expected 1 to 65535, got 0". A path may be empty.
  void add(const Origin& origin, Bytes path, Bytes words);
  // What is no mistake and should be known; of notes at most problems_max are kept.
  void note(const Origin& origin, Bytes words);
  const std::vector<std::string>& notes() const noexcept { return notes_; }
  // All of them, behind those that are here.
  void add(const Problems& others);

  bool empty() const noexcept { return count_ == 0; }
  std::size_t count() const noexcept { return count_; }  // all, also those that were not kept
  // One line for one problem; more of them under a heading, those of a file by line.
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
