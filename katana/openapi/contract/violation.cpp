#include "katana/openapi/contract/violation.hpp"

#include <fmt/format.h>

#include <utility>

namespace katana::openapi {
namespace {

Bytes words_of(Part part) noexcept {
  switch (part) {
    case Part::operation: return "operation";
    case Part::path: return "path parameter";
    case Part::query: return "query parameter";
    case Part::header: return "header field";
    case Part::cookie: return "cookie";
    case Part::content_type: return "Content-Type";
    case Part::content: return "content";
    case Part::status: return "status";
  }
  return "";
}

}  // namespace

std::string Violation::describe() const {
  std::string text(words_of(part));
  if (!name.empty()) text += fmt::format(" '{}'", name);
  if (!pointer.empty()) text += fmt::format(" {}", pointer);
  return fmt::format("{}: {}", text, words);
}

std::string Violations::describe() const {
  std::string text;
  for (const Violation& each : list_) {
    if (!text.empty()) text += '\n';
    text += each.describe();
  }
  if (left_out_ != 0) text += fmt::format("\nand {} more", left_out_);
  return text;
}

void Violations::add(Part part, Bytes name, std::string pointer, std::string words) {
  if (list_.size() >= count_max_) {
    ++left_out_;
    return;
  }
  list_.push_back({part, std::string(name), std::move(pointer), std::move(words)});
}

void Violations::add_findings(Part part, Bytes name, const container::Findings& findings) {
  malformed_ = malformed_ || (part == Part::content && findings.malformed());
  for (const container::Finding& each : findings.list()) add(part, name, each.pointer, each.words);
  left_out_ += findings.left_out();
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
