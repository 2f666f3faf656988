#include "katana/wire/http1/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "katana/base/memory/poison.hpp"
#include "katana/base/system/source_tree_test.hpp"
#include "katana/wire/http/status.hpp"
#include "katana/wire/http1/transcript_test.hpp"

namespace katana::http1 {
namespace {

constexpr Bytes smallest_request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

std::vector<Kernels> supported_kernels() {
  std::vector<Kernels> all = {Kernels::scalar, Kernels::sse42, Kernels::avx2, Kernels::neon};
  std::erase_if(all, [](Kernels kernels) { return !supported(kernels); });
  return all;
}

// ---- machine.cases.md ------------------------------------------------------------------------

class MachineCases : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cases_.complaint, "");
    ASSERT_GE(cases_.all.size(), 240U);
  }

  const Cases cases_ = read_cases(in_tree("katana/wire/http1/machine.cases.md"));
};

// All places between two bytes.
std::vector<std::size_t> every_cut(const Case& one) {
  std::vector<std::size_t> cuts(one.sent.size());
  std::iota(cuts.begin(), cuts.end(), 0U);
  return cuts;
}

TEST_F(MachineCases, every_case_gives_its_events_and_its_reply) {
  for (const Case& one : cases_.all) {
    SCOPED_TRACE(one.title);
    for (const Kernels kernels : supported_kernels()) {
      Play play(one, kernels);
      const Outcome& outcome = play.run({}, Memory::apart);
      EXPECT_EQ(outcome.events, one.events);
      const bool shows_reply = (one.fences & 8) != 0;
      EXPECT_EQ(shows_reply ? escape_in_lines(outcome.reply) : "", one.reply);
    }
  }
}

TEST_F(MachineCases, a_case_that_arrives_byte_by_byte_is_the_same) {
  for (const Case& one : cases_.all) {
    SCOPED_TRACE(one.title);
    for (const Kernels kernels : supported_kernels()) {
      Play play(one, kernels);
      const Outcome whole = play.run({}, Memory::apart);
      EXPECT_EQ(play.run(every_cut(one), Memory::apart), whole);
    }
  }
}

TEST_F(MachineCases, a_case_that_is_cut_at_any_two_places_is_the_same) {
  // AddressSanitizer makes a run cost five times as much. A third of the runs is enough for it.
  const std::size_t step = is_poisoning ? 3 : 1;
  std::uint64_t pairs = 0;
  for (const Case& one : cases_.all) {
    SCOPED_TRACE(one.title);
    ASSERT_LE(one.sent.size(), 260U) << "the pairs of cuts grow with the square of that";
    for (const Kernels kernels : supported_kernels()) {
      Play play(one, kernels);
      const Outcome whole = play.run({}, Memory::in_place);
      std::array<std::size_t, 2> cuts{};
      for (cuts[1] = 1; cuts[1] < one.sent.size(); ++cuts[1]) {
        // Equal: cut at one place.
        for (cuts[0] = 1 + cuts[1] % step; cuts[0] <= cuts[1]; cuts[0] += step) {
          ASSERT_EQ(play.run(cuts, Memory::in_place), whole) << cuts[0] << " " << cuts[1];
          ++pairs;
        }
      }
    }
  }
  RecordProperty("pairs", std::to_string(pairs));
}

TEST_F(MachineCases, every_refusal_is_produced_by_a_case) {
  std::bitset<refusal_texts.size()> seen;
  for (const Case& one : cases_.all) {
    Play play(one, best_kernels());
    play.run({}, Memory::in_place);
    seen |= play.refusals();
  }
  for (std::size_t index = 1; index < refusal_texts.size(); ++index) {
    EXPECT_TRUE(seen.test(index)) << name_of(static_cast<Refusal>(index));
  }
}

TEST_F(MachineCases, every_transition_is_taken_by_a_case) {
  std::bitset<transitions.size()> taken;
  for (const Case& one : cases_.all) {
    Play play(one, best_kernels());
    play.run({}, Memory::in_place);
    play.run(every_cut(one), Memory::in_place);
    taken |= play.taken();
  }
  for (std::size_t row = 0; row < transitions.size(); ++row) {
    const Transition& each = transitions[row];
    EXPECT_TRUE(taken.test(row)) << state_names.at(static_cast<std::size_t>(each.from)) << ", "
                                 << cause_names.at(static_cast<std::size_t>(each.cause));
  }
}

TEST_F(MachineCases, no_two_cases_have_one_title) {
  std::set<std::string> titles;
  for (const Case& one : cases_.all) EXPECT_TRUE(titles.insert(one.title).second) << one.title;
}

// ---- tables ----------------------------------------------------------------------------------

TEST(MachineTables, a_state_and_a_cause_lead_to_one_state) {
  expect_one_state_after(transitions, state_after);
}

TEST(MachineTables, every_refusal_has_a_name_an_error_status_and_a_sentence) {
  std::set<Bytes> names;
  for (std::size_t index = 1; index < refusal_texts.size(); ++index) {
    const auto refusal = static_cast<Refusal>(index);
    EXPECT_TRUE(names.insert(name_of(refusal)).second);
    EXPECT_FALSE(http::reason_phrase(text_of(refusal).status).empty()) << name_of(refusal);
    EXPECT_GE(text_of(refusal).status, 400) << name_of(refusal);
    EXPECT_TRUE(text_of(refusal).detail.ends_with(").")) << name_of(refusal);
  }
}

TEST(MachineTables, the_diagram_in_the_documentation_is_that_of_the_table) {
  expect_drawn("docs/diagrams/http1.md",
               draw_states("States of an HTTP/1.1 connection", "katana/wire/http1/states.hpp",
                           transitions, state_names, cause_names));
}

// ---- a machine by hand -----------------------------------------------------------------------

// A machine with its surroundings, at a time that only the test moves.
class MachineTest : public testing::Test {
 protected:
  explicit MachineTest(const Limits& limits = {}) : context_(limits) {}

  // The event of next() for the input. All of it, or nothing, has to be consumed.
  Event feed(Bytes input) {
    const Step step = machine_.next(input, now_);
    EXPECT_TRUE(step.consumed == input.size() || step.consumed == 0);
    return step.event;
  }
  bool respond(unsigned status, Bytes content = {}, bool stays = false) {
    http::ReplyHead head;
    head.status = status;
    return machine_.respond(head, content, stays, now_, outbox_);
  }
  std::string take_output() {
    std::array<iovec, 64> pieces;
    std::string output;
    for (const iovec& piece : std::span(pieces).first(outbox_.gather(pieces))) {
      output.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
    }
    EXPECT_EQ(output.size(), outbox_.pending());
    outbox_.clear();
    return output;
  }

  Context context_;
  BlockPool blocks_{4096, 16};
  Outbox outbox_{blocks_};
  Instant now_ = Instant{} + seconds(1);
  Machine machine_{context_, now_};
};

TEST_F(MachineTest, a_connection_at_rest_costs_little_memory) { EXPECT_LE(sizeof(Machine), 160U); }

TEST_F(MachineTest, the_head_lies_in_the_input) {
  const std::string input = "POST /a HTTP/1.1\r\nHost: b\r\nContent-Length: 1\r\n\r\nc";
  const Step step = machine_.next(input, now_);
  ASSERT_EQ(step.event, Event::head);
  EXPECT_EQ(context_.head.bytes().data(), input.data());
  EXPECT_EQ(context_.head.target().data(), input.data() + 5);
  ASSERT_EQ(machine_.next(Bytes(input).substr(step.consumed), now_).event, Event::content);
  EXPECT_EQ(machine_.content().data(), input.data() + step.consumed);
}

TEST_F(MachineTest, two_machines_that_share_a_context_do_not_disturb_one_another) {
  Machine other(context_, now_);
  EXPECT_EQ(feed("GET / HT"), Event::need_bytes);
  EXPECT_EQ(other.next("HEAD / HTTP/1.0\r\n\r\n", now_).event, Event::head);
  EXPECT_EQ(feed("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), Event::head);
  EXPECT_EQ(context_.head.target(), "/");
  EXPECT_TRUE(respond(200, "x"));
  EXPECT_TRUE(take_output().ends_with("Content-Length: 1\r\n\r\nx"));
  EXPECT_TRUE(other.respond({}, "y", false, now_, outbox_));
  EXPECT_TRUE(take_output().ends_with("Content-Length: 1\r\nConnection: close\r\n\r\n"));
}

// ---- time ------------------------------------------------------------------------------------

TEST_F(MachineTest, the_deadline_before_the_first_request_is_that_of_a_head) {
  EXPECT_EQ(machine_.deadline(), now_ + context_.limits.head_timeout);
  machine_.on_deadline(now_);
  EXPECT_EQ(machine_.state(), State::idle);
}

TEST_F(MachineTest, the_deadline_after_a_reply_is_that_of_an_idle_connection) {
  feed(smallest_request);
  EXPECT_EQ(machine_.deadline(), never);
  now_ = now_ + seconds(100);
  EXPECT_TRUE(respond(200));
  EXPECT_EQ(machine_.deadline(), now_ + context_.limits.idle_timeout);
}

TEST_F(MachineTest, an_idle_connection_can_be_ended_sooner_and_no_other) {
  machine_.end_idle_by(now_ + seconds(100));
  EXPECT_EQ(machine_.deadline(), now_ + context_.limits.head_timeout);
  machine_.end_idle_by(now_ + seconds(1));
  EXPECT_EQ(machine_.deadline(), now_ + seconds(1));
  feed("GET");
  machine_.end_idle_by(now_);
  EXPECT_EQ(machine_.deadline(), now_ + context_.limits.head_timeout);
}

TEST_F(MachineTest, the_time_of_a_peer_that_was_not_read_begins_anew) {
  feed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n");
  const Instant deadline = machine_.deadline();
  now_ = now_ + seconds(20);
  EXPECT_EQ(machine_.deadline(), deadline);
  machine_.restart_deadline(now_);
  EXPECT_EQ(machine_.deadline(), now_ + context_.limits.content_timeout);
  EXPECT_EQ(feed("123456789"), Event::content);
  machine_.restart_deadline(now_);
  EXPECT_EQ(machine_.deadline(), never) << "it is the handler's turn";
}

TEST_F(MachineTest, a_piece_of_any_size_buys_no_more_than_the_timeout) {
  feed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000000\r\n\r\n");
  // Only its size matters: the machine does not look into content.
  const Bytes piece(smallest_request.data(), 999'999'999'999);
  now_ = now_ + seconds(1);
  EXPECT_EQ(feed(piece), Event::content);
  EXPECT_EQ(machine_.deadline(), now_ + context_.limits.content_timeout);
}

TEST(MachineTime, the_largest_limits_do_not_overflow) {
  Limits limits;
  limits.content_bytes_max = INT64_MAX;
  limits.rate_min_bytes_per_s = 1;
  const Duration ten_years = seconds(std::int64_t{10} * 366 * 24 * 3600);
  limits.idle_timeout = limits.head_timeout = limits.content_timeout = ten_years;
  ASSERT_TRUE(are_valid(limits));
  Context context(limits);
  const Instant now = Instant{} + ten_years * 10;  // a machine that was up for a century
  Machine machine(context, now);
  const Bytes head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775807\r\n\r\n";
  EXPECT_EQ(machine.next(head, now).event, Event::head);
  EXPECT_EQ(machine.next({head.data(), INT64_MAX - 1}, now).event, Event::content);
  EXPECT_EQ(machine.deadline(), now + ten_years);
}

// ---- limits ----------------------------------------------------------------------------------

// Gives a growing input to a machine until it has an event; the input is cut at every `step`.
Event feed_in_steps(Machine& machine, Bytes input, std::size_t step) {
  for (std::size_t size = step; size < input.size(); size += step) {
    const Step got = machine.next(input.substr(0, size), Instant{});
    if (got.event != Event::need_bytes || got.consumed != 0) return got.event;
  }
  return machine.next(input, Instant{}).event;
}

std::string head_of_size(std::size_t bytes) {
  std::string head = "GET / HTTP/1.1\r\nHost: a\r\nA: ";
  return head.append(bytes - head.size() - 4, 'x') + "\r\n\r\n";
}

std::string request_line_of_size(std::size_t bytes) {
  return "GET /" + std::string(bytes - 14, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

// A head as large as the limit is accepted, one byte more is refused, whole and in pieces.
void expect_head_limits(const Limits& limits) {
  for (const Kernels kernels : supported_kernels()) {
    Context context(limits, kernels);
    for (const std::size_t step : {std::size_t{1}, std::size_t{1000}, SIZE_MAX / 2}) {
      const auto refusal_of = [&](const std::string& head) {
        Machine machine(context, Instant{});
        const Event event = feed_in_steps(machine, head, step);
        EXPECT_EQ(event, machine.refusal() == Refusal::none ? Event::head : Event::refused);
        return machine.refusal();
      };
      EXPECT_EQ(refusal_of(head_of_size(limits.head_bytes_max)), Refusal::none);
      EXPECT_EQ(refusal_of(head_of_size(limits.head_bytes_max + 1)), Refusal::head_too_long);
      const std::size_t line = limits.request_line_bytes_max;
      EXPECT_EQ(refusal_of(request_line_of_size(line + 1)), Refusal::request_line_too_long);
      const bool leaves_room = limits.head_bytes_max >= line + 13;
      EXPECT_EQ(refusal_of(request_line_of_size(line)),
                leaves_room ? Refusal::none : Refusal::head_too_long);
    }
  }
}

TEST(MachineLimits, the_default_limits_of_a_head_are_exact) { expect_head_limits({}); }

TEST(MachineLimits, the_largest_head_that_can_be_set_is_addressed_by_16_bits) {
  Limits limits;
  limits.head_bytes_max = head_bytes_limit;
  limits.request_line_bytes_max = head_bytes_limit - 13;
  expect_head_limits(limits);
  limits.request_line_bytes_max = head_bytes_limit - 4;
  expect_head_limits(limits);
}

TEST(MachineLimits, the_default_number_of_fields_is_what_a_head_holds) {
  Context context(Limits{});
  for (const std::size_t fields : {127U, 128U}) {
    std::string head = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (std::size_t index = 0; index < fields; ++index) head += "A: b\r\n";
    head += "\r\n";
    Machine machine(context, Instant{});
    const Event event = machine.next(head, Instant{}).event;
    EXPECT_EQ(event, fields == 127 ? Event::head : Event::refused);
    EXPECT_EQ(machine.refusal(), fields == 127 ? Refusal::none : Refusal::too_many_fields);
  }
}

TEST(MachineLimits, limits_that_cannot_be_counted_are_not_valid) {
  const auto with = [](auto member, auto value) {
    Limits limits;
    limits.*member = value;
    return are_valid(limits);
  };
  EXPECT_TRUE(with(&Limits::head_bytes_max, 65'533U));
  EXPECT_FALSE(with(&Limits::head_bytes_max, 65'534U));
  EXPECT_TRUE(with(&Limits::request_line_bytes_max, 16U * 1024 - 4));
  EXPECT_FALSE(with(&Limits::request_line_bytes_max, 16U * 1024 - 3));
  EXPECT_FALSE(with(&Limits::request_line_bytes_max, SIZE_MAX));
  EXPECT_FALSE(with(&Limits::fields_max, 129U));
  EXPECT_TRUE(with(&Limits::chunk_line_bytes_max, 65'534U));
  EXPECT_FALSE(with(&Limits::chunk_line_bytes_max, 65'535U));
  EXPECT_FALSE(with(&Limits::chunk_overhead_bytes_max, std::size_t{UINT32_MAX}));
  EXPECT_FALSE(with(&Limits::trailer_bytes_max, 65'535U));
  EXPECT_FALSE(with(&Limits::trailer_fields_max, 65'535U));
  EXPECT_FALSE(with(&Limits::content_bytes_max, UINT64_MAX));
  EXPECT_FALSE(with(&Limits::rate_min_bytes_per_s, 0));
  EXPECT_FALSE(with(&Limits::idle_timeout, Duration{}));
  EXPECT_FALSE(with(&Limits::head_timeout, seconds(-1)));
  EXPECT_FALSE(with(&Limits::content_timeout, Duration{INT64_MAX}));
}

TEST(MachineLimitsDeathTest, a_context_requires_limits_that_can_be_counted) {
  Limits limits;
  limits.fields_max = http::fields_capacity + 1;
  EXPECT_DEATH(Context context(limits), "REQUIRE failed: are_valid");
}

TEST_F(MachineTest, a_limit_counts_what_is_still_to_come) {
  feed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n");
  EXPECT_TRUE(machine_.limit_content(9));
  EXPECT_EQ(feed("12345"), Event::content);
  EXPECT_TRUE(machine_.limit_content(4));
  EXPECT_FALSE(machine_.limit_content(3));
  EXPECT_EQ(feed("6789"), Event::refused);
  EXPECT_EQ(machine_.refusal(), Refusal::content_too_large);
}

TEST_F(MachineTest, a_limit_is_no_matter_when_there_is_no_content_to_come) {
  EXPECT_TRUE(machine_.limit_content(0));
  feed(smallest_request);
  EXPECT_TRUE(machine_.limit_content(0));
  EXPECT_TRUE(respond(200));
  feed("x");
  machine_.end_of_input();
  EXPECT_TRUE(machine_.limit_content(0));
  EXPECT_EQ(machine_.state(), State::refused);
}

TEST_F(MachineTest, a_limit_in_the_middle_of_a_chunk_counts_what_is_left_of_it) {
  feed("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(feed("5\r\n12"), Event::content);
  EXPECT_TRUE(machine_.limit_content(3));
  EXPECT_EQ(feed("3"), Event::content);
  EXPECT_TRUE(machine_.limit_content(1));
  EXPECT_EQ(feed("4"), Event::refused);
  EXPECT_EQ(machine_.refusal(), Refusal::content_too_large);
}

TEST_F(MachineTest, content_that_is_read_past_is_limited_in_the_middle_of_a_chunk) {
  feed("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(feed("20000\r\n12"), Event::content);
  EXPECT_TRUE(respond(200));
  EXPECT_EQ(machine_.state(), State::discard);
  EXPECT_EQ(feed(""), Event::closed);
  EXPECT_TRUE(machine_.input_may_follow());
}

// ---- heads that dribble ----------------------------------------------------------------------

// Every byte that was searched or judged is overwritten with one that would be refused, and may not
// be read at all under AddressSanitizer. Therefore a byte is looked at when it arrives, when its
// line is complete and when its head is complete. The cost of a head that arrives in small pieces
// grows with its size alone.
TEST(MachineDribble, a_byte_of_an_incomplete_head_is_not_searched_twice) {
  for (const std::size_t bytes : {4'000U, 16'000U}) {
    std::string head = "GET /" + std::string(1000, 'p') + " HTTP/1.1\r\nHost: a\r\n";
    while (head.size() + 200 < bytes) head += "Name: " + std::string(150, 'v') + "\r\n";
    head += "\r\n";
    Context context(Limits{});
    Machine machine(context, Instant{});
    const auto shown = std::make_unique<char[]>(head.size());
    std::size_t line_at = 0;
    for (std::size_t at = 0; at + 1 < head.size(); ++at) {
      const bool completes_line = at > 0 && head[at - 1] == '\r';
      const std::size_t from = completes_line ? line_at : at;
      std::fill_n(shown.get(), head.size(), '\n');
      std::copy_n(head.data() + from, at + 1 - from, shown.get() + from);
      poison(shown.get(), from);
      const Step step = machine.next({shown.get(), at + 1}, Instant{});
      unpoison(shown.get(), head.size());
      ASSERT_EQ(step.event, Event::need_bytes) << at;
      if (completes_line) line_at = at + 1;
    }
    const Step last = machine.next(head, Instant{});
    EXPECT_EQ(last.event, Event::head);
    EXPECT_EQ(last.consumed, head.size());
  }
}

// ---- commands --------------------------------------------------------------------------------

TEST_F(MachineTest, commands_that_nothing_asks_for_fail_and_write_nothing) {
  const auto expect_all_fail = [&] {
    EXPECT_FALSE(respond(200));
    EXPECT_FALSE(machine_.begin_reply({}, outbox_));
    EXPECT_FALSE(machine_.write_content("x", outbox_));
    EXPECT_FALSE(machine_.write_content("", outbox_));
    EXPECT_FALSE(machine_.end_reply(now_, outbox_));
    EXPECT_TRUE(outbox_.empty());
  };
  expect_all_fail();
  feed("GET");
  EXPECT_EQ(machine_.state(), State::head);
  expect_all_fail();
  feed(smallest_request);
  EXPECT_TRUE(respond(200));
  take_output();
  expect_all_fail();
  machine_.end_of_input();
  EXPECT_EQ(machine_.state(), State::closed);
  expect_all_fail();
}

TEST_F(MachineTest, a_reply_with_every_status_fits_the_room_that_it_asks_for) {
  const std::string fields = "X: " + std::string(100, 'x') + "\r\n";
  const std::string type(60, 't');
  context_.head_writer.set_server_and_date("Server: k\r\n");
  for (unsigned status = 200; status <= 999; ++status) {
    // Blocks that grow until the reply fits one; it must then not reach beyond its end.
    for (std::size_t block_bytes = 128;; block_bytes += 16) {
      BlockPool blocks(block_bytes, 1);
      Outbox outbox(blocks);
      Machine machine(context_, now_);
      machine.next("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", now_);
      const http::ReplyHead head{
          .status = status, .content_type = type, .fields = fields, .content_length = INT64_MAX};
      if (!machine.begin_reply(head, outbox)) {
        ASSERT_EQ(outbox.pending(), 0U);
        ASSERT_FALSE(machine.reply_begun());
        ASSERT_LE(block_bytes, 4096U);
        continue;
      }
      ASSERT_LE(outbox.pending(), outbox.reserve_bytes_max()) << status;
      outbox.clear();
      break;
    }
  }
}

TEST_F(MachineTest, a_reply_head_with_3_kib_of_fields_fits_one_block) {
  const std::string fields = "X: " + std::string(3067, 'x') + "\r\n";
  const std::string type(256, 't');
  context_.head_writer.set_server_and_date(
      "Server: katana\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  const http::ReplyHead head{
      .status = 511, .content_type = type, .fields = fields, .content_length = 1};
  for (const std::size_t content_bytes : {0U, 13U, 500U, 1024U, 1025U, 9000U}) {
    const std::string content(content_bytes, 'c');
    for (const bool stays : {false, true}) {
      ASSERT_EQ(feed(smallest_request), Event::head);
      ASSERT_TRUE(machine_.respond(head, content, stays, now_, outbox_));
      const std::string output = take_output();
      const std::string end =
          "Content-Length: " + std::to_string(content_bytes) + "\r\n" + fields + "\r\n" + content;
      EXPECT_TRUE(output.ends_with(end)) << content_bytes;
      EXPECT_TRUE(output.starts_with("HTTP/1.1 511 Network Authentication Required\r\nServer: "));
    }
  }
}

TEST_F(MachineTest, a_reply_head_that_fits_no_block_fails_and_writes_nothing) {
  const std::string fields = "X: " + std::string(4096, 'x') + "\r\n";
  ASSERT_EQ(feed(smallest_request), Event::head);
  const http::ReplyHead head{.status = 200, .content_type = {}, .fields = fields};
  EXPECT_FALSE(machine_.respond(head, "x", false, now_, outbox_));
  EXPECT_FALSE(machine_.begin_reply(head, outbox_));
  EXPECT_TRUE(outbox_.empty());
  EXPECT_FALSE(machine_.reply_begun());
  EXPECT_TRUE(respond(500)) << "the request is still waiting";
}

TEST_F(MachineTest, content_that_stays_is_referred_to_and_needs_no_blocks) {
  const std::string content(1 << 20, 'x');
  ASSERT_EQ(feed(smallest_request), Event::head);
  EXPECT_FALSE(respond(200, content, false)) << "it cannot be copied into this pool";
  EXPECT_TRUE(outbox_.empty());
  ASSERT_TRUE(respond(200, content, true));
  std::array<iovec, 4> pieces;
  ASSERT_EQ(outbox_.gather(pieces), 2U);
  EXPECT_EQ(pieces[1].iov_base, content.data());
  EXPECT_EQ(pieces[1].iov_len, content.size());
  outbox_.clear();
}

TEST_F(MachineTest, a_command_without_room_fails_and_writes_nothing_and_may_be_repeated) {
  std::vector<char*> taken;
  while (blocks_.available() > 0) taken.push_back(blocks_.take());
  ASSERT_EQ(feed("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"),
            Event::head);
  EXPECT_FALSE(machine_.send_continue(outbox_));
  EXPECT_FALSE(respond(200, "x"));
  EXPECT_FALSE(respond(200, std::string(2000, 'x')));
  EXPECT_FALSE(machine_.begin_reply({}, outbox_));
  EXPECT_TRUE(outbox_.empty());
  for (char* const block : taken) blocks_.give(block);
  EXPECT_TRUE(machine_.send_continue(outbox_));
  EXPECT_EQ(feed("x"), Event::content);
  EXPECT_TRUE(machine_.begin_reply({}, outbox_));
  take_output();
  taken.clear();
  while (blocks_.available() > 0) taken.push_back(blocks_.take());
  EXPECT_FALSE(machine_.write_content("hello", outbox_));
  EXPECT_FALSE(machine_.end_reply(now_, outbox_));
  EXPECT_TRUE(outbox_.empty());
  EXPECT_EQ(machine_.state(), State::reply);
  for (char* const block : taken) blocks_.give(block);
  EXPECT_TRUE(machine_.write_content("hello", outbox_));
  EXPECT_TRUE(machine_.end_reply(now_, outbox_));
  EXPECT_EQ(take_output(), "5\r\nhello\r\n0\r\n\r\n");
  EXPECT_EQ(machine_.state(), State::idle);
}

TEST_F(MachineTest, content_of_an_announced_length_is_counted_when_it_was_written) {
  ASSERT_EQ(feed(smallest_request), Event::head);
  const http::ReplyHead head{
      .status = 200, .content_type = {}, .fields = {}, .content_length = 5000};
  ASSERT_TRUE(machine_.begin_reply(head, outbox_));
  std::vector<char*> taken;
  while (blocks_.available() > 0) taken.push_back(blocks_.take());
  EXPECT_FALSE(machine_.write_content(std::string(5000, 'x'), outbox_));
  for (char* const block : taken) blocks_.give(block);
  EXPECT_TRUE(machine_.write_content(std::string(5000, 'x'), outbox_));
  EXPECT_TRUE(machine_.end_reply(now_, outbox_));
  EXPECT_TRUE(take_output().ends_with("\r\n\r\n" + std::string(5000, 'x')));
}

TEST_F(MachineTest, a_reply_that_announces_no_content_says_a_length_of_zero) {
  ASSERT_EQ(feed(smallest_request), Event::head);
  const http::ReplyHead head{.status = 200, .content_type = {}, .fields = {}, .content_length = 0};
  ASSERT_TRUE(machine_.begin_reply(head, outbox_));
  EXPECT_TRUE(machine_.end_reply(now_, outbox_));
  EXPECT_TRUE(take_output().ends_with("\r\nContent-Length: 0\r\n\r\n"));
}

TEST_F(MachineTest, content_of_any_length_is_copied_whole) {
  std::string content;
  for (std::size_t size = 0; size <= 2100; size += size < 140 ? 1 : 97) {
    while (content.size() < size) content += static_cast<char>('a' + content.size() % 26);
    ASSERT_EQ(feed(smallest_request), Event::head);
    ASSERT_TRUE(respond(200, content));
    const std::string output = take_output();
    ASSERT_TRUE(output.ends_with("Content-Length: " + std::to_string(size) + "\r\n\r\n" + content));
  }
}

}  // namespace
}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
