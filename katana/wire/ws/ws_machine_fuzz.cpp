// Invariant: however the bytes are cut, a machine reports the same messages and the same end. Text
// is UTF-8, and no message is larger than its limit. No more than a control frame waits for more
// bytes.
//
// The input is two bytes of options, four that choose places to cut, and the bytes of the other
// side.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/memory/block_pool.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/pieces_fuzz.hpp"
#include "katana/base/text/utf8.hpp"
#include "katana/wire/ws/machine.hpp"

namespace {

using katana::Bytes;
using katana::Instant;
using namespace katana::ws;

struct Seen {
  Event event;
  bool text;
  Refusal refusal;
  std::string payload;
  bool operator==(const Seen&) const = default;
};

struct World {
  World(const Limits& limits, Role role)
      : memory(DeflatePool::bytes_needed(options())),
        pool(options(), memory),
        context(std::make_unique<Context>(limits, role, &pool)) {}
  static DeflateOptions options() { return {.enabled = true, .window_bits = 9}; }
  std::vector<char> memory;
  DeflatePool pool;
  std::unique_ptr<Context> context;
  katana::BlockPool blocks{4096, 16};
};

// A message, of which `step` is a piece; noted when it is whole.
void take_data(const World& world, const Machine& machine, const Step& step, std::string& message,
               std::vector<Seen>& seen) {
  if (step.first) message.clear();
  message += machine.payload();
  KATANA_CHECK(message.size() <= world.context->limits.message_bytes_max);
  if (!step.last) return;
  if (step.text) KATANA_CHECK(katana::is_utf8(message));
  seen.push_back({step.event, step.text, Refusal::none, message});
}

// Unpacks a whole compressed message. Returns its last step, or a refusal.
Step unpack(const World& world, Machine& machine, Bytes packed, std::vector<Seen>& seen) {
  std::string message;
  for (;;) {
    const Step step = machine.unpack(packed);
    if (step.event != Event::data) return step;
    take_data(world, machine, step, message, seen);
    if (step.last) return step;
  }
}

std::vector<Seen> play(World& world, int window_bits, Bytes input, std::vector<std::size_t> cuts) {
  Machine machine(*world.context, Instant{}, window_bits);
  katana::Outbox outbox(world.blocks);
  std::vector<Seen> seen;
  std::string message;
  katana::give_in_pieces(input, std::move(cuts), [&](std::string& pending) {
    for (;;) {
      const std::vector<char> apart(pending.begin(), pending.end());
      Step step = machine.next({apart.data(), apart.size()}, Instant{});
      KATANA_CHECK(step.consumed <= pending.size());
      pending.erase(0, step.consumed);
      if (step.event == Event::need_bytes) {
        if (machine.may_send()) KATANA_CHECK(pending.size() < 14 + control_bytes_max);
        return;
      }
      if (step.event == Event::closed) return;
      if (step.event == Event::packed) {
        if (step.first) message.clear();
        message += machine.payload();
        KATANA_CHECK(message.size() <= Deflater::bound(world.context->limits.message_bytes_max));
        if (!step.last) continue;
        step = unpack(world, machine, message, seen);
        if (step.event == Event::data) continue;
      }
      if (step.event == Event::data) {
        take_data(world, machine, step, message, seen);
        continue;
      }
      const bool refused = step.event == Event::refused;
      seen.push_back({step.event, false, machine.refusal(),
                      refused ? std::string() : std::string(machine.payload())});
      if (step.event == Event::ping) KATANA_CHECK(machine.pong(machine.payload(), outbox));
      if (refused || step.event == Event::close) {
        const CloseCode code = refused ? text_of(machine.refusal()).code : machine.close_code();
        KATANA_CHECK(machine.close(code, "", Instant{}, outbox));
        KATANA_CHECK(machine.state() == State::closed);
      }
      outbox.clear();
    }
  });
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t head = 6;
  if (size < head) return 0;
  Limits limits;
  limits.message_bytes_max = 1 + data[0] * 16u;
  limits.frame_bytes_max = 2048;
  limits.fragments_max = 8;
  const Role role = (data[1] & 1) != 0 ? Role::client : Role::server;
  const int window_bits = (data[1] & 2) != 0 ? 9 : 0;
  World world(limits, role);
  const Bytes input(reinterpret_cast<const char*>(data) + head, size - head);
  const std::vector<Seen> whole = play(world, window_bits, input, {});
  const auto cuts = katana::cuts_from({data + 2, head - 2}, input.size());
  KATANA_CHECK(play(world, window_bits, input, cuts) == whole);
  const auto each = katana::every_cut_of_short(input.size());
  KATANA_CHECK(play(world, window_bits, input, each) == whole);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
