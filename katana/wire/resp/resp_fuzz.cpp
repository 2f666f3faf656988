// Invariant: however the bytes are cut, a machine reports the same values and contents. It never
// consumes more than there is, and keeps its limits. It leaves less than the longest line with its
// caller. The ends of aggregates that it reports agree with their counts.
//
// The input is a byte that chooses limits, four that choose places to cut, and the bytes of a
// server.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/base/system/pieces_fuzz.hpp"
#include "katana/wire/resp/machine.hpp"

namespace {

using katana::Bytes;
using katana::resp::Event;
using katana::resp::Kind;
using katana::resp::Limits;
using katana::resp::Machine;
using katana::resp::Refusal;
using katana::resp::Step;

struct Seen {
  Kind kind = Kind::null;
  std::string text;
  std::int64_t integer = 0;
  std::uint64_t count = 0;
  std::uint8_t ended = 0;
  bool reply_ended = false;
  bool operator==(const Seen&) const = default;
};

struct Run {
  std::vector<Seen> seen;
  Refusal refusal = Refusal::none;
  bool operator==(const Run&) const = default;
};

bool is_text(Kind kind) { return kind >= Kind::bulk_string && kind <= Kind::verbatim; }

// The aggregates that are open by their counts, as who builds replies has them.
class Nesting {
 public:
  void follow(const Step& step) {
    if (step.event == Event::value && step.kind >= Kind::array) {
      open_.push_back({step.count, step.kind == Kind::attribute});
      if (step.count > 0) return;
      open_.back().first = 1;
    }
    if (!step.complete) return;
    std::uint8_t ended = 0;
    bool value_follows = false;
    while (!open_.empty() && !value_follows) {
      KATANA_CHECK(open_.back().first > 0);
      if (--open_.back().first > 0) break;
      value_follows = open_.back().second;
      open_.pop_back();
      ++ended;
    }
    KATANA_CHECK(ended == step.ended);
    KATANA_CHECK(step.reply_ended == (open_.empty() && !value_follows));
  }
  std::size_t depth() const { return open_.size(); }

 private:
  std::vector<std::pair<std::uint64_t, bool>> open_;
};

Run play(const Limits& limits, Bytes input, std::vector<std::size_t> cuts) {
  Machine machine(limits);
  Nesting nesting;
  Run run;
  bool within_text = false;
  katana::give_in_pieces(input, std::move(cuts), [&](std::string& pending) {
    for (;;) {
      const std::vector<char> apart(pending.begin(), pending.end());
      const Step step = machine.next({apart.data(), apart.size()});
      KATANA_CHECK(step.consumed <= pending.size());
      KATANA_CHECK(step.text.size() <= step.consumed);
      if (step.event == Event::refused) {
        run.refusal = machine.refusal();
        if (within_text) run.seen.pop_back();  // how much of it came depends on the cuts
        within_text = false;
        KATANA_CHECK(run.refusal != Refusal::none && step.consumed == 0);
        return;
      }
      if (step.event == Event::need_bytes) {
        KATANA_CHECK(step.consumed == 0 && pending.size() <= limits.line_bytes_max + 2);
        return;
      }
      if (step.event == Event::value) run.seen.push_back({step.kind, {}, step.integer, step.count});
      KATANA_CHECK(!run.seen.empty());
      run.seen.back().text += step.text;
      within_text = !step.complete;
      if (step.complete) {
        run.seen.back().ended = step.ended;
        run.seen.back().reply_ended = step.reply_ended;
        if (is_text(step.kind)) KATANA_CHECK(run.seen.back().text.size() == run.seen.back().count);
      }
      nesting.follow(step);
      KATANA_CHECK(nesting.depth() <= limits.depth_max);
      pending.erase(0, step.consumed);
    }
  });
  return run;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 5) return 0;
  Limits limits;
  limits.line_bytes_max = data[0] % 64;
  limits.depth_max = 1 + data[0] % 5;
  limits.elements_max = 1 + data[0] % 32;
  limits.reply_bytes_max = 1 + data[0] * 4u;
  const Bytes input(reinterpret_cast<const char*>(data) + 5, size - 5);
  const Run whole = play(limits, input, {});
  KATANA_CHECK(play(limits, input, katana::cuts_from({data + 1, 4}, input.size())) == whole);
  KATANA_CHECK(play(limits, input, katana::every_cut_of_short(input.size())) == whole);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
