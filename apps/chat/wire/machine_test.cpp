// The transcripts of machine.cases.md, the table of states, and what a transcript cannot say.
#include "apps/chat/wire/machine.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "apps/chat/wire/line_text.hpp"
#include "katana/base/system/source_tree_test.hpp"
#include "katana/base/system/transcript_test.hpp"

namespace katana::chat {
namespace {

// ---- reading the cases -----------------------------------------------------------------------

struct Case {
  std::string title;
  Limits limits;
  std::string sent;
  std::vector<Moment> moments;
  std::string events;
};

void read_limit(const std::string& line, Limits& limits) {
  const std::size_t space = line.find(' ');
  const std::string name = line.substr(0, space);
  const std::uint64_t number = number_at(Bytes(line).substr(space + 1));
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
    one.sent += unescape(Bytes(line).substr(from, open - from));
    if (open == std::string::npos) return;
    const bool ends = line[open + 1] == 't';
    const auto time =
        ends ? Duration{}
             : seconds(static_cast<std::int64_t>(number_at(Bytes(line).substr(open + 1))));
    one.moments.push_back({one.sent.size(), time, ends});
    from = line.find(')', open) + 1;
  }
}

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  const auto begin = [&](std::string title) {
    cases.push_back({std::move(title), {}, {}, {}, {}});
  };
  read_fences("apps/chat/wire/machine.cases.md", begin, [&](Bytes fence, const std::string& line) {
    if (fence == "given") read_limit(line, cases.back().limits);
    if (fence == "sent") read_sent(line, cases.back());
    if (fence == "events") cases.back().events += read_event(line);
  });
  return cases;
}

// ---- playing them ----------------------------------------------------------------------------

constexpr Bytes event_names[] = {"need_bytes", "message",  "empty",     "join",
                                 "leave",      "who",      "nick",      "quit",
                                 "refused",    "ping_due", "timed_out", "closed"};

class Play {
 public:
  explicit Play(const Case& one) : case_(one) {}

  // The events when the bytes come in pieces that end at `cuts`, which ascend.
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

  static Seen<State, Refusal>& seen() {
    static Seen<State, Refusal> of_all;
    return of_all;
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
      // In its own block of the exact size, so that a sanitizer sees a step too far.
      const std::vector<char> input(pending_.begin(), pending_.end());
      const State before = machine_.state();
      const Step step = machine_.next({input.data(), input.size()}, now_);
      seen().note_move(before, machine_.state());
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
      seen().note_move(before, machine_.state());
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
      seen().refusals.insert(step.refusal);
      events_ += " " + std::string(text_of(step.refusal).name);
    }
    if (step.event == Event::message || step.event == Event::join || step.event == Event::who ||
        step.event == Event::nick) {
      events_ += " \"" + escape(step.text) + '"';
    }
    events_ += "\n";
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

// Beyond that, cutting at every pair of places takes too long; every place still is cut.
constexpr std::size_t pairs_bytes_max = 200;

TEST(MachineCases, every_case_reads_the_same_whole_byte_by_byte_and_at_every_cut) {
  ASSERT_GE(cases().size(), 40U);
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.title);
    Play play(one);
    const std::string whole = play.run({});
    EXPECT_EQ(whole, one.events);
    EXPECT_EQ(play.run(every_cut(one.sent.size())), whole) << "byte by byte";
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
    (void)play.run(every_cut(one.sent.size()));
  }
  for (const Transition& each : transitions) {
    EXPECT_TRUE(Play::seen().moves.contains({each.from, each.to}))
        << state_names[static_cast<std::size_t>(each.from)] << " to "
        << state_names[static_cast<std::size_t>(each.to)];
  }
  EXPECT_EQ(Play::seen().refusals.size(), refusal_texts.size() - 1);
}

// ---- the tables ------------------------------------------------------------------------------

TEST(MachineTables, a_state_and_a_cause_lead_to_one_state) {
  expect_one_state_after(transitions, state_after);
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
               draw_states("States of a chat connection", "apps/chat/wire/states.hpp", transitions,
                           state_names, cause_names));
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

// SPDX-License-Identifier: Apache-2.0
