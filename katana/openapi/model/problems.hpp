// Problems: all mistakes of a description, each with its place, to be reported together.
//
//   api.yaml:12:7: #/paths/~1users/get/responses: expected an object, got a list
//
// An error is a part that has no meaning, or none that is supported. A warning is a part that the
// specification forbids and that has one meaning in spite of that; its words say which.
//
// Owns       copies of its arguments.
// Thread     one.
// Allocates  freely, up to count_max of each severity.
// Fails      never.
// Invariant  problems beyond count_max are counted, not kept. The place and words of one problem
//            are kept once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/openapi/model/source.hpp"

namespace katana::openapi::model {

// Whether the description may be used in spite of it.
enum class Severity : std::uint8_t {
  error,    // no: only a part of it was read
  warning,  // yes, in the sense that its words say
};

// One thing that is wrong, with a copy of its place.
struct Problem {
  Severity severity = Severity::error;  // sorted() has errors first
  std::string file;                     // as Location::file()
  Position position;                    // line 0: of the whole file
  std::string pointer;                  // RFC 6901, without '#'; empty: the root
  std::string words;                    // the mistake and the remedy

  // "api.yaml:12:7: #/info: 'title' is missing. Add it"; a warning says so in front of its words.
  std::string describe() const;
};

class Problems {
 public:
  explicit Problems(std::size_t count_max = 100) noexcept : count_max_(count_max) {}

  // From here on an error of a part of the document is a warning. The part is left out, and the
  // rest of the document is used. A problem of the document as a whole stays an error.
  void allow_partial() noexcept { is_partial_ = true; }

  // `location` may have no source: the description as a whole.
  void error(const Location& location, std::string words) {
    add(Severity::error, location, std::move(words));
  }
  // `location` as for error().
  void warning(const Location& location, std::string words) {
    add(Severity::warning, location, std::move(words));
  }
  // Adds a problem of a file that has no tree to point into.
  void add(Problem problem);

  // Whether there are errors. To be asked before the description is used.
  bool has_errors() const noexcept { return errors_ != 0; }
  // The number of errors, including those that were not kept.
  std::size_t error_count() const noexcept { return errors_; }
  std::size_t warning_count() const noexcept { return warnings_; }
  // Errors first, each kind by file and line.
  std::vector<Problem> sorted() const;
  // A line for each error.
  Error as_error() const;

 private:
  void add(Severity severity, const Location& location, std::string words);
  std::size_t& count_of(Severity severity) noexcept {
    return severity == Severity::error ? errors_ : warnings_;
  }

  std::size_t count_max_;
  bool is_partial_ = false;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
  std::vector<Problem> list_;
  std::set<std::pair<Position, std::string>> known_;
};

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
