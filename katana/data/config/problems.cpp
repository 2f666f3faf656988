#include "katana/data/config/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace katana::config {
namespace {

// True if the place of a problem already names the key.
bool names_key(const Origin& origin, Bytes path) noexcept {
  return origin.kind == Origin::Kind::flag ||
         (origin.kind == Origin::Kind::set && *origin.name == path);
}

}  // namespace

void Problems::add(const Origin& origin, Bytes path, Bytes words) {
  if (++count_ > problems_max) return;
  const std::string place =
      origin.kind == Origin::Kind::defaulted ? std::string() : origin.describe() + ": ";
  const Bytes key = names_key(origin, path) ? Bytes() : path;
  lines_.push_back({origin, fmt::format("{}{}{}{}", place, key, key.empty() ? "" : ": ", words)});
}

void Problems::note(const Origin& origin, Bytes words) {
  if (notes_.size() < problems_max)
    notes_.push_back(fmt::format("{}: {}", origin.describe(), words));
}

void Problems::add(const Problems& others) {
  for (const Line& line : others.lines_) {
    if (lines_.size() < problems_max) lines_.push_back(line);
  }
  count_ += others.count_;
  for (const std::string& note : others.notes_) {
    if (notes_.size() < problems_max) notes_.push_back(note);
  }
}

Error Problems::error() const {
  if (count_ == 1) return Error(Code::invalid_argument, lines_.front().text);
  std::vector<const Line*> sorted;
  for (const Line& line : lines_) sorted.push_back(&line);
  // Sorts by address: problems of one line stay in the order in which they were found.
  std::ranges::sort(sorted, {}, [](const Line* line) {
    return std::tuple(line->origin.kind == Origin::Kind::defaulted, line->origin.kind,
                      line->origin.line, line);
  });
  std::string text = fmt::format("{} problems with the configuration:", count_);
  for (const Line* const line : sorted) text += "\n  " + line->text;
  if (count_ > problems_max) text += fmt::format("\n  and {} more", count_ - problems_max);
  return Error(Code::invalid_argument, std::move(text));
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
