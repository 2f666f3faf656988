// The transcripts of client_machine.cases.md, whole and cut at every place.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "katana/base/system/source_tree_test.hpp"
#include "katana/wire/http2/client_bench_test.hpp"

namespace katana::http2 {
namespace {

using Lines = std::vector<std::string>;

struct Case {
  std::string title;
  Lines given, sent, events, answers;
  bool has_answers = false;
};

std::vector<Case> read_cases() {
  std::ifstream file(in_tree("katana/wire/http2/client_machine.cases.md"));
  std::vector<Case> cases;
  Lines* block = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("### ")) cases.emplace_back().title = line.substr(4);
    if (cases.empty()) continue;
    Case& last = cases.back();
    if (line == "```given") {
      block = &last.given;
    } else if (line == "```sent") {
      block = &last.sent;
    } else if (line == "```events") {
      block = &last.events;
    } else if (line == "```answers") {
      block = &last.answers;
      last.has_answers = true;
    } else if (line == "```") {
      block = nullptr;
    } else if (block != nullptr) {
      block->push_back(line);
    }
  }
  return cases;
}

std::string from_hex(const std::string& text) {
  std::string octets;
  for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
    octets.push_back(static_cast<char>(std::stoi(text.substr(at, 2), nullptr, 16)));
  }
  return octets;
}

Lines split(const std::string& text, const std::string& by) {
  Lines parts;
  std::size_t at = 0;
  for (std::size_t end; (end = text.find(by, at)) != std::string::npos; at = end + by.size()) {
    parts.push_back(text.substr(at, end - at));
  }
  parts.push_back(text.substr(at));
  return parts;
}

// All fields as literals that are not indexed: a deflater would change some and refuse others.
std::string block_of(const Lines& fields) {
  std::string block;
  for (const std::string& field : fields) {
    const std::size_t colon = field.find(": ", 1);
    const std::string name = field.substr(0, colon), value = field.substr(colon + 2);
    block.push_back(0);
    block.push_back(static_cast<char>(name.size()));
    block += name;
    block.push_back(static_cast<char>(value.size()));
    block += value;
  }
  return block;
}

FrameType type_of(const std::string& name) {
  static const Lines names = {"DATA",          "HEADERS",      "PRIORITY", "RST_STREAM",
                              "SETTINGS",      "PUSH_PROMISE", "PING",     "GOAWAY",
                              "WINDOW_UPDATE", "CONTINUATION"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<FrameType>(found - names.begin());
  return static_cast<FrameType>(std::stoi(name.substr(4)));  // "TYPE99"
}

std::string payload_of(FrameType type, const Lines& parts) {
  if (parts.size() < 2) return {};
  if (parts[1].starts_with("hex ")) return from_hex(parts[1].substr(4));
  if (type == FrameType::headers || type == FrameType::continuation) {
    return block_of({parts.begin() + 1, parts.end()});
  }
  std::string payload;
  std::istringstream words(parts[1]);
  switch (type) {
    case FrameType::settings:
      for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        payload += setting(static_cast<Setting>(std::stoul(word)),
                           static_cast<std::uint32_t>(std::stoul(word.substr(equals + 1))));
      }
      return payload;
    case FrameType::rst_stream:
    case FrameType::goaway:
    case FrameType::window_update:
      for (std::uint32_t value; words >> value;) payload += number(value);
      return payload;
    default: return parts[1];
  }
}

std::string octets_of(const std::string& line) {
  if (line.starts_with("RAW ")) return from_hex(line.substr(4));
  const Lines parts = split(line, " | ");
  std::istringstream words(parts[0]);
  std::string name;
  std::uint32_t stream = 0;
  words >> name >> stream;
  const FrameType type = type_of(name);
  std::string payload = payload_of(type, parts);
  const bool has_block = type == FrameType::headers || type == FrameType::continuation;
  unsigned flags = has_block ? flag_end_headers : 0;
  for (std::string word; words >> word;) {
    if (word == "end") flags |= flag_end_stream;
    if (word == "ack") flags |= flag_ack;
    if (word == "open") flags &= ~unsigned{flag_end_headers};
    if (word == "pad") {
      std::size_t padding = 0;
      words >> padding;
      flags |= flag_padded;
      payload = static_cast<char>(padding) + payload + std::string(padding, '\0');
    }
  }
  return frame(type, flags, stream, payload);
}

struct Outcome {
  Lines events;
  Lines answers;
  bool operator==(const Outcome&) const = default;
};

Outcome play(const Case& one, const Lines& frames, std::size_t cut, std::size_t most) {
  ClientBench bench;
  std::size_t begun = 0;
  const auto begin = [&] {
    for (; begun < one.given.size(); ++begun) {
      const std::string& method = one.given[begun];
      if (method != "early") bench.begin(method, method != "POST");
    }
    (void)bench.take_sent();
  };
  Outcome outcome;
  if (!one.given.empty() && one.given.front() == "early") begin();
  // The first frame comes whole: its cuts do not matter to the requests that begin behind it.
  std::string rest;
  for (const std::string& each : frames) rest += each;
  const std::size_t first = begun == 0 && !one.given.empty() ? frames.front().size() : 0;
  bench.feed(Bytes(rest).substr(0, first));
  if (first != 0) begin();
  rest.erase(0, first);
  bench.feed(Bytes(rest).substr(0, cut), most);
  bench.feed(Bytes(rest).substr(std::min(cut, rest.size())), most);
  outcome.events = bench.events();
  for (std::string& answer : bench.sent()) {
    if (answer != "SETTINGS 0 ack") outcome.answers.push_back(std::move(answer));
  }
  return outcome;
}

TEST(Http2ClientTranscripts, say_the_same_however_the_bytes_are_cut) {
  const std::vector<Case> cases = read_cases();
  ASSERT_GE(cases.size(), 40u);
  for (const Case& one : cases) {
    SCOPED_TRACE(one.title);
    Lines frames;
    std::size_t size = 0;
    for (const std::string& line : one.sent) size += frames.emplace_back(octets_of(line)).size();
    const Outcome whole = play(one, frames, 0, SIZE_MAX);
    EXPECT_EQ(whole.events, one.events);
    if (one.has_answers) {
      EXPECT_EQ(whole.answers, one.answers);
    }
    EXPECT_EQ(play(one, frames, 0, 1), whole) << "byte by byte";
    for (std::size_t cut = 1; cut < size; ++cut) {
      ASSERT_EQ(play(one, frames, cut, SIZE_MAX), whole) << "cut at " << cut;
    }
  }
}

}  // namespace
}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
