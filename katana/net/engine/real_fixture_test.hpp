// Client, Server and EngineTest: an engine on real sockets of this machine.
//
// Owns       the sockets, the engine, and what was seen.
// Thread     one: the test turns the engine between the steps of its clients.
// Fails      by failing the test: a condition that does not come true within seconds.
// Invariant  no test sleeps: it turns the engine until what it waits for has happened.
//
// A form says which engine: `template <class S> using Engine`, and `deliveries_max`, the most
// deliveries to one link before another one that has bytes gets some. It may have `why_not()`: why
// the engine does not run on this machine, if it does not.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/net/engine/engine.hpp"

namespace katana::engine {

// The other end of a connection: a non-blocking socket.
class Client {
 public:
  // Returns when the handshake is complete.
  explicit Client(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in address = loopback(port);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
        << std::strerror(errno);
    EXPECT_EQ(fcntl(fd_, F_SETFL, O_NONBLOCK), 0);
  }
  ~Client() { close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }

  // As much as the kernel takes; returns how much.
  std::size_t send(std::string_view text) {
    const ssize_t count = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  void end() { ::shutdown(fd_, SHUT_WR); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }
  void shrink_buffers() {
    const int bytes = 4096;
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  }
  // Takes what is here, at most `bytes_max`.
  void receive(std::size_t bytes_max = SIZE_MAX) {
    std::vector<char> buffer(64 * 1024);
    while (bytes_max > 0 && !saw_end && !saw_reset) {
      const ssize_t count = ::recv(fd_, buffer.data(), std::min(buffer.size(), bytes_max), 0);
      if (count < 0) saw_reset = errno == ECONNRESET;
      if (count == 0) saw_end = true;
      if (count <= 0) return;
      received.append(buffer.data(), static_cast<std::size_t>(count));
      bytes_max -= static_cast<std::size_t>(count);
    }
  }
  int fd() const { return fd_; }

  std::string received;
  bool saw_end = false;
  bool saw_reset = false;

 private:
  int fd_;
};

// The sink that the engine calls: it notes every call and runs the actions of its test.
template <template <class> class EngineOf>
class Server {
 public:
  template <class... Arguments>
  explicit Server(const Options& options = {}, const Arguments&... arguments)
      : engine(options, *this, arguments...) {
    const auto started = engine.start();
    EXPECT_TRUE(started) << started.error().describe();
  }
  std::uint16_t listen(bool peer_speaks_first = true) {
    const auto listener = engine.listen({.peer_speaks_first = peer_speaks_first});
    EXPECT_TRUE(listener) << listener.error().describe();
    return engine.port(*listener);
  }

  bool on_accepted(Link link, Listener listener, const PeerEndpoint& peer) {
    links.push_back(link);
    peers.emplace_back(peer.text().bytes());
    listeners.push_back(listener);
    return at_accepted ? at_accepted(link) : true;
  }
  void on_bytes(Link link, Bytes bytes) {
    EXPECT_FALSE(bytes.empty());
    ++deliveries;
    received += bytes;
    if (at_bytes) at_bytes(link, bytes);
  }
  void on_sent(Link link, std::size_t count) {
    ++sents;
    if (at_sent) at_sent(link, count);
  }
  void on_closed(Link link, Closed closed) {
    (closed == Closed::input ? input_ends : broken).push_back(link);
    if (at_closed) at_closed(link, closed);
  }
  void on_accept_failed(AcceptFailure failure) { accept_failures.push_back(failure); }
  void on_turn(Instant) { ++turns; }

  // In one call, which is to take all of it at once.
  void send_parts(Link link, std::vector<std::string> texts) {
    std::vector<iovec> parts;
    std::size_t bytes = 0, accepted = 0;
    for (std::string& text : texts) {
      parts.push_back({text.data(), text.size()});
      bytes += text.size();
    }
    EXPECT_EQ(engine.send(link, parts, accepted), Sent::completed);
    EXPECT_EQ(accepted, bytes);
  }
  std::size_t send(Link link, std::string_view text, Sent* result = nullptr) {
    const iovec part{const_cast<char*>(text.data()), text.size()};
    std::size_t accepted = 0;
    const Sent sent = engine.send(link, {&part, 1}, accepted);
    if (result != nullptr) *result = sent;
    return accepted;
  }

  EngineOf<Server> engine;
  std::vector<Link> links, input_ends, broken;
  std::vector<Listener> listeners;
  std::vector<std::string> peers;  // of links
  std::vector<AcceptFailure> accept_failures;
  std::string received;
  int deliveries = 0, sents = 0, turns = 0;
  std::function<bool(Link)> at_accepted;
  std::function<void(Link, Bytes)> at_bytes;
  std::function<void(Link, std::size_t)> at_sent;
  std::function<void(Link, Closed)> at_closed;
};

template <class Form>
class EngineTest : public testing::Test {
 protected:
  using TestServer = Server<Form::template Engine>;
  // Whether the engine asks a socket for its address after the accept, which did not tell it.
  static constexpr bool asks_peers = requires { Form::asks_peers; };

  void SetUp() override {
    if constexpr (requires { Form::why_not(); }) {
      if (const std::string reason = Form::why_not(); !reason.empty()) GTEST_SKIP() << reason;
    }
  }

  // Turns until it is true; false when it does not become so in a minute, however busy the machine.
  template <class AnyServer, class Condition>
  static bool until(AnyServer& server, Condition condition) {
    const Instant start = server.engine.now();
    while (!condition()) {
      if (server.engine.now() - start > seconds(60)) return false;
      server.engine.turn(milliseconds(10));
    }
    return true;
  }
  // A few turns in which something that must not happen could happen.
  template <class AnyServer>
  static void turn_a_little(AnyServer& server) {
    for (int count = 0; count < 5; ++count) server.engine.turn(milliseconds(2));
  }
  // Turns until `progress()` stays the same for longer than an acknowledgement is delayed (40 ms),
  // and returns that value. A client that reads nothing can still make room that long.
  template <class AnyServer, class Progress>
  static auto until_it_rests(AnyServer& server, Progress progress) {
    auto rests_at = progress();
    for (Instant since = server.engine.now(); server.engine.now() - since < milliseconds(100);) {
      server.engine.turn(milliseconds(10));
      if (progress() == rests_at) continue;
      rests_at = progress();
      since = server.engine.now();
    }
    return rests_at;
  }
  // The engine sleeps: among a few turns is one that waits its time out. Completions that come late
  // may end those before it; an engine that spins waits in none.
  template <class AnyServer>
  static void expect_rest(AnyServer& server) {
    for (int count = 0; count < 20; ++count) {
      const Instant start = server.engine.now();
      server.engine.turn(milliseconds(30));
      if (server.engine.now() - start >= milliseconds(29)) return;
    }
    ADD_FAILURE() << "each of 20 turns ended before its time";
  }
  // A client whose link is accepted and that has sent `text`. The text is delivered unless the link
  // is paused; some engines take a turn more for it.
  static std::unique_ptr<Client> connect(TestServer& server, std::uint16_t port,
                                         std::string_view text) {
    const std::size_t before = server.links.size();
    auto client = std::make_unique<Client>(port);
    if (!text.empty()) {
      EXPECT_EQ(client->send(text), text.size());
    }
    const std::size_t expected = server.received.size() + text.size();
    EXPECT_TRUE(until(server, [&] { return server.links.size() > before; }));
    for (int count = 0; count < 5 && server.received.size() < expected; ++count) {
      server.engine.turn(milliseconds(2));
    }
    return client;
  }
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
