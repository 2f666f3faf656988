// WorldServer: a server that the programs of a World share, as the world controls it. TestHost: its
// place on the network.
//
// Borrows    the loop, which must outlive the server.
// Thread     the loop's.
// Fails      never.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace katana::testing {

class TestLoop;

// The place of a server in a world. World::add_server() makes it.
struct TestHost {
  // The world's: its network and its time.
  TestLoop& loop;
  std::uint32_t address = 0;  // number in SimTopology
  std::string name = {};      // by which programs reach it
  std::uint64_t seed = 1;     // of what the server draws
};

// A server that the programs of a world share, as the world controls it.
class WorldServer {
 public:
  virtual ~WorldServer() = default;
  WorldServer(const WorldServer&) = delete;
  WorldServer& operator=(const WorldServer&) = delete;

  // "redis", "nats", "postgresql": the scheme of its URLs.
  virtual std::string_view kind() const noexcept = 0;
  virtual std::uint16_t port() const noexcept = 0;
  // The process ends: connections are reset, and refused until come_back(). A subclass says what is
  // lost.
  virtual void go_down() = 0;
  virtual void come_back() = 0;
  // Another machine takes over, with what it has. Returns what is lost, for a timeline: "3 writes".
  virtual std::string fail_over() = 0;

 protected:
  WorldServer() = default;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
