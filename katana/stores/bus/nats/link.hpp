// NatsLink: one connection to a NATS server: greeting, liveness, and messages. It does not know the
// purpose of the messages.
//
//   on_open ──INFO──▶ CONNECT, PING ──PONG──▶ up ──▶ messages; PING every ping_interval
//                                              └── INFO with ldm: nothing more is written; when the
//                                                  server has answered all, the next one is taken
//
// Owns       the machine, the connection, the timer.
// Borrows    events and credentials.
// Thread     its reactor's.
// Allocates  for a message that does not come in one piece.
// Fails      publish() is false when the link is not up, or is full. Any other failure is on_down()
//            with the reason.
// Invariant  each on_up() is followed by one on_down(), unless it is destroyed. A violation of
//            the protocol by the server ends the connection.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "katana/net/reactor/timer_wheel.hpp"
#include "katana/net/tls/prelude.hpp"
#include "katana/net/upstream/connection.hpp"
#include "katana/stores/bus/nats/options.hpp"
#include "katana/stores/bus/nats/server_info.hpp"
#include "katana/wire/nats/machine.hpp"

namespace katana::bus {

// A message as it came; borrowed for the call.
struct NatsMessage {
  std::uint64_t subscription = 0;  // the sid that subscribe() was given
  Bytes subject = {};              // with the prefix, as the server sends it
  Bytes reply_to = {};             // empty: no caller waits for an answer
  std::uint16_t status = 0;        // of the line NATS/1.0, such as 503: no responders; 0: none
  Bytes headers = {};              // "Name: value\r\n", for each
  Bytes payload = {};              // without the headers; of a status without one: its words
};

// The events that a link reports to its owner, on its reactor.
class NatsLinkEvents {
 public:
  // The server has answered CONNECT: it knows of no subscription yet.
  virtual void on_up(const ServerInfo& info) noexcept = 0;
  // Written messages may be lost. The next server is tried without a call.
  virtual void on_down(const Error& why) noexcept = 0;
  // An attempt ended before on_up(), by the network or by the server's refusal.
  virtual void on_unreachable(const Error& why) noexcept = 0;
  // Called for each message, in the order in which the server sent them.
  virtual void on_message(const NatsMessage& message) noexcept = 0;
  // A message of that subscription was larger than it may be, and is dropped.
  virtual void on_too_large(std::uint64_t subscription, Bytes subject) noexcept = 0;
  virtual void on_server_error(Bytes text) noexcept = 0;
  // Messages that could not be written may fit now.
  virtual void on_link_writable() noexcept = 0;

 protected:
  ~NatsLinkEvents() = default;
};

class NatsLink final : private upstream::Owner, private net::TimerEntry {
 public:
  NatsLink(net::Reactor& reactor, std::shared_ptr<upstream::Shared> shared,
           const NatsOptions& options, bool echo, NatsLinkEvents& events);
  ~NatsLink();
  NatsLink(const NatsLink&) = delete;
  NatsLink& operator=(const NatsLink&) = delete;

  // Connects, and again after each loss, until stop().
  void start() noexcept { connection_.start(); }
  // Written messages are sent.
  void stop() noexcept;
  bool is_up() const noexcept { return state_ == State::up; }
  const ServerInfo& info() const noexcept { return info_; }
  std::string server() const { return connection_.server().text(); }
  const std::optional<Error>& problem() const noexcept { return connection_.problem(); }

  // True when publish() of this number of bytes would succeed.
  bool takes(std::size_t octets) const noexcept { return is_up() && connection_.takes(octets); }
  // `headers` as in NatsMessage. `memory` is this reactor's hold on the payload; null: it is
  // copied.
  bool publish(Bytes subject, Bytes reply_to, Bytes headers, Bytes payload, Batch* memory);
  bool subscribe(std::uint64_t number, Bytes subject, Bytes group);
  bool unsubscribe(std::uint64_t number);
  void want_writable() noexcept { connection_.want_writable(); }
  void lose(Error why) noexcept { connection_.lose(std::move(why)); }

 private:
  enum class State : std::uint8_t { down, info, greeting, up, leaving };

  // INFO, which is not protected, in front of TLS.
  class InfoPrelude final : public tls::Prelude {
   public:
    Bytes request() const noexcept override { return {}; }
    Step next(Bytes input) noexcept override;
    std::string info;

   private:
    nats::Machine machine_;
  };

  void on_open() noexcept override;
  std::size_t on_bytes(Bytes input) noexcept override;
  void on_closed(const Error& why) noexcept override;
  void on_unreachable(const Error& why) noexcept override { events_.on_unreachable(why); }
  void on_writable() noexcept override { events_.on_link_writable(); }
  tls::Prelude* prelude() noexcept override;

  // False: the connection is lost.
  bool take(const nats::Step& step);
  bool take_info(Bytes json);
  bool take_pong();
  bool take_error(Bytes text);
  void take_piece(Bytes piece, bool is_last);
  void give(Bytes content);
  bool greet();
  void on_tick() noexcept;
  void arm() noexcept;
  bool fail_with(Error why) noexcept;

  NatsLinkEvents& events_;
  const NatsOptions& options_;
  const bool echo_;
  const std::shared_ptr<upstream::Shared> shared_;
  upstream::Connection connection_;
  std::optional<InfoPrelude> prelude_;
  std::optional<nats::Machine> machine_;
  State state_ = State::down;
  ServerInfo info_;
  unsigned pings_unanswered_ = 0;
  // The head of the message whose bytes come.
  nats::MessageHead head_;
  std::string subject_;
  std::string reply_to_;
  std::string content_;
  bool is_skipped_ = false;
  std::string scratch_;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
