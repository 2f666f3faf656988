// The WebSocket side of MixedRun: a handler that echoes and publishes, its notes, and a client's
// script.
//
// Owns       the topics, and a note for each connection.
// Thread     one.
// Fails      faults() says what did not hold.
// Invariant  a message is "number:text", and its echo the same. A published message is
//            "/client/number".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/topics/topics.hpp"
#include "tests/simulation/websocket_talk.hpp"

namespace katana::simulation {

// The calls of the handler of one client's connection.
struct SocketNote {
  int opened = 0;
  int closed = 0;
  std::uint64_t received = 0;  // in their order
  std::string fault;
};

class MixedSockets {
 public:
  // GET /socket/{client}
  void add_routes(Router& router);

  SocketNote& note(std::size_t client) { return notes_[client]; }
  const std::map<std::size_t, SocketNote>& notes() const { return notes_; }
  Topics& topics() { return topics_; }

 private:
  std::map<std::size_t, SocketNote> notes_;
  Topics topics_;
};

struct SocketPlan {
  std::size_t client = 0;
  std::uint64_t messages = 0;
  std::size_t bytes_max = 0;    // bytes of one message
  std::size_t depth = 1;        // messages on their way at once
  std::uint32_t publishes = 0;  // chance of each message per 1024
  bool fragments = false;
  bool server_closes = false;
};

// Sends its messages, and checks what comes back.
class SocketScript {
 public:
  SocketScript(const SocketPlan& plan, std::uint64_t seed, std::function<void(Bytes)> send_bytes);

  void begin();
  void feed(Bytes bytes) { talk_.feed(bytes); }
  WebSocketTalk& client() { return talk_; }
  const SocketPlan& plan() const { return plan_; }
  // Every message came back, and the connection was closed by both.
  bool complete() const { return echoed_ == plan_.messages && talk_.closed() == 1000; }
  std::uint64_t sent() const { return sent_; }
  std::uint64_t echoed() const { return echoed_; }
  // Empty: nothing was wrong.
  std::string fault() const { return fault_.empty() ? talk_.error() : fault_; }

 private:
  void pump();
  void send(const std::string& text);
  void on_message(const std::string& text);
  void on_published(const std::string& text);
  std::string text_of(std::uint64_t number) const;

  const SocketPlan plan_;
  Random random_;
  WebSocketTalk talk_;
  std::uint64_t sent_ = 0;
  std::uint64_t echoed_ = 0;
  std::map<std::string, std::uint64_t> heard_;  // the last number of each publisher
  std::string fault_;
};

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
