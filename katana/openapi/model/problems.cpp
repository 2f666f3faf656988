#include "katana/openapi/model/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "katana/base/text/format.hpp"

namespace katana::openapi::model {

std::string Problem::describe() const {
  std::string text = file;
  if (position.line != 0) {
    fmt::format_to(std::back_inserter(text), ":{}:{}", position.line, position.column);
    text.append(": #").append(pointer);
  }
  return text.append(severity == Severity::warning ? ": warning: " : ": ").append(words);
}

void Problems::add(Problem problem) {
  if (++count_of(problem.severity) <= count_max_) list_.push_back(std::move(problem));
}

namespace {

// Whether the place concerns all operations.
bool is_whole(Bytes pointer) noexcept {
  return pointer.empty() || pointer == "/openapi" || pointer == "/swagger" || pointer == "/paths";
}

}  // namespace

void Problems::add(Severity severity, const Location& location, std::string words) {
  if (is_partial_ && severity == Severity::error && location.source != nullptr &&
      !is_whole(location.pointer())) {
    severity = Severity::warning;
    words.insert(0, "left out: ");
  }
  if (count_of(severity) >= count_max_) {
    ++count_of(severity);
    return;
  }
  const std::string file = location.file();
  if (!known_.emplace(location.position, file + '\n' + words).second) return;
  add({severity, file, location.position, location.pointer(), std::move(words)});
}

std::vector<Problem> Problems::sorted() const {
  std::vector<Problem> sorted = list_;
  std::ranges::sort(sorted, {}, [](const Problem& problem) {
    return std::tie(problem.severity, problem.file, problem.position, problem.words);
  });
  return sorted;
}

Error Problems::as_error() const {
  std::string text;
  std::size_t told = 0;
  for (const Problem& each : sorted()) {
    if (each.severity != Severity::error) continue;
    if (told++ != 0) text += '\n';
    text += each.describe();
  }
  if (errors_ > told) {
    fmt::format_to(std::back_inserter(text), "\nand {} errors more", errors_ - told);
  }
  return Error(Code::invalid_argument, std::move(text));
}

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
