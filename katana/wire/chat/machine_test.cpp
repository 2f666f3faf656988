// The transcripts of machine.cases.md, the table of states, and what a transcript cannot say.
#include "katana/wire/chat/machine.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "katana/base/source_tree_test.hpp"
#include "katana/wire/chat/line_text.hpp"

namespace katana::chat {
namespace {

// ---- reading the cases -----------------------------------------------------------------------

// What happens when `at` bytes have been sent.
struct Moment {
  std::size_t at;
  Duration passes;
  bool peer_ends;
};

struct Case {
  std::string title;
  Limits limits;
  std::string sent;
  std::vector<Moment> moments;
  std::string events;
};

std::size_t number_at(const std::string& text, std::size_t at) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  EXPECT_EQ(error, std::errc{}) << text;
  return number;
}

std::string unescape(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      out += text[at];
      continue;
    }
    const char kind = text[++at];
    if (kind == '{') {
      const std::size_t close = text.find('}', at);
      const std::size_t space = text.find(' ', at);
      const std::string piece = unescape(text.substr(space + 1, close - space - 1));
      for (std::size_t count = number_at(text, at + 1); count > 0; --count) out += piece;
      at = close;
    } else if (kind == 'x') {
      out += static_cast<char>(std::strtoul(text.substr(at + 1, 2).c_str(), nullptr, 16));
      at += 2;
    } else {
      out += kind == 'r' ? '\r' : kind == 'n' ? '\n' : kind == 't' ? '\t' : kind;
    }
  }
  return out;
}

std::string escape(Bytes text) {
  std::string out;
  for (const char each : text) {
    const auto octet = static_cast<std::uint8_t>(each);
    if (each == '\\') {
      out += "\\\\";
    } else if (octet < 0x20 || octet > 0x7e) {
      constexpr char digits[] = "0123456789abcdef";
      out += {'\\', 'x', digits[octet >> 4], digits[octet & 15]};
    } else {
      out += each;
    }
  }
  return out;
}

void read_limit(const std::string& line, Limits& limits) {
  const std::size_t space = line.find(' ');
  const std::string name = line.substr(0, space);
  const std::size_t number = number_at(line, space + 1);
  const Duration time = seconds(static_cast<std::int64_t>(number));
  if (name == "line_bytes_max") {
    limits.line_bytes_max = number;
  } else if (name == "idle_timeout") {
    limits.idle_timeout = time;
  } else if (name == "ping_after") {
    limits.ping_after = time;
  } else {
    ADD_FAILURE() << "no such limit: " << line;
  }
}

// `text (5 s) text (the peer ends)`: what stands in brackets happens between bytes.
void read_sent(const std::string& line, Case& one) {
  std::size_t from = 0;
  for (;;) {
    std::size_t open = line.find('(', from);
    while (open != std::string::npos && !line.substr(open).starts_with("(the peer ends)") &&
           (std::isdigit(line[open + 1]) == 0 || line.find(" s)", open) == std::string::npos)) {
      open = line.find('(', open + 1);
    }
    one.sent += unescape(line.substr(from, open - from));
    if (open == std::string::npos) return;
    const bool ends = line[open + 1] == 't';
    const auto time =
        ends ? Duration{} : seconds(static_cast<std::int64_t>(number_at(line, open + 1)));
    one.moments.push_back({one.sent.size(), time, ends});
    from = line.find(')', open) + 1;
  }
}

// Events are compared as text, with repetitions written out.
std::string read_event(const std::string& line) {
  const std::size_t quote = line.find('"');
  if (quote == std::string::npos) return line + "\n";
  const std::string text = unescape(line.substr(quote + 1, line.size() - quote - 2));
  return line.substr(0, quote) + '"' + escape(text) + "\"\n";
}

std::vector<Case> read_cases() {
  std::ifstream file(in_tree("katana/wire/chat/machine.cases.md"));
  EXPECT_TRUE(file);
  std::vector<Case> cases;
  std::string line;
  std::string fence;
  while (std::getline(file, line)) {
    if (line.starts_with("```")) {
      fence = fence.empty() ? line.substr(3) : "";
    } else if (fence == "given") {
      read_limit(line, cases.back().limits);
    } else if (fence == "sent") {
      read_sent(line, cases.back());
    } else if (fence == "events") {
      cases.back().events += read_event(line);
    } else if (line.starts_with("### ")) {
      cases.push_back({line.substr(4), {}, {}, {}, {}});
    }
  }
  return cases;
}

// ---- playing them ----------------------------------------------------------------------------

constexpr Bytes event_names[] = {"need_bytes", "message",  "empty",     "join",
                                 "leave",      "who",      "nick",      "quit",
                                 "refused",    "ping_due", "timed_out", "closed"};

class Play {
 public:
  explicit Play(const Case& one) : case_(one) {}

  // What happens if the bytes come in pieces that end at `cuts`, which ascend.
  std::string run(std::vector<std::size_t> cuts) {
    machine_ = Machine(case_.limits, now_ = Instant{} + seconds(1));
    events_.clear();
    pending_.clear();
    over_ = false;
    std::size_t sent = 0;
    cuts.push_back(case_.sent.size());
    std::size_t moment = 0;
    for (const std::size_t cut : cuts) {
      while (moment < case_.moments.size() && case_.moments[moment].at <= cut) {
        arrive(sent, case_.moments[moment].at);
        happen(case_.moments[moment++]);
      }
      arrive(sent, cut);
    }
    return events_ + std::string(state_names[static_cast<std::size_t>(machine_.state())]) + "\n";
  }

  static std::set<std::pair<State, State>>& moves() {
    static std::set<std::pair<State, State>> seen;
    return seen;
  }
  static std::set<Refusal>& refusals() {
    static std::set<Refusal> seen;
    return seen;
  }

 private:
  void arrive(std::size_t& sent, std::size_t until) {
    if (until <= sent) return;
    pending_.append(case_.sent, sent, until - sent);
    sent = until;
    pull();
  }

  void pull() {
    while (!over_) {
      // In a block of its own of the exact size, so that a sanitizer sees a step too far.
      const std::vector<char> input(pending_.begin(), pending_.end());
      const State before = machine_.state();
      const Step step = machine_.next({input.data(), input.size()}, now_);
      note_move(before);
      ASSERT_LE(step.consumed, pending_.size());
      if (step.event != Event::need_bytes) report(step);
      pending_.erase(0, step.consumed);
      if (step.event == Event::need_bytes) return;
      over_ = machine_.state() == State::closed;
    }
  }

  void happen(const Moment& moment) {
    if (moment.peer_ends) {
      const State before = machine_.state();
      machine_.end_of_input();
      note_move(before);
      over_ = true;
      return;
    }
    now_ = now_ + moment.passes;
    if (now_ < machine_.deadline()) return;
    machine_.on_deadline(now_);
    pull();
  }

  void report(const Step& step) {
    const auto name = event_names[static_cast<std::size_t>(step.event)];
    events_ += name;
    if (step.event == Event::refused) {
      refusals().insert(step.refusal);
      events_ += " " + std::string(text_of(step.refusal).name);
    }
    if (step.event == Event::message || step.event == Event::join || step.event == Event::who ||
        step.event == Event::nick) {
      events_ += " \"" + escape(step.text) + '"';
    }
    events_ += "\n";
  }

  void note_move(State before) {
    if (machine_.state() != before) moves().emplace(before, machine_.state());
  }

  const Case& case_;
  Instant now_;
  Machine machine_{case_.limits, now_};
  std::string pending_;
  std::string events_;
  bool over_ = false;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = read_cases();
  return all;
}

std::vector<std::size_t> every_byte(std::size_t size) {
  std::vector<std::size_t> cuts;
  for (std::size_t at = 1; at < size; ++at) cuts.push_back(at);
  return cuts;
}

// Beyond that, cutting at every pair of places takes too long; every place still is cut.
constexpr std::size_t pairs_bytes_max = 200;

TEST(MachineCases, every_case_reads_the_same_whole_byte_by_byte_and_at_every_cut) {
  ASSERT_GE(cases().size(), 40U);
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.title);
    Play play(one);
    const std::string whole = play.run({});
    EXPECT_EQ(whole, one.events);
    EXPECT_EQ(play.run(every_byte(one.sent.size())), whole) << "byte by byte";
    const std::size_t step = one.sent.size() <= pairs_bytes_max ? 1 : 97;
    for (std::size_t first = 1; first < one.sent.size(); first += step) {
      ASSERT_EQ(play.run({first}), whole) << "cut at " << first;
      if (one.sent.size() > pairs_bytes_max) continue;
      for (std::size_t second = first + 1; second < one.sent.size(); ++second) {
        ASSERT_EQ(play.run({first, second}), whole) << "cut at " << first << " and " << second;
      }
    }
  }
}

TEST(MachineCases, take_every_transition_and_give_every_refusal) {
  for (const Case& one : cases()) {
    Play play(one);
    (void)play.run({});
    (void)play.run(every_byte(one.sent.size()));
  }
  for (const Transition& each : transitions) {
    EXPECT_TRUE(Play::moves().contains({each.from, each.to}))
        << state_names[static_cast<std::size_t>(each.from)] << " to "
        << state_names[static_cast<std::size_t>(each.to)];
  }
  EXPECT_EQ(Play::refusals().size(), refusal_texts.size() - 1);
}

// ---- the tables ------------------------------------------------------------------------------

TEST(MachineTables, a_state_and_a_cause_lead_to_one_state) {
  std::set<std::pair<State, Cause>> rows;
  for (const Transition& each : transitions) {
    EXPECT_TRUE(rows.emplace(each.from, each.cause).second);
    EXPECT_NE(each.from, each.to);
    EXPECT_EQ(state_after(each.from, each.cause), each.to);
  }
}

TEST(MachineTables, every_refusal_has_a_name_and_a_sentence) {
  std::set<Bytes> names;
  for (std::size_t index = 1; index < refusal_texts.size(); ++index) {
    EXPECT_TRUE(names.insert(refusal_texts[index].name).second);
    EXPECT_TRUE(refusal_texts[index].sentence.ends_with("."));
  }
}

TEST(MachineTables, the_diagram_in_the_documentation_is_that_of_the_table) {
  expect_drawn("docs/diagrams/chat.md",
               draw_states("States of a chat connection", "katana/wire/chat/states.hpp",
                           transitions, state_names, cause_names));
}

// ---- what a transcript cannot say ------------------------------------------------------------

TEST(Machine, is_a_few_words) { EXPECT_LE(sizeof(Machine), 48U); }

TEST(Machine, a_message_lies_in_the_input) {
  const Limits limits;
  Machine machine(limits, Instant{});
  const std::string input = "one\ntwo\n";
  const Step first = machine.next(input, Instant{});
  EXPECT_EQ(first.text.data(), input.data());
  EXPECT_EQ(first.consumed, 4U);
  EXPECT_EQ(machine.next(Bytes(input).substr(4), Instant{}).text.data(), input.data() + 4);
}

TEST(Machine, a_line_that_is_too_long_is_consumed_as_it_comes) {
  const Limits limits{.line_bytes_max = 10, .idle_timeout = {}, .ping_after = {}};
  Machine machine(limits, Instant{});
  EXPECT_EQ(machine.next(std::string(12, 'x'), Instant{}).consumed, 12U);
  EXPECT_EQ(machine.next(std::string(1000, 'x'), Instant{}).consumed, 1000U);
  EXPECT_EQ(machine.state(), State::skipping);
}

TEST(Machine, time_that_a_peer_could_not_use_is_given_back) {
  const Limits limits{.line_bytes_max = 10, .idle_timeout = seconds(10), .ping_after = {}};
  Machine machine(limits, Instant{});
  machine.restart_deadline(Instant{} + seconds(9));
  machine.on_deadline(Instant{} + seconds(10));
  EXPECT_EQ(machine.next({}, Instant{} + seconds(10)).event, Event::need_bytes);
  EXPECT_EQ(machine.deadline(), Instant{} + seconds(19));
}

// ---- text ------------------------------------------------------------------------------------

TEST(LineText, every_octet_is_judged_alike_in_every_place) {
  for (unsigned octet = 0; octet < 256; ++octet) {
    const auto each = static_cast<char>(octet);
    const Refusal alone = check_text({&each, 1});
    EXPECT_EQ(alone, octet >= 0x80                  ? Refusal::not_utf8
                     : octet < 0x20 || octet == 127 ? Refusal::control_character
                                                    : Refusal::none);
    for (std::size_t place = 0; place < 19; ++place) {
      std::string text(19, ' ');
      text[place] = each;
      EXPECT_EQ(check_text(text), alone) << octet << " at " << place;
    }
  }
}

}  // namespace
}  // namespace katana::chat
