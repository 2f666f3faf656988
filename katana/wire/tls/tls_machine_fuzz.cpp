// Invariant: for any bytes of a client, the machine neither breaks nor stands still. Each step
// consumes no more than it was given, plaintext comes only after the handshake, and a failure
// stays. Bytes that arrive unchanged are read as they were sent, however they are cut.
//
// The first byte of the input chooses the sender. It is the rest of the input as it is, or a client
// of OpenSSL whose bytes are cut and changed as the rest says.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/wire/tls/machine_fixture_test.hpp"

namespace {

using namespace katana;
using namespace katana::tls;

struct Orders {
  const std::uint8_t* at;
  const std::uint8_t* end;
  std::uint8_t next() { return at == end ? 0 : *at++; }
  bool over() const { return at == end; }
};

void check(Machine& machine, const Step& step, Bytes given, std::size_t capacity) {
  KATANA_CHECK(step.consumed <= given.size());
  KATANA_CHECK(step.produced <= capacity);
  KATANA_CHECK(step.produced == 0 || (machine.opened() && step.event == Event::bytes));
  KATANA_CHECK(step.event != Event::need_bytes || step.consumed == given.size());
  KATANA_CHECK((step.event == Event::failed) == machine.has_failed() || step.event == Event::bytes);
}

void give(Machine& machine, Outbox& output, Bytes bytes, std::string& received) {
  std::array<char, 777> plain;
  for (int steps = 0; steps < 100'000; ++steps) {
    const Step step = machine.next(bytes, plain, output, Instant{1});
    check(machine, step, bytes, plain.size());
    bytes.remove_prefix(step.consumed);
    received.append(plain.data(), step.produced);
    if (step.event == Event::hello) machine.admit();
    const bool over = step.event == Event::failed || step.event == Event::ended;
    if (over || step.event == Event::need_bytes) return;
  }
  KATANA_CHECK(false);  // it stands still
}

void talk_raw(Orders orders) {
  BlockPool pool(4096, 256);
  Outbox output(pool);
  Machine machine(test_context());
  std::string received;
  while (!orders.over()) {
    const std::size_t size = 1 + orders.next();
    const std::size_t left = static_cast<std::size_t>(orders.end - orders.at);
    const Bytes piece(reinterpret_cast<const char*>(orders.at), std::min(size, left));
    orders.at += piece.size();
    give(machine, output, piece, received);
    output.clear();
  }
  KATANA_CHECK(received.empty());  // no attacker guesses a key
}

void talk_changed(Orders orders) {
  const bool is_1_2 = (orders.next() & 1) != 0;
  Bench bench({.version = is_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION});
  std::string sent;
  bool changed = false;
  for (int round = 0; round < 6; ++round) {
    if (bench.client.opened() && sent.empty()) {
      sent.assign(1 + std::size_t{orders.next()} * 80, 'q');
      bench.client.send(sent);
      bench.client.end();
    }
    std::string up = bench.client.take_output();
    if (!up.empty() && (orders.next() & 3) == 3) {
      const std::size_t at = (orders.next() * 256u + orders.next()) % up.size();
      const auto mask = static_cast<char>(orders.next());
      up[at] = static_cast<char>(up[at] ^ mask);
      changed = changed || mask != 0;
    }
    for (Bytes left = up; !left.empty();) {
      const Bytes piece = left.substr(0, 1 + std::size_t{orders.next()} * 4);
      left.remove_prefix(piece.size());
      give(bench.machine, bench.output, piece, bench.received);
    }
    bench.client.receive(take_all(bench.output));
  }
  KATANA_CHECK(changed || bench.received == sent);
  KATANA_CHECK(sent.starts_with(bench.received));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Orders orders{data, data + size};
  if ((orders.next() & 1) == 0) {
    talk_raw(orders);
  } else {
    talk_changed(orders);
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
