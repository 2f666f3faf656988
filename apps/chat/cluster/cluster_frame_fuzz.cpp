// Invariant: a frame with any bytes from the bus is read or refused, and no byte beyond it is read.
// A node that is given the frame stays within its bounds and answers the next one.
//
// The input is a list of frames: two bytes of length before each. A byte in front says whether
// a stamp follows in place of a frame.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/chat/cluster/node.hpp"
#include "katana/base/system/check.hpp"

namespace {

using namespace katana;
using namespace katana::chat::cluster;

class Host final : public NodeHost {
 public:
  void broadcast(Bytes frame) override { check(frame); }
  void send(NodeId, Bytes frame) override { check(frame); }
  void watch(Bytes) override {}
  void unwatch(Bytes) override {}
  void set_outward(Bytes) override {}
  void on_missed(Bytes, std::uint64_t messages) override { KATANA_CHECK(messages > 0); }
  void on_claim_decided(std::uint64_t, Bytes, bool) override { ++decided; }
  void on_name_lost(Bytes) override {}
  void on_slot(std::uint16_t, std::uint16_t now) override { KATANA_CHECK(now < slots); }
  void on_came(Bytes, double) override {}
  void on_went(Bytes, bool) override {}
  void on_slot_twice(Bytes, std::uint16_t) override {}
  void on_members_gone(Bytes, std::uint32_t) override {}
  int decided = 0;

 private:
  // Every output of a node is a valid frame.
  static void check(Bytes frame) { KATANA_CHECK(read_head(frame).has_value()); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Host host;
  Roster roster;
  ClusterOptions options;
  options.id = 1;
  options.name = "fuzzed:1";
  options.nodes_max = 4;
  options.rooms_max = 8;
  options.departed_max = 2;
  Node node(options, host, roster);
  Instant now{1'000'000'000};
  node.start(now);
  node.on_local_room({"lobby", 1, {{1000, "USER1000"}}}, now);
  node.claim_name(1, "alice", now);
  Bytes input(reinterpret_cast<const char*>(data), size);
  while (input.size() >= 3) {
    const bool is_stamp = (input[0] & 1) != 0;
    const auto length = static_cast<std::size_t>(static_cast<std::uint8_t>(input[1]) |
                                                 static_cast<std::uint8_t>(input[2]) << 8);
    input.remove_prefix(3);
    const std::vector<char> apart(
        input.begin(), input.begin() + static_cast<std::ptrdiff_t>(std::min(length, input.size())));
    input.remove_prefix(apart.size());
    const Bytes frame(apart.data(), apart.size());
    if (is_stamp) {
      if (const auto stamp = read_stamp(frame)) (void)node.arrived("lobby", *stamp, now);
    } else if (const auto head = read_head(frame)) {
      node.on_frame(*head, now);
      (void)read_history(head->body);
      (void)read_history_wanted(head->body);
    }
    now = now + milliseconds(static_cast<std::int64_t>(apart.size()) * 10);
    if (node.deadline() <= now) node.on_deadline(now);
    KATANA_CHECK(node.nodes() < options.nodes_max);
  }
  now = now + seconds(10);
  node.on_deadline(now);
  // Every claim is decided, whether the servers answer or not.
  KATANA_CHECK(host.decided == 1);
  node.stop(now);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
