// reading_of: the events of a ResponseMachine for some bytes, as text. If the machine is right, the
// text does not depend on how the bytes were cut. For tests and the fuzzer.
//
// Borrows: its arguments for the call. Allocates: the text.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/wire/http1/response_machine.hpp"

namespace katana::http1 {

class Reading {
 public:
  // False: nothing more is to be given.
  bool give(Bytes piece) {
    carry_.append(piece);
    // A block of exactly this size: AddressSanitizer finds a read outside of it.
    const auto block = std::make_unique<char[]>(carry_.size());
    std::memcpy(block.get(), carry_.data(), carry_.size());
    Bytes rest(block.get(), carry_.size());
    while (!rest.empty()) {
      const auto step = machine_.next(rest, to_head_, memo_);
      KATANA_CHECK(step.consumed <= rest.size() && step.content.size() <= step.consumed);
      if (!step.content.empty()) {
        KATANA_CHECK(step.content.data() + step.content.size() == rest.data() + step.consumed);
      }
      rest.remove_prefix(step.consumed);
      content_ += step.content;
      if (step.event == ResponseMachine::Event::needs_more && step.consumed == 0) break;
      if (step.event == ResponseMachine::Event::interim) text_ += "interim\n";
      if (step.event == ResponseMachine::Event::complete) end_reply();
      if (step.event == ResponseMachine::Event::malformed) {
        text_ += std::string("malformed: ") + machine_.problem() + "\n";
        return false;
      }
    }
    KATANA_CHECK(rest.size() <= ResponseMachine::head_bytes_max);
    carry_ = rest;
    return true;
  }
  std::string end() {
    const bool within = machine_.is_within_reply() || !carry_.empty();
    const auto event = machine_.end_of_input();
    if (event == ResponseMachine::Event::complete) {
      end_reply();
    } else if (within) {
      text_ += "cut off with content '" + content_ + "'\n";
    }
    return text_;
  }
  std::string text() const { return text_; }
  void answer_to_head() { to_head_ = true; }

 private:
  void end_reply() {
    text_ += std::to_string(machine_.status()) + " '" + content_ + "'" +
             (machine_.keeps_open() ? "\n" : " last\n");
    content_.clear();
  }

  ResponseMachine machine_;
  HeadMemo memo_;
  std::string carry_;
  std::string content_;
  std::string text_;
  bool to_head_ = false;
};

inline std::string reading_of(Bytes bytes, const std::vector<std::size_t>& cuts, bool to_head) {
  Reading reading;
  if (to_head) reading.answer_to_head();
  std::size_t begin = 0;
  for (const std::size_t cut : cuts) {
    if (!reading.give(bytes.substr(begin, cut - begin))) return reading.text();
    begin = cut;
  }
  if (!reading.give(bytes.substr(begin))) return reading.text();
  return reading.end();
}

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
