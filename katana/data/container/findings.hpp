// Findings: what is wrong with input, each with its place.
//
// Owns       the words.
// Thread     a value.
// Allocates  only for what is found.
// Fails      never; beyond the limit findings are counted, not kept.
// Invariant  input that is malformed has exactly one finding, and its place is an offset, because
//            what follows the fault cannot be judged.
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
  // The input is not of its format at all: the one finding says at which byte.
  bool malformed() const noexcept { return malformed_; }
  const std::vector<Finding>& list() const noexcept { return list_; }
  // How many more were not kept.
  std::size_t left_out() const noexcept { return left_out_; }
  // "/items/3/email: expected string, got number; /name: is missing"
  Error error() const;

  // Beyond the limit (findings_max) a finding is only counted.
  void add(std::string pointer, std::string words);
  void set_malformed(std::string words);  // replaces all findings: the input cannot be read
  // Whether further findings are only counted.
  bool full() const noexcept { return list_.size() >= count_max_; }

 private:
  std::size_t count_max_;
  std::size_t left_out_ = 0;
  bool malformed_ = false;
  std::vector<Finding> list_;
};

// Limits of read_json(), read_message_pack() and read_binary().
struct ReadOptions {
  std::size_t bytes_max = 64 * 1024 * 1024;  // of the input
  std::size_t depth_max = 64;                // of lists and objects in one another
  std::size_t findings_max = 16;             // that are kept
  // Of names that a description does not have, where it does not say so itself.
  UnknownNames unknown = UnknownNames::ignore;
};

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
