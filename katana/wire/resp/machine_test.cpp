#include "katana/wire/resp/machine.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "katana/wire/resp/command.hpp"

namespace katana::resp {
namespace {

using testing::ElementsAre;

// One line for each value; a string's parts are put together.
struct Reading {
  std::vector<std::string> lines;
  std::size_t most_left = 0;  // the most bytes that the caller had to keep
};

std::string describe(const Step& step) {
  switch (step.kind) {
    case Kind::integer: return ":" + std::to_string(step.integer);
    case Kind::boolean: return step.integer != 0 ? "#t" : "#f";
    case Kind::number: return "," + std::to_string(step.number);
    case Kind::big_number: return "(" + std::string(step.text);
    case Kind::null: return "null";
    case Kind::simple_string: return "+" + std::string(step.text);
    case Kind::simple_error: return "-" + std::string(step.text);
    case Kind::bulk_string: return "$";
    case Kind::bulk_error: return "!";
    case Kind::verbatim: return "=";
    case Kind::array: return "*" + std::to_string(step.count);
    case Kind::set: return "~" + std::to_string(step.count);
    case Kind::map: return "%" + std::to_string(step.count);
    case Kind::push: return ">" + std::to_string(step.count);
    case Kind::attribute: return "|" + std::to_string(step.count);
    case Kind::count_: break;
  }
  return "?";
}

Reading read(Bytes input, const std::vector<std::size_t>& cuts, const Limits& limits = {}) {
  Machine machine(limits);
  Reading reading;
  std::string pending;
  std::size_t at = 0;
  std::uint64_t bulk = 0;
  bool within_text = false;
  const auto take = [&] {
    for (;;) {
      // A copy of the exact size: AddressSanitizer finds a read behind it.
      const std::vector<char> apart(pending.begin(), pending.end());
      const Step step = machine.next({apart.data(), apart.size()});
      EXPECT_LE(step.consumed, pending.size());
      if (step.event == Event::need_bytes) break;
      if (step.event == Event::refused) {
        if (within_text) reading.lines.pop_back();  // how much of it came depends on the cuts
        reading.lines.push_back("refused: " + std::string(text_of(machine.refusal())));
        return false;
      }
      if (step.event == Event::value) {
        reading.lines.push_back(describe(step));
        bulk = step.count;
      }
      const bool is_text = step.kind >= Kind::bulk_string && step.kind <= Kind::verbatim;
      within_text = !step.complete;
      if (is_text) reading.lines.back() += step.text;
      if (is_text && step.complete) EXPECT_EQ(reading.lines.back().size(), bulk + 1);
      if (step.complete) {
        for (int each = 0; each < step.ended; ++each) reading.lines.back() += ")";
        if (step.reply_ended) reading.lines.back() += ".";
        EXPECT_EQ(step.reply_ended, !machine.within_reply());
      }
      pending.erase(0, step.consumed);
    }
    reading.most_left = std::max(reading.most_left, pending.size());
    return true;
  };
  for (const std::size_t cut : cuts) {
    pending += input.substr(at, cut - at);
    at = cut;
    if (!take()) return reading;
  }
  pending += input.substr(at);
  if (take() && !pending.empty()) reading.lines.push_back("left: " + pending);
  return reading;
}

// Whole, byte by byte, and cut at every pair of places: the same.
std::vector<std::string> read_all_ways(Bytes input, const Limits& limits = {}) {
  const Reading whole = read(input, {}, limits);
  std::vector<std::size_t> every;
  for (std::size_t at = 1; at < input.size(); ++at) every.push_back(at);
  EXPECT_EQ(read(input, every, limits).lines, whole.lines) << "octet by octet";
  for (std::size_t first = 0; first <= input.size(); ++first) {
    for (std::size_t second = first; second <= input.size(); ++second) {
      const Reading cut = read(input, {first, second}, limits);
      EXPECT_EQ(cut.lines, whole.lines) << "cut at " << first << " and " << second;
      EXPECT_LE(cut.most_left, limits.line_bytes_max + 2);
      if (testing::Test::HasFailure()) return whole.lines;
    }
  }
  return whole.lines;
}

TEST(RespMachine, every_type_of_resp3_is_read_however_it_is_cut) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"+OK\r\n", {"+OK."}},
      {"+\r\n", {"+."}},
      {"-ERR no such key\r\n", {"-ERR no such key."}},
      {":0\r\n", {":0."}},
      {":-42\r\n", {":-42."}},
      {":+42\r\n", {":42."}},
      {":9223372036854775807\r\n", {":9223372036854775807."}},
      {":-9223372036854775808\r\n", {":-9223372036854775808."}},
      {"_\r\n", {"null."}},
      {"#t\r\n", {"#t."}},
      {"#f\r\n", {"#f."}},
      {",1.5\r\n", {",1.500000."}},
      {",10\r\n", {",10.000000."}},
      {",.5\r\n", {",0.500000."}},
      {",-.25\r\n", {",-0.250000."}},
      {",-1.5e2\r\n", {",-150.000000."}},
      {",inf\r\n", {",inf."}},
      {",-inf\r\n", {",-inf."}},
      {",nan\r\n", {",nan."}},
      {"(3492890328409238509324850943850943825024385\r\n",
       {"(3492890328409238509324850943850943825024385."}},
      {"(-1\r\n", {"(-1."}},
      {"$5\r\nhello\r\n", {"$hello."}},
      {"$0\r\n\r\n", {"$."}},
      {"$4\r\n\r\n\r\n\r\n", {"$\r\n\r\n."}},
      {"!9\r\nSYNTAX no\r\n", {"!SYNTAX no."}},
      {"=7\r\ntxt:abc\r\n", {"=txt:abc."}},
      {"=4\r\nmkd:\r\n", {"=mkd:."}},
      {"*0\r\n", {"*0)."}},
      {"~2\r\n:1\r\n:2\r\n", {"~2", ":1", ":2)."}},
      {"%1\r\n+a\r\n:1\r\n", {"%2", "+a", ":1)."}},
      {"%0\r\n", {"%0)."}},
      {">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n", {">2", "+invalidate", "*1", "$k))."}},
      {"*2\r\n*0\r\n*1\r\n_\r\n", {"*2", "*0)", "*1", "null))."}},
      {"|1\r\n+ttl\r\n:9\r\n:7\r\n", {"|2", "+ttl", ":9)", ":7."}},
      {"|0\r\n:7\r\n", {"|0)", ":7."}},
      {"*1\r\n|1\r\n+a\r\n+b\r\n:7\r\n", {"*1", "|2", "+a", "+b)", ":7)."}},
      {"+a\r\n+b\r\n", {"+a.", "+b."}},
  };
  for (const auto& [input, expected] : cases) {
    SCOPED_TRACE(input);
    EXPECT_EQ(read_all_ways(input), expected);
  }
}

TEST(RespMachine, the_nulls_of_resp2_are_nulls) {
  EXPECT_THAT(read_all_ways("$-1\r\n*-1\r\n*2\r\n$-1\r\n*-1\r\n"),
              ElementsAre("null.", "null.", "*2", "null", "null)."));
}

// Hostile input, for the limits of the test that reads it.
const std::pair<const char*, Refusal> hostile[] = {
    {"HTTP/1.1 200 OK\r\n", Refusal::unknown_type},
    {"\r\n", Refusal::unknown_type},
    {"@1\r\n", Refusal::unknown_type},
    {"+OK\n", Refusal::bad_line_end},
    {"+O\rK\r\n", Refusal::bad_line_end},
    {"+\n", Refusal::bad_line_end},
    {":\r\n", Refusal::bad_number},
    {":1x\r\n", Refusal::bad_number},
    {":+-1\r\n", Refusal::bad_number},
    {":9223372036854775808\r\n", Refusal::bad_number},
    {": 1\r\n", Refusal::bad_number},
    {",\r\n", Refusal::bad_number},
    {",1,5\r\n", Refusal::bad_number},
    {",infinity\r\n", Refusal::bad_number},
    {",0x1p3\r\n", Refusal::bad_number},
    {",--1\r\n", Refusal::bad_number},
    {"(\r\n", Refusal::bad_number},
    {"(1.5\r\n", Refusal::bad_number},
    {"#x\r\n", Refusal::bad_boolean},
    {"#true\r\n", Refusal::bad_boolean},
    {"_x\r\n", Refusal::bad_null},
    {"$\r\n", Refusal::bad_length},
    {"$-2\r\n", Refusal::bad_length},
    {"$+1\r\n", Refusal::bad_length},
    {"$1x\r\n", Refusal::bad_length},
    {"!-1\r\n", Refusal::bad_length},
    {"=-1\r\n", Refusal::bad_length},
    {"~-1\r\n", Refusal::bad_length},
    {"%-1\r\n", Refusal::bad_length},
    {"*99999999999999999999\r\n", Refusal::bad_length},
    {"*9999999999999999999\r\n", Refusal::too_many_elements},
    {"%9223372036854775808\r\n", Refusal::too_many_elements},
    {"$99\r\n", Refusal::too_large},
    {"$18446744073709551615\r\n", Refusal::too_large},
    {"$9999999999999999999\r\n", Refusal::too_large},
    {"$3\r\nabcd\r\n", Refusal::bad_string_end},
    {"$3\r\nabc\n\n", Refusal::bad_string_end},
    {"$3\r\nabc\r\r", Refusal::bad_string_end},
    {"=3\r\ntxt\r\n", Refusal::bad_verbatim},
    {"=7\r\ntext:ab\r\n", Refusal::bad_verbatim},
    {"$?\r\n", Refusal::streamed},
    {"*?\r\n", Refusal::streamed},
    {"%?\r\n", Refusal::streamed},
    {"*1\r\n*1\r\n*1\r\n*1\r\n", Refusal::too_deep},
    {"*9\r\n", Refusal::too_many_elements},
    {"*4\r\n*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n", Refusal::too_many_elements},
    {"*3\r\n$40\r\n0123456789012345678901234567890123456789\r\n$50\r\n", Refusal::too_large},
    {"+123456789012345678901\r\n", Refusal::line_too_long},
    {"+123456789012345678901234567890", Refusal::line_too_long},
    {"*1\r\n>1\r\n+a\r\n", Refusal::misplaced_push},
    {"|0\r\n>1\r\n+a\r\n", Refusal::misplaced_push},
    {"|0\r\n|0\r\n", Refusal::misplaced_push},
    {">0\r\n", Refusal::bad_length},
};

TEST(RespMachine, a_hostile_reply_is_refused_with_its_reason_however_it_is_cut) {
  Limits limits;
  limits.line_bytes_max = 20;
  limits.depth_max = 3;
  limits.elements_max = 8;
  limits.reply_bytes_max = 100;
  std::vector<bool> seen(static_cast<std::size_t>(Refusal::count_));
  for (const auto& [input, refusal] : hostile) {
    SCOPED_TRACE(input);
    const auto lines = read_all_ways(input, limits);
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines.back(), "refused: " + std::string(text_of(refusal)));
    seen[static_cast<std::size_t>(refusal)] = true;
  }
  for (std::size_t each = 1; each < seen.size(); ++each) {
    EXPECT_TRUE(seen[each]) << "no case for: " << refusal_texts[each];
  }
}

TEST(RespMachine, nothing_is_read_after_a_refusal) {
  Machine machine;
  EXPECT_EQ(machine.next("?").event, Event::refused);
  EXPECT_EQ(machine.next("+OK\r\n").event, Event::refused);
  EXPECT_EQ(machine.next("+OK\r\n").consumed, 0u);
}

TEST(RespMachine, the_limits_of_a_reply_begin_anew_with_each) {
  Limits limits;
  limits.elements_max = 3;
  limits.reply_bytes_max = 40;
  Machine machine(limits);
  for (int reply = 0; reply < 100; ++reply) {
    std::string text = "*2\r\n$5\r\nhello\r\n:1\r\n";
    while (!text.empty()) {
      const Step step = machine.next(text);
      ASSERT_EQ(step.event, Event::value);
      text.erase(0, step.consumed);
    }
  }
}

TEST(RespMachine, a_line_that_dribbles_in_is_searched_once) {
  Limits limits;
  limits.line_bytes_max = 16 * 1024;
  Machine machine(limits);
  std::string line = "+";
  for (int octet = 0; octet < 16 * 1024; ++octet) {
    line += 'x';
    ASSERT_EQ(machine.next(line).event, Event::need_bytes);
  }
  line += "\r\n";
  EXPECT_EQ(machine.next(line).consumed, line.size());
}

TEST(RespCommand, a_command_is_an_array_of_bulk_strings_whatever_they_hold) {
  const std::pair<std::vector<Bytes>, std::string> cases[] = {
      {{"PING"}, "*1\r\n$4\r\nPING\r\n"},
      {{"SET", "k", ""}, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n"},
      {{"GET", "a\r\n*1\r\n"}, "*2\r\n$3\r\nGET\r\n$7\r\na\r\n*1\r\n\r\n"},
      {{Bytes("\0", 1)}, std::string("*1\r\n$1\r\n\0\r\n", 11)},
  };
  for (const auto& [parts, expected] : cases) {
    std::string text(command_bytes(parts), '?');
    EXPECT_EQ(write_command(parts, text.data()), text.data() + text.size());
    EXPECT_EQ(text, expected);
  }
  const std::string large(100'000, 'x');
  const std::vector<Bytes> many(12, large);
  std::string text(command_bytes(many), '?');
  EXPECT_EQ(write_command(many, text.data()), text.data() + text.size());
  EXPECT_TRUE(text.starts_with("*12\r\n$100000\r\nxxx"));
}

TEST(RespMachine, a_boolean_is_1_or_0) {
  Machine machine;
  EXPECT_EQ(machine.next("#t\r\n").integer, 1);
  EXPECT_EQ(machine.next("#f\r\n").integer, 0);
}

TEST(RespMachine, the_bytes_of_a_reply_are_counted_to_the_last_and_for_each_reply_anew) {
  const auto read_two = [](Bytes reply, std::uint64_t bytes_max) {
    return read(std::string(reply) + std::string(reply), {}, {.reply_bytes_max = bytes_max}).lines;
  };
  for (const Bytes reply : {"+abc\r\n", ":123\r\n", "*1\r\n:1\r\n"}) {
    EXPECT_EQ(read_two(reply, reply.size()).size(), reply[0] == '*' ? 4u : 2u) << reply;
    EXPECT_THAT(read_two(reply, reply.size()).back(), testing::EndsWith(".")) << reply;
    EXPECT_EQ(read_two(reply, reply.size() - 1).back(),
              "refused: " + std::string(text_of(Refusal::too_large)))
        << reply;
  }
}

}  // namespace
}  // namespace katana::resp

// SPDX-License-Identifier: Apache-2.0
