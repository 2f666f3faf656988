// Invariant: with any bytes and any cuts, a machine reports the same as a plain reading of the
// whole text. Each line comes once, in order; a line that has not ended does not come.
//
// The input begins with a byte that chooses the limit of a line, and four that choose places to
// cut. The bytes that a client sends before it ends its side follow.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "apps/chat/wire/machine.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/pieces_fuzz.hpp"
#include "katana/base/text/utf8.hpp"

namespace {

using katana::Bytes;
using katana::Instant;
using katana::chat::Event;
using katana::chat::Limits;
using katana::chat::Machine;
using katana::chat::Refusal;
using katana::chat::State;
using katana::chat::Step;

struct Seen {
  Event event;
  Refusal refusal;
  std::string text;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> play(const Limits& limits, Bytes input, std::vector<std::size_t> cuts) {
  Machine machine(limits, Instant{});
  std::vector<Seen> seen;
  katana::give_in_pieces(input, std::move(cuts), [&](std::string& pending) {
    for (;;) {
      const std::vector<char> apart(pending.begin(), pending.end());
      const Step step = machine.next({apart.data(), apart.size()}, Instant{});
      KATANA_CHECK(step.consumed <= pending.size());
      KATANA_CHECK(step.text.size() <= step.consumed);
      if (step.event != Event::need_bytes && step.event != Event::closed) {
        seen.push_back({step.event, step.refusal, std::string(step.text)});
      }
      pending.erase(0, step.consumed);
      // The bytes that wait for the rest of their line are never more than the longest line.
      if (step.event == Event::need_bytes)
        KATANA_CHECK(pending.size() <= limits.line_bytes_max + 1);
      if (step.event == Event::need_bytes || step.event == Event::closed) return;
    }
  });
  machine.end_of_input();
  KATANA_CHECK(machine.state() == State::closed);
  return seen;
}

// ---- the plain reading -----------------------------------------------------------------------

Refusal judge(Bytes text) {
  while (!text.empty()) {
    const std::size_t length = katana::utf8_length(text);
    if (length == 0) return Refusal::not_utf8;
    const auto first = static_cast<std::uint8_t>(text[0]);
    const bool high = length == 2 && first == 0xc2 && static_cast<std::uint8_t>(text[1]) < 0xa0;
    if (first < 0x20 || first == 0x7f || high) return Refusal::control_character;
    text.remove_prefix(length);
  }
  return Refusal::none;
}

// Commands are left to the machine: only that they are no messages is asked for.
std::vector<Seen> read_plainly(const Limits& limits, Bytes input) {
  std::vector<Seen> seen;
  std::size_t from = 0;
  for (;;) {
    const std::size_t end = input.find('\n', from);
    Bytes line = input.substr(from, end - from);
    const bool whole = end != Bytes::npos;
    if (whole && line.ends_with('\r')) line.remove_suffix(1);
    const bool may_end = !whole && line.size() == limits.line_bytes_max + 1 && line.back() == '\r';
    if (line.size() > limits.line_bytes_max && !may_end) {
      seen.push_back({Event::refused, Refusal::line_too_long, ""});
    } else if (whole) {
      const Refusal refusal = judge(line);
      if (refusal != Refusal::none) {
        seen.push_back({Event::refused, refusal, ""});
      } else if (line.starts_with('/') && !line.starts_with("//")) {
        seen.push_back({Event::who, Refusal::none, std::string(line)});
      } else if (line.starts_with("//")) {
        seen.push_back({Event::message, Refusal::none, std::string(line.substr(1))});
      } else {
        seen.push_back(
            {line.empty() ? Event::empty : Event::message, Refusal::none, std::string(line)});
      }
    }
    if (!whole) return seen;
    from = end + 1;
  }
}

void compare(const std::vector<Seen>& machine, const std::vector<Seen>& plain) {
  for (std::size_t index = 0; index < machine.size(); ++index) {
    KATANA_CHECK(index < plain.size());
    const Seen& one = machine[index];
    if (plain[index].event == Event::who) {
      KATANA_CHECK(one.event != Event::message && one.event != Event::empty);
      KATANA_CHECK(one.event == Event::refused ||
                   plain[index].text.find(one.text) != std::string::npos);
    } else {
      KATANA_CHECK(one == plain[index]);
    }
    if (one.event == Event::quit) {
      KATANA_CHECK(index + 1 == machine.size());
      return;  // later bytes are not looked at
    }
  }
  KATANA_CHECK(machine.size() == plain.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t head = 5;
  if (size < head) return 0;
  Limits limits;
  if (data[0] != 0) limits.line_bytes_max = data[0];
  const Bytes input(reinterpret_cast<const char*>(data) + head, size - head);
  const std::vector<Seen> whole = play(limits, input, {});
  compare(whole, read_plainly(limits, input));
  const auto cuts = katana::cuts_from({data + 1, head - 1}, input.size());
  KATANA_CHECK(play(limits, input, cuts) == whole);
  KATANA_CHECK(play(limits, input, katana::every_cut_of_short(input.size())) == whole);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
