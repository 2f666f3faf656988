// SharedServer: a server of the simulator that several programs of a World share: a host with a
// name, its port, and sessions that get bytes. FakeRedis and FakeNats are such servers.
//
// Owns       the sessions, and the server's end of their connections.
// Borrows    the loop and its network, which must outlive it.
// Thread     the loop's; sessions are called within events of the network.
// Allocates  for each connection.
// Fails      never: a connection that breaks ends its session.
// Invariant  a server that is down refuses connections and has no session.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/net/engine/sim/sim_connection.hpp"
#include "katana/net/engine/sim/sim_network.hpp"
#include "katana/testing/test_loop.hpp"
#include "katana/testing/world_server.hpp"

namespace katana::testing {

class SharedServer;

// One connection of a client.
class SharedSession : public std::enable_shared_from_this<SharedSession>, private engine::SimEnd {
 public:
  virtual ~SharedSession() = default;
  SharedSession(const SharedSession&) = delete;
  SharedSession& operator=(const SharedSession&) = delete;

  // The connection is gone: nothing is read or sent.
  bool is_over() const noexcept { return is_over_; }
  // Nothing happens once it is over.
  void write(Bytes bytes);
  // Sends what was written, and ends the connection.
  void close();
  // Breaks the connection.
  void reset();

 protected:
  SharedSession() = default;
  // The connection is there.
  virtual void on_begin() {}
  // Bytes that were not consumed come again, with those behind them. Returns the consumed ones.
  virtual std::size_t on_bytes(Bytes input) = 0;
  // The connection is gone.
  virtual void on_end() {}

 private:
  friend class SharedServer;
  void begin(SharedServer& server, std::shared_ptr<engine::SimConnection> connection);
  void on_stream(engine::SimConnection& connection) override;
  void read();
  void end();

  SharedServer* server_ = nullptr;
  std::shared_ptr<engine::SimConnection> connection_;
  std::string input_;
  bool is_over_ = false;
};

class SharedServer : public WorldServer, private engine::SimHost {
 public:
  ~SharedServer() override;

  // By which programs reach it.
  const std::string& name() const noexcept { return host_.name; }
  std::uint32_t address() const noexcept override { return host_.address; }
  bool is_down() const noexcept { return is_down_; }
  std::size_t connections() const noexcept { return sessions_.size(); }

  std::uint16_t port() const noexcept override { return port_; }
  void go_down() override;
  void come_back() override { is_down_ = false; }
  // Reads and answers nothing until go_on().
  void hang() noexcept { hangs_ = true; }
  void go_on();

 protected:
  SharedServer(TestHost host, std::uint16_t port);
  // Called for each connection.
  virtual std::shared_ptr<SharedSession> make_session() = 0;
  // Breaks the connection of each session, and drops the sessions.
  void reset_sessions();
  // The network of its host.
  engine::SimNetwork& network() const noexcept { return host_.loop.network(); }
  // As it was given.
  const TestHost& host() const noexcept { return host_; }
  // Microseconds since 1970 by the clock of the host.
  std::int64_t wall_clock_us() const;

 private:
  friend class SharedSession;
  bool listens_on(std::uint16_t port) const override { return !is_down_ && port == port_; }
  void on_handshake(const std::shared_ptr<engine::SimConnection>& connection,
                    std::uint16_t port) override;
  void take_over(const std::shared_ptr<engine::SimConnection>& connection, std::uint16_t) override;
  bool has_work() const override { return false; }

  const TestHost host_;
  const std::uint16_t port_;
  bool is_down_ = false;
  bool hangs_ = false;
  std::vector<std::shared_ptr<SharedSession>> sessions_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
