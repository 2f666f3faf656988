// What does a delivery by the bus of a process cost, beside one by the hub of the chat server? A
// message that many are given within a turn, each of whom refers to it in its outbox.
#include <memory>
#include <string>
#include <vector>

#include "apps/chat/hub.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/stores/bus/memory_bus.hpp"
#include "lab/micro/micro.hpp"
#include "tests/simulation/direct_engine.hpp"

namespace {

using namespace katana;

constexpr std::size_t pool_blocks = 4096;
const std::string text(60, 'x');

// A reactor whose turns cost next to nothing.
struct Loop {
  Loop() : reactor(options(), 64, wire) {
    wire.opens = false;
    micro::expect(reactor.start().has_value(), "a reactor");
    turn();
  }
  static net::ReactorOptions options() {
    net::ReactorOptions small;
    small.engine.links_max = 16;
    return small;
  }
  void turn() { reactor.turn({}); }
  simulation::Wire wire;
  net::ReactorOn<simulation::DirectEngine> reactor;
  BlockPool blocks{4096, pool_blocks};
};

struct ReactorTurn final : chat::Turn {
  explicit ReactorTurn(net::Reactor& given) : reactor(given) {}
  void defer(Message& message) noexcept override { reactor.defer(message); }
  void post(Message& message) noexcept override { reactor.post(message); }
  HeldMemory* memory() noexcept override { return &reactor.memory(); }
  net::Reactor& reactor;
};

class HubMember final : public chat::Member {
 public:
  HubMember(BlockPool& blocks, std::uint64_t number)
      : HubMember(std::make_unique<Outbox>(blocks), number) {}
  Outbox& outbox() { return *box_; }
  std::uint64_t outputs = 0;

 private:
  HubMember(std::unique_ptr<Outbox> box, std::uint64_t number)
      : Member(number, *box), box_(std::move(box)) {}
  void on_output() noexcept override { ++outputs; }
  void on_backlog() noexcept override {}
  void on_too_slow(std::uint64_t) noexcept override {}
  void on_may_publish() noexcept override {}
  std::unique_ptr<Outbox> box_;
};

micro::Subject hub_of(std::size_t members, std::uint64_t messages) {
  return {"the chat's hub", [=] {
            Loop loop;
            ReactorTurn turn(loop.reactor);
            chat::Directory directory(4096, 4, 1);
            chat::Hub hub({}, directory, 0, turn);
            std::vector<std::unique_ptr<HubMember>> all;
            for (std::size_t count = 0; count <= members; ++count) {
              all.push_back(std::make_unique<HubMember>(loop.blocks, directory.admit()));
              micro::expect(hub.join(*all.back(), chat::lobby_name), "a member");
            }
            const auto sample = micro::time_operations(messages * members, [&] {
              for (std::uint64_t count = 0; count < messages; ++count) {
                hub.publish(*all.front(), text);
                loop.turn();
                for (const auto& each : all) each->outbox().clear();
              }
            });
            micro::expect(all.back()->outputs == messages, "a delivery for each message");
            for (const auto& each : all) hub.remove(*each, chat::Loss::left);
            hub.stop();
            return sample;
          }};
}

struct BusMember {
  explicit BusMember(BlockPool& blocks) : outbox(blocks) {}
  Outbox outbox;
  std::uint64_t outputs = 0;
  bus::Subscription subscription;
};

micro::Subject bus_of(std::size_t members, std::uint64_t messages) {
  return {"the bus", [=] {
            Loop loop;
            bus::MemoryBus bus;
            std::vector<std::unique_ptr<BusMember>> all;
            for (std::size_t count = 0; count < members; ++count) {
              BusMember& member = *all.emplace_back(std::make_unique<BusMember>(loop.blocks));
              member.subscription =
                  *bus.subscribe("rooms.lobby", [&member](const bus::Delivery& message) {
                    message.memory().charge_to(net::Reactor::current()->memory());
                    if (member.outbox.refer(message.payload(), message.memory())) ++member.outputs;
                  });
            }
            const auto sample = micro::time_operations(messages * members, [&] {
              for (std::uint64_t count = 0; count < messages; ++count) {
                micro::expect(bus.publish("rooms.lobby", text).has_value(), "a publication");
                loop.turn();
                for (const auto& each : all) each->outbox.clear();
              }
            });
            micro::expect(all.back()->outputs == messages, "a delivery for each message");
            return sample;
          }};
}

}  // namespace

int main(int count, char** arguments) {
  micro::Suite suite("bus", count, arguments);
  for (const std::size_t members : {std::size_t{1}, std::size_t{10}, std::size_t{200}}) {
    const std::uint64_t messages = suite.operations(2'000'000 / (members + 10));
    const std::string question = fmt::format("a delivery to one of {}, 60 octets", members);
    const auto* answers =
        suite.ask({question, "ns"}, {hub_of(members, messages), bus_of(members, messages)});
    // With one subscriber it is the cost of a publication, which the hub shares among the lines of
    // a turn: a figure, not a target.
    if (members == 1) continue;
    suite.target(fmt::format("at most 1.05 x the hub, {} subscribers", members), answers, "the bus",
                 "the chat's hub", 1.05, micro::at_most);
  }
  return suite.finish();
}

// SPDX-License-Identifier: Apache-2.0
