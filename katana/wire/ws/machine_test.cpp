// The transcripts of machine.cases.md, the table of states, and tests that need no transcript.
#include "katana/wire/ws/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "katana/base/memory/block_pool.hpp"
#include "katana/base/system/source_tree_test.hpp"
#include "katana/base/system/transcript_test.hpp"
#include "katana/wire/ws/mask.hpp"

namespace katana::ws {
namespace {

// ---- reading the cases -----------------------------------------------------------------------

enum class Act : std::uint8_t { send, wait, peer_ends, we_close };

struct Action {
  Act act;
  std::string bytes;        // of send
  std::uint64_t value = 0;  // seconds, or a code
};

struct Case {
  std::string title;
  Limits limits;
  std::vector<Action> actions;
  std::string events;
};

std::string frame_of(std::uint8_t first, Bytes payload, bool masked) {
  std::string out(header_bytes_max, '\0');
  const std::uint32_t mask = 0x21a437f1;
  char* const end =
      write_header(out.data(), Opcode::continuation, false, false, payload.size(), masked, mask);
  out.resize(static_cast<std::size_t>(end - out.data()));
  out[0] = static_cast<char>(first);
  std::string sent(payload);
  if (masked) copy_masked(sent.data(), payload.data(), payload.size(), mask);
  return out + sent;
}

std::uint8_t opcode_of(const std::string& kind) {
  constexpr std::pair<Bytes, int> kinds[] = {{"cont", 0},  {"text", 1}, {"binary", 2},
                                             {"close", 8}, {"ping", 9}, {"pong", 10}};
  for (const auto& [name, number] : kinds) {
    if (name == kind) return static_cast<std::uint8_t>(number);
  }
  return static_cast<std::uint8_t>(number_at(Bytes(kind).substr(2)));
}

Action read_action(const std::string& line) {
  if (line.starts_with("raw ")) return {Act::send, unescape(line.substr(4))};
  if (line == "(the peer ends)") return {Act::peer_ends, {}};
  if (line.starts_with("(we close ")) return {Act::we_close, {}, number_at(Bytes(line).substr(10))};
  if (line.starts_with("(")) return {Act::wait, {}, number_at(Bytes(line).substr(1))};
  const std::string kind = line.substr(0, line.find(' '));
  const std::size_t open = line.find('"');
  const std::size_t close = line.rfind('"');
  std::string payload;
  if (open != std::string::npos) payload = unescape(Bytes(line).substr(open + 1, close - open - 1));
  if (kind == "close" && line.size() > 6) {
    const std::uint64_t code = number_at(Bytes(line).substr(6));
    payload.insert(0, {static_cast<char>(code >> 8), static_cast<char>(code & 255)});
  }
  const std::string flags = open == std::string::npos ? "" : line.substr(close);
  unsigned first = opcode_of(kind) | (flags.contains('+') ? 0u : 0x80u);
  if (flags.contains("rsv1")) first |= 0x40;
  if (flags.contains("rsv2")) first |= 0x20;
  if (flags.contains("rsv3")) first |= 0x10;
  return {Act::send,
          frame_of(static_cast<std::uint8_t>(first), payload, !flags.contains("unmasked"))};
}

void read_limit(const std::string& line, Limits& limits) {
  const std::size_t space = line.find(' ');
  const std::string name = line.substr(0, space);
  const std::uint64_t number = number_at(Bytes(line).substr(space + 1));
  if (name == "message_bytes_max") {
    limits.message_bytes_max = number;
  } else if (name == "frame_bytes_max") {
    limits.frame_bytes_max = number;
  } else if (name == "fragments_max") {
    limits.fragments_max = static_cast<std::uint32_t>(number);
  } else if (name == "message_timeout") {
    limits.message_timeout = seconds(static_cast<std::int64_t>(number));
  } else {
    ADD_FAILURE() << "no such limit: " << line;
  }
}

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  const auto begin = [&](std::string title) { cases.push_back({std::move(title), {}, {}, {}}); };
  read_fences("katana/wire/ws/machine.cases.md", begin, [&](Bytes fence, const std::string& line) {
    if (fence == "given") read_limit(line, cases.back().limits);
    if (fence == "sent") cases.back().actions.push_back(read_action(line));
    if (fence == "events") cases.back().events += read_event(line);
  });
  return cases;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = read_cases();
  return all;
}

// ---- playing them ----------------------------------------------------------------------------

// Reads back the bytes that are written to an outbox.
class Sink {
 public:
  Outbox& outbox() { return outbox_; }
  std::string take() {
    std::string bytes;
    outbox_.for_each_pending([&](Bytes each, const Retained*) { bytes += each; });
    outbox_.clear();
    return bytes;
  }

 private:
  BlockPool blocks_{4096, 64};
  Outbox outbox_{blocks_};
};

std::string code_and_reason(Bytes payload) {
  if (payload.empty()) return "";
  const unsigned code =
      static_cast<std::uint8_t>(payload[0]) * 256u + static_cast<std::uint8_t>(payload[1]);
  return " " + std::to_string(code) + " \"" + escape(payload.substr(2)) + '"';
}

class Play {
 public:
  explicit Play(const Case& one) : case_(one), context_(std::make_unique<Context>(one.limits)) {}

  // `cuts` ascend, and are places in all that is sent.
  std::string run(const std::vector<std::size_t>& cuts) {
    now_ = Instant{} + seconds(1);
    machine_.emplace(*context_, now_);
    events_.clear();
    message_.clear();
    pending_.clear();
    over_ = in_message_ = false;
    std::size_t sent = 0;
    auto cut = cuts.begin();
    for (const Action& action : case_.actions) {
      if (action.act != Act::send) {
        happen(action);
        continue;
      }
      Bytes left = action.bytes;
      while (!left.empty()) {
        while (cut != cuts.end() && *cut <= sent) ++cut;
        const std::size_t count =
            cut == cuts.end() ? left.size() : std::min(left.size(), *cut - sent);
        arrive(left.substr(0, count));
        left.remove_prefix(count);
        sent += count;
      }
    }
    return events_ + std::string(state_names[static_cast<std::size_t>(machine_->state())]) + "\n";
  }

  std::size_t size() const {
    std::size_t sum = 0;
    for (const Action& action : case_.actions) sum += action.bytes.size();
    return sum;
  }

  static Seen<State, Refusal>& seen() {
    static Seen<State, Refusal> of_all;
    return of_all;
  }

 private:
  void arrive(Bytes bytes) {
    pending_ += bytes;
    pull();
  }

  void pull() {
    while (!over_) {
      // In its own block of the exact size: a sanitizer then finds a read too far.
      const std::vector<char> input(pending_.begin(), pending_.end());
      const State before = machine_->state();
      const Step step = machine_->next({input.data(), input.size()}, now_);
      seen().note_move(before, machine_->state());
      ASSERT_LE(step.consumed, pending_.size());
      if (step.event != Event::need_bytes) report(step);
      pending_.erase(0, step.consumed);
      if (step.event == Event::need_bytes) break;
      over_ = machine_->state() == State::closed;
    }
    // The bytes that wait are never more than the head of a frame, or a control frame.
    EXPECT_TRUE(over_ || pending_.size() < 6 + control_bytes_max);
  }

  void happen(const Action& action) {
    if (over_) return;
    const State before = machine_->state();
    if (action.act == Act::peer_ends) {
      machine_->end_of_input();
      over_ = true;
    } else if (action.act == Act::we_close) {
      close(static_cast<CloseCode>(action.value), "");
    } else {
      now_ = now_ + seconds(static_cast<std::int64_t>(action.value));
      if (now_ >= machine_->deadline()) machine_->on_deadline(now_);
      seen().note_move(before, machine_->state());
      pull();
      return;
    }
    seen().note_move(before, machine_->state());
  }

  void report(const Step& step) {
    const std::string payload(machine_->payload());
    const std::string quoted = "\"" + escape(payload) + "\"\n";
    switch (step.event) {
      case Event::data:
        EXPECT_EQ(step.first, !in_message_);
        in_message_ = !step.last;
        message_ += payload;
        if (!step.last) return;
        events_ += (step.text ? "text \"" : "binary \"") + escape(message_) + "\"\n";
        message_.clear();
        return;
      case Event::ping:
        events_ += "ping " + quoted;
        EXPECT_TRUE(machine_->pong(payload, sink_.outbox()));
        break;
      case Event::pong: events_ += "pong " + quoted; break;
      case Event::packed: break;  // nothing is compressed here
      case Event::close:
        events_ +=
            "close " + std::to_string(static_cast<unsigned>(machine_->close_code())) + " " + quoted;
        close(machine_->close_code(), "");
        break;
      case Event::refused:
        seen().refusals.insert(machine_->refusal());
        events_ += "refused " + std::string(text_of(machine_->refusal()).name) + "\n";
        close(text_of(machine_->refusal()).code, text_of(machine_->refusal()).sentence);
        break;
      case Event::ping_due:
        events_ += "ping_due\n";
        EXPECT_TRUE(machine_->ping("", sink_.outbox()));
        break;
      case Event::timed_out: events_ += "timed_out\n"; break;
      case Event::closed: events_ += "closed\n"; break;
      case Event::need_bytes: break;
    }
    note_sent();
  }

  void close(CloseCode code, Bytes reason) {
    const State before = machine_->state();
    (void)machine_->close(code, reason, now_, sink_.outbox());
    seen().note_move(before, machine_->state());
    note_sent();
  }

  void note_sent() {
    const std::string sent = sink_.take();
    if (sent.empty()) return;
    const Frame frame = read_frame(sent, false, false);
    ASSERT_NE(frame.header_bytes, 0u);
    const Bytes payload = Bytes(sent).substr(frame.header_bytes);
    EXPECT_EQ(payload.size(), frame.length);
    if (frame.opcode == Opcode::close) {
      events_ += "> close" + code_and_reason(payload) + "\n";
    } else {
      events_ +=
          (frame.opcode == Opcode::ping ? "> ping \"" : "> pong \"") + escape(payload) + "\"\n";
    }
  }

  const Case& case_;
  std::unique_ptr<Context> context_;
  Sink sink_;
  Instant now_;
  std::optional<Machine> machine_;
  std::string pending_;
  std::string message_;
  std::string events_;
  bool in_message_ = false;
  bool over_ = false;
};

TEST(WebSocketCases, every_case_reads_the_same_whole_byte_by_byte_and_at_every_cut) {
  ASSERT_GE(cases().size(), 40U);
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.title);
    Play play(one);
    ASSERT_EQ(play.run({}), one.events);
    EXPECT_EQ(play.run(every_cut(play.size())), one.events) << "byte by byte";
    for (std::size_t cut = 1; cut < play.size(); ++cut) {
      ASSERT_EQ(play.run({cut}), one.events) << "cut at " << cut;
      if (play.size() > 40) continue;
      for (std::size_t second = cut + 1; second < play.size(); ++second) {
        ASSERT_EQ(play.run({cut, second}), one.events) << "cut at " << cut << ", " << second;
      }
    }
  }
}

TEST(WebSocketCases, take_every_transition_and_give_every_refusal_but_those_of_compression) {
  for (const Case& one : cases()) {
    Play play(one);
    (void)play.run({});
    (void)play.run(every_cut(play.size()));
  }
  for (const Transition& each : transitions) {
    // A refusal or a close frame is answered at once: no event can come between.
    const bool between =
        (each.from == State::refused || each.from == State::answering) && each.cause == Cause::end;
    EXPECT_TRUE(between || Play::seen().moves.contains({each.from, each.to}))
        << state_names[static_cast<std::size_t>(each.from)] << " to "
        << state_names[static_cast<std::size_t>(each.to)];
  }
  for (std::size_t index = 1; index < refusal_texts.size(); ++index) {
    const auto refusal = static_cast<Refusal>(index);
    const bool elsewhere = refusal == Refusal::bad_compression ||
                           refusal == Refusal::too_many_blocks || refusal == Refusal::masked;
    EXPECT_EQ(Play::seen().refusals.contains(refusal), !elsewhere) << text_of(refusal).name;
  }
}

// ---- the tables ------------------------------------------------------------------------------

TEST(WebSocketTables, a_state_and_a_cause_lead_to_one_state) {
  expect_one_state_after(transitions, state_after);
}

TEST(WebSocketTables, every_refusal_has_a_code_and_a_sentence_that_a_close_frame_holds) {
  std::set<Bytes> names;
  for (std::size_t index = 1; index < refusal_texts.size(); ++index) {
    const RefusalText& text = refusal_texts[index];
    EXPECT_TRUE(names.insert(text.name).second);
    EXPECT_TRUE(text.sentence.ends_with("."));
    EXPECT_LE(text.sentence.size(), control_bytes_max - 2);
    EXPECT_TRUE(may_be_sent(static_cast<std::uint16_t>(text.code)));
  }
}

TEST(WebSocketTables, the_diagram_in_the_documentation_is_that_of_the_table) {
  expect_drawn("docs/diagrams/websocket.md",
               draw_states("States of a WebSocket connection", "katana/wire/ws/states.hpp",
                           transitions, state_names, cause_names));
}

// ---- tests without a transcript --------------------------------------------------------------

// Messages of one machine, taken by another.
struct Pair {
  explicit Pair(const Limits& limits = {}, DeflatePool* pool = nullptr, int window_bits = 0)
      : client_context(std::make_unique<Context>(limits, Role::client, pool, 7)),
        server_context(std::make_unique<Context>(limits, Role::server, pool)),
        client(*client_context, Instant{}, window_bits),
        server(*server_context, Instant{}, window_bits) {}

  // The message that `to` reads from the bytes, in pieces of `cut`.
  static std::string deliver(Machine& to, Bytes bytes, std::size_t cut) {
    std::string message;
    std::string pending;
    while (!bytes.empty()) {
      pending += bytes.substr(0, cut);
      bytes.remove_prefix(std::min(cut, bytes.size()));
      for (;;) {
        const Step step = to.next(pending, Instant{});
        if (step.event == Event::data) message += to.payload();
        if (step.event == Event::refused)
          message += "refused " + std::string(text_of(to.refusal()).name);
        if (step.event == Event::data && step.last) message += '|';
        pending.erase(0, step.consumed);
        if (step.event == Event::need_bytes || step.event == Event::closed) break;
      }
    }
    return message;
  }

  std::unique_ptr<Context> client_context;
  std::unique_ptr<Context> server_context;
  Machine client;
  Machine server;
  BlockPool blocks{4096, 1024};
  Outbox outbox{blocks};
  std::string take() {
    std::string bytes;
    outbox.for_each_pending([&](Bytes each, const Retained*) { bytes += each; });
    outbox.clear();
    return bytes;
  }
};

std::string text_of_size(std::size_t size) {
  std::string text;
  for (std::size_t at = 0; at < size; ++at) text += static_cast<char>('a' + at * at % 23);
  return text;
}

TEST(WebSocketMachine, is_a_few_words) { EXPECT_LE(sizeof(Machine), 112U); }

TEST(WebSocketMachine, client_and_server_understand_one_another_at_every_size) {
  Pair pair;
  for (const std::size_t size : {0u, 1u, 7u, 125u, 126u, 4000u, 4096u, 65535u, 65536u, 200'000u}) {
    const std::string text = text_of_size(size);
    for (const std::size_t cut : {1000u, 16'384u, 1'000'000u}) {
      ASSERT_TRUE(pair.client.send(Opcode::text, text, pair.outbox));
      const std::string masked = pair.take();
      EXPECT_EQ(masked.size(), size + header_bytes(size, true));
      ASSERT_EQ(Pair::deliver(pair.server, masked, cut), text + "|") << size;
      ASSERT_TRUE(pair.server.send(Opcode::text, text, pair.outbox));
      ASSERT_EQ(Pair::deliver(pair.client, pair.take(), cut), text + "|") << size;
    }
  }
}

TEST(WebSocketMachine, a_client_refuses_a_frame_with_a_mask) {
  Pair pair;
  EXPECT_EQ(Pair::deliver(pair.client, frame_of(0x81, "x", true), 100), "refused masked");
}

TEST(WebSocketMachine, parts_are_one_message_with_a_ping_between_them) {
  Pair pair;
  EXPECT_TRUE(pair.server.send_part(Opcode::text, "one ", false, pair.outbox));
  EXPECT_TRUE(pair.server.ping("?", pair.outbox));
  EXPECT_TRUE(pair.server.send_part(Opcode::continuation, "two", true, pair.outbox));
  EXPECT_EQ(Pair::deliver(pair.client, pair.take(), 3), "one two|");
}

TEST(WebSocketMachine, a_shared_message_is_sent_from_where_it_lies) {
  Pair pair;
  Retained memory([](Retained&) noexcept {});
  memory.retain();
  const std::string text = text_of_size(100);
  EXPECT_TRUE(pair.server.send_shared(Opcode::text, text, memory, pair.outbox));
  bool found = false;
  pair.outbox.for_each_pending(
      [&](Bytes each, const Retained*) { found |= each.data() == text.data(); });
  EXPECT_TRUE(found);
  EXPECT_EQ(memory.references, 2u);
  EXPECT_EQ(Pair::deliver(pair.client, pair.take(), 9), text + "|");
  EXPECT_EQ(memory.references, 1u);
}

TEST(WebSocketMachine, an_outbox_without_room_takes_nothing_and_the_message_can_be_sent_later) {
  Pair pair;
  BlockPool few(256, 8);
  Outbox outbox(few);
  const std::string text = text_of_size(3000);
  EXPECT_FALSE(pair.server.send(Opcode::text, text, outbox));
  EXPECT_TRUE(outbox.empty());
  EXPECT_TRUE(pair.server.send(Opcode::text, "short", outbox));
}

TEST(WebSocketMachine, without_room_for_a_close_frame_nothing_is_closed) {
  Pair pair;
  BlockPool few(256, 1);
  Outbox outbox(few);
  char* const taken = few.take();
  EXPECT_FALSE(pair.server.close(CloseCode::normal, "bye", Instant{}, outbox));
  EXPECT_TRUE(pair.server.may_send());
  few.give(taken);
  EXPECT_TRUE(pair.server.close(CloseCode::normal, "bye", Instant{}, outbox));
  EXPECT_FALSE(pair.server.may_send());
}

TEST(WebSocketMachine, no_part_of_a_message_follows_a_close_frame) {
  Pair pair;
  EXPECT_TRUE(pair.server.send_part(Opcode::text, "a", false, pair.outbox));
  EXPECT_TRUE(pair.server.close(CloseCode::normal, "", Instant{}, pair.outbox));
  pair.take();
  EXPECT_FALSE(pair.server.send_part(Opcode::continuation, "b", true, pair.outbox));
  EXPECT_TRUE(pair.outbox.empty());
}

// RFC 6455 §5.2: the first bit of eight bytes is 0.
TEST(WebSocketMachine, a_length_has_63_bits) {
  const std::string masked_text("\x81\xff", 2);
  const std::string all_but_the_first(7, '\xff');
  Pair pair;
  EXPECT_EQ(Pair::deliver(pair.server, masked_text + '\x7f' + all_but_the_first + "mask", 20),
            "refused frame_too_big");
  Pair other;
  EXPECT_EQ(Pair::deliver(other.server, masked_text + '\x80' + std::string(7, '\0') + "mask", 20),
            "refused length_beyond_63_bits");
}

TEST(WebSocketMachine, a_reason_is_cut_where_a_character_ends) {
  Pair pair;
  std::string reason(122, 'x');
  reason += "\xc3\xa9 and more";
  EXPECT_TRUE(pair.server.close(CloseCode::normal, reason, Instant{}, pair.outbox));
  const std::string sent = pair.take();
  const Step step = pair.client.next(sent, Instant{});
  EXPECT_EQ(step.event, Event::close);
  EXPECT_EQ(pair.client.payload(), std::string(122, 'x'));
  EXPECT_FALSE(pair.server.send(Opcode::text, "late", pair.outbox));
}

// RFC 6455 §5.5.1: the other side would answer it with 1007.
TEST(WebSocketMachine, a_reason_that_is_not_utf8_is_left_out) {
  Pair pair;
  EXPECT_TRUE(pair.server.close(CloseCode::normal, "caf\xc3", Instant{}, pair.outbox));
  const std::string sent = pair.take();
  EXPECT_EQ(pair.client.next(sent, Instant{}).event, Event::close);
  EXPECT_EQ(pair.client.close_code(), CloseCode::normal);
  EXPECT_EQ(pair.client.payload(), "");
}

TEST(WebSocketMachine, a_code_that_no_close_frame_may_have_is_sent_as_none) {
  for (const int code : {0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535}) {
    Pair pair;
    EXPECT_TRUE(pair.server.close(static_cast<CloseCode>(code), "why", Instant{}, pair.outbox));
    EXPECT_EQ(pair.take(), std::string("\x88\0", 2)) << code;
  }
  for (const int code : {1000, 1003, 1007, 1014, 3000, 4999}) {
    Pair pair;
    EXPECT_TRUE(pair.server.close(static_cast<CloseCode>(code), "", Instant{}, pair.outbox));
    const std::string sent = pair.take();
    EXPECT_EQ(pair.client.next(sent, Instant{}).event, Event::close) << code;
    EXPECT_EQ(pair.client.close_code(), static_cast<CloseCode>(code));
  }
}

TEST(WebSocketMachine, time_in_which_the_peer_was_not_read_does_not_count) {
  Pair pair;
  pair.server.restart_deadline(Instant{} + seconds(29));
  pair.server.on_deadline(Instant{} + seconds(30));
  EXPECT_EQ(pair.server.next({}, Instant{} + seconds(30)).event, Event::need_bytes);
  EXPECT_EQ(pair.server.deadline(), Instant{} + seconds(59));
}

TEST(WebSocketMasking, every_size_and_place_agrees_with_the_definition) {
  const std::string text = text_of_size(80);
  for (std::size_t from = 0; from < 8; ++from) {
    for (std::size_t size = 0; size + from <= text.size(); ++size) {
      std::string masked(size, '\0');
      copy_masked(masked.data(), text.data() + from, size, 0x04030201);
      for (std::size_t at = 0; at < size; ++at) {
        ASSERT_EQ(masked[at], static_cast<char>(text[from + at] ^ (at % 4 + 1)));
      }
      EXPECT_EQ(rotate_mask(0x04030201, size) & 255, size % 4 + 1);
    }
  }
}

// ---- text in pieces --------------------------------------------------------------------------

TEST(Utf8Stream, agrees_with_the_whole_for_every_pair_of_octets_and_every_cut) {
  for (unsigned first = 0; first < 256; ++first) {
    for (unsigned second = 0; second < 256; ++second) {
      std::string text = "plain text that is long enough ";
      text += {static_cast<char>(first), static_cast<char>(second), '\x80', '\x80', 'z'};
      Utf8Stream whole;
      const bool fine = whole.check(text) && whole.complete();
      for (std::size_t cut = 30; cut < text.size(); ++cut) {
        Utf8Stream cut_up;
        const bool same = cut_up.check(Bytes(text).substr(0, cut)) &&
                          cut_up.check(Bytes(text).substr(cut)) && cut_up.complete();
        ASSERT_EQ(same, fine) << first << " " << second;
      }
    }
  }
}

}  // namespace
}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
