// Findings: the mistakes of input, each with its place.
//
// Owns       the words.
// Thread     a value.
// Allocates  only for findings.
// Fails      never; beyond the limit findings are counted, not kept.
// Invariant  malformed input has exactly one finding, with an offset as its place, because the rest
//            of the input cannot be checked.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/described.hpp"

namespace katana::container {

// One mistake of the input.
struct Finding {
  std::string pointer;  // a JSON pointer (RFC 6901): "/items/3/email"; empty: the whole input
  std::string words;    // "expected string, got number"
};

class Findings {
 public:
  explicit Findings(std::size_t count_max = 16) noexcept : count_max_(count_max) {}

  bool empty() const noexcept { return list_.empty(); }
  // True if the input is not of its format at all. The only finding then names the byte.
  bool malformed() const noexcept { return malformed_; }
  const std::vector<Finding>& list() const noexcept { return list_; }
  // The number of further findings that were not kept.
  std::size_t left_out() const noexcept { return left_out_; }
  // All as one Error: "/items/3/email: expected string, got number; /name: is missing".
  Error error() const;

  // Adds a finding. Beyond the limit (findings_max) it is only counted.
  void add(std::string pointer, std::string words);
  void set_malformed(std::string words);  // replaces all findings: the input cannot be read
  // True if further findings are only counted.
  bool full() const noexcept { return list_.size() >= count_max_; }

 private:
  std::size_t count_max_;
  std::size_t left_out_ = 0;
  bool malformed_ = false;
  std::vector<Finding> list_;
};

// Limits of read_json(), read_message_pack() and read_binary().
struct ReadOptions {
  std::size_t bytes_max = 64 * 1024 * 1024;  // size of the input
  std::size_t depth_max = 64;                // levels of nested lists and objects
  std::size_t findings_max = 16;             // findings that are kept
  // The treatment of names that are not in a description, if the description does not set one.
  UnknownNames unknown = UnknownNames::ignore;
};

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
