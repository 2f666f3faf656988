#include "katana/data/container/findings.hpp"

#include <fmt/format.h>

#include <utility>

namespace katana::container {

Error Findings::error() const {
  std::string message;
  for (const Finding& each : list_) {
    if (!message.empty()) message += "; ";
    message += each.pointer;
    if (!each.pointer.empty()) message += ": ";
    message += each.words;
  }
  if (left_out_ != 0) message += fmt::format("; and {} more", left_out_);
  return Error(Code::invalid_argument, std::move(message));
}

void Findings::add(std::string pointer, std::string words) {
  if (full()) {
    ++left_out_;
  } else {
    list_.push_back({std::move(pointer), std::move(words)});
  }
}

void Findings::set_malformed(std::string words) {
  list_.clear();
  left_out_ = 0;
  malformed_ = true;
  list_.push_back({{}, std::move(words)});
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
