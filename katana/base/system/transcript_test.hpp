// Transcripts: the notation that the cases.md of the machines share, and reading their fences.
//
// Thread     any.
// Fails      read_fences() and number_at() the test; unescape() throws at an unknown escape.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/system/source_tree_test.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"

namespace katana {

// The event that happens when `at` bytes have been sent.
struct Moment {
  std::size_t at;
  Duration passes;
  bool peer_ends;
};

// The moves of a machine that all plays of a test program have seen.
template <class State, class Refusal>
struct Seen {
  void note_move(State before, State after) {
    if (before != after) moves.emplace(before, after);
  }
  std::set<std::pair<State, State>> moves;
  std::set<Refusal> refusals;
};

// Calls begin(title) for each "### title", and take(fence, line) for each line of a fence.
template <class Begin, class Take>
void read_fences(std::string_view path, const Begin& begin, const Take& take) {
  std::ifstream file(in_tree(path));
  EXPECT_TRUE(file) << path;
  std::string fence;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      fence = fence.empty() ? line.substr(3) : "";
    } else if (!fence.empty()) {
      take(fence, line);
    } else if (line.starts_with("### ")) {
      begin(line.substr(4));
    }
  }
}

// The number that the text begins with.
inline std::uint64_t number_at(Bytes text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  EXPECT_EQ(error, std::errc{}) << text;
  return number;
}

// `\\`, `\r`, `\n`, `\t`, `\0`, `\xNN`, and `\{N text}` for N times that text.
inline std::string unescape(Bytes text) {
  constexpr Bytes letters = "\\rnt0";
  constexpr Bytes meanings{"\\\r\n\t\0", 5};
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      plain += text[at];
    } else if (const char c = text.at(++at); c == 'x') {
      plain += static_cast<char>(std::stoi(std::string(text.substr(at + 1, 2)), nullptr, 16));
      at += 2;
    } else if (c == '{') {
      const std::size_t space = text.find(' ', at);
      const std::size_t end = text.find('}', space);
      const std::string again = unescape(text.substr(space + 1, end - space - 1));
      for (std::uint64_t count = number_at(text.substr(at + 1)); count > 0; --count) plain += again;
      at = end;
    } else {
      plain += meanings.at(letters.find(c));
    }
  }
  return plain;
}

// The same, but the last.
inline std::string escape(Bytes text) {
  constexpr Bytes meanings{"\\\r\n\t\0", 5};
  constexpr Bytes letters = "\\rnt0";
  constexpr Bytes digits = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const auto value = static_cast<unsigned char>(c);
    if (const std::size_t index = meanings.find(c); index != Bytes::npos) {
      escaped += {'\\', letters[index]};
    } else if (value < 0x20 || value > 0x7e) {
      escaped += {'\\', 'x', digits[value >> 4], digits[value & 15]};
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// An event with its quoted text as escape() writes it, repetitions written out, and a line feed.
inline std::string read_event(const std::string& line) {
  const std::size_t quote = line.find('"');
  if (quote == std::string::npos) return line + "\n";
  const std::string text = unescape(Bytes(line).substr(quote + 1, line.size() - quote - 2));
  return line.substr(0, quote) + '"' + escape(text) + "\"\n";
}

// Every place to cut so many bytes.
inline std::vector<std::size_t> every_cut(std::size_t size) {
  std::vector<std::size_t> cuts;
  for (std::size_t at = 1; at < size; ++at) cuts.push_back(at);
  return cuts;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
