// What do limits by client cost? Measured are a connection that is counted by its client's address,
// and an address that is looked up in a set of networks. Heap allocations are counted, too.
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "katana/base/values/network.hpp"
#include "katana/net/reactor/client_limits.hpp"
#include "lab/micro/micro.hpp"

namespace {

using namespace katana;
using micro::Sample;

std::atomic<std::uint64_t> heap_calls = 0;

constexpr Instant first{seconds(1000).ns};

std::vector<engine::PeerEndpoint> peers(std::size_t count, bool v6) {
  std::vector<engine::PeerEndpoint> made;
  for (std::size_t index = 0; index < count; ++index) {
    const auto number = static_cast<std::uint32_t>(index * 2654435761u);
    const IpAddress address = v6 ? IpAddress::of_words(0x2001'0db8'0000'0000 | number >> 8, number)
                                 : IpAddress::v4(number);
    made.push_back(engine::PeerEndpoint::of(address, 5000));
  }
  return made;
}

void ask_connections(micro::Suite& suite, const std::string& name,
                     const net::ClientLimitOptions& options, std::size_t clients, bool v6) {
  const std::string question = "a connection, " + name;
  if (!suite.wants(question)) return;
  net::ClientLimits limits(options, 7);
  const auto from = peers(clients, v6);
  const std::uint64_t operations = suite.operations(4'000'000);
  Instant now = first;
  const auto* answers = suite.ask(
      {question, "ns"}, {{"katana", [&] {
                            const std::uint64_t heap_before = heap_calls;
                            std::uint64_t admitted = 0;
                            const Sample sample = micro::time_operations(operations, [&] {
                              for (std::uint64_t count = 0; count < operations; ++count) {
                                now = now + microseconds(10);
                                const auto admission =
                                    limits.admit(from[count % from.size()], false, now);
                                if (admission.slot == 0) continue;
                                ++admitted;
                                limits.leave(admission.slot);
                              }
                            });
                            micro::expect(admitted == operations, "connections admitted");
                            micro::expect(heap_calls == heap_before, "no call of the heap");
                            return sample;
                          }}});
  suite.target(question + ": at most 60 ns", answers, "katana", 60, micro::at_most);
}

void ask_networks(micro::Suite& suite, std::size_t count) {
  const std::string question = "an address in " + std::to_string(count) + " networks";
  if (!suite.wants(question)) return;
  std::vector<Network> networks;
  for (std::size_t index = 0; index < count; ++index) {
    networks.emplace_back(IpAddress::v4(static_cast<std::uint32_t>(index * 2654435761u)), 20);
  }
  const NetworkSet set(networks);
  std::vector<IpAddress> addresses;
  for (const auto& peer : peers(4096, false)) addresses.push_back(*peer.ip());
  const std::uint64_t operations = suite.operations(20'000'000);
  const auto* answers =
      suite.ask({question, "ns"}, {{"katana", [&] {
                                      std::uint64_t found = 0;
                                      const Sample sample = micro::time_operations(operations, [&] {
                                        for (std::uint64_t n = 0; n < operations; ++n) {
                                          found += set.contains(addresses[n % 4096]) ? 1 : 0;
                                        }
                                      });
                                      micro::expect(found < operations, "some are outside");
                                      micro::use(found);
                                      return sample;
                                    }}});
  if (count <= 16) {
    suite.target(question + ": at most 30 ns", answers, "katana", 30, micro::at_most);
  }
}

}  // namespace

void* operator new(std::size_t bytes) {
  heap_calls.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main(int count, char** arguments) {
  micro::Suite suite("client_limits", count, arguments);
  net::ClientLimitOptions few;
  few.connections_max = 100;
  net::ClientLimitOptions all = few;
  all.connections_per_s = 100'000;
  all.handshakes_max = 10;
  all.requests_max = 100;
  all.received_bytes_per_s = 1 << 20;
  all.deny = {*Network::parse("203.0.113.0/24"), *Network::parse("2001:db8:ffff::/48")};
  ask_connections(suite, "one client, their count limited", few, 1, false);
  ask_connections(suite, "one client, every limit", all, 1, false);
  ask_connections(suite, "4096 clients, every limit", all, 4096, false);
  ask_connections(suite, "4096 clients of IPv6, every limit", all, 4096, true);
  for (const std::size_t networks : {1u, 16u, 1024u}) ask_networks(suite, networks);
  return suite.finish();
}

// SPDX-License-Identifier: Apache-2.0
