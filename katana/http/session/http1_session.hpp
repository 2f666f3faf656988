// Http1Session: the http1 machine on a connection: it pulls events, lets the handler answer, and
// ends exchanges and the connection.
//
// Owns       the machine; a request that is detached; the pending handler.
// Thread     its reactor's.
// Allocates  nothing for a request that its handler answers at once.
// Invariant  one exchange at a time: pipelined requests behind it stay with the connection.
#pragma once

#include <algorithm>

#include "katana/base/system/hints.hpp"
#include "katana/http/session/exchange.hpp"
#include "katana/http/session/http1_protocol.hpp"
#include "katana/net/reactor/connection.hpp"
#include "katana/wire/http1/machine.hpp"

namespace katana::session {

class Http1Session final : public net::Session, private Exchange {
 public:
  Http1Session(Http1Protocol& protocol, net::Connection& connection) noexcept;
  ~Http1Session() override;

  std::size_t on_bytes(Bytes input) noexcept override;
  void on_input_end() noexcept override;
  void on_writable() noexcept override;
  void on_deadline() noexcept override;
  void on_drain() noexcept override;
  Bytes protocol_name() const noexcept override { return "http/1.1"; }
  std::size_t held_bytes() const noexcept override { return core_.held_bytes(); }
  std::size_t on_memory_scarce() noexcept override;

 private:
  // ---- Exchange ----
  bool answers_head() const noexcept override { return machine_.answers_head(); }
  std::optional<std::uint64_t> content_length() const noexcept override;
  net::Reactor& reactor() noexcept override { return connection_.reactor(); }
  const net::ConnectionCounters& connection_counters() noexcept override;
  engine::PeerAddress peer() noexcept override;
  Arrival arrival() noexcept override;
  const net::PeerCertificate* peer_certificate() override;
  engine::Listener listener() noexcept override;
  void collect_content(std::uint64_t bytes_max) override;
  void stream_content(std::uint64_t bytes_max) override;
  void want_content() noexcept override;
  KATANA_RARE void defer_request() override;
  KATANA_RARE void resume_request() noexcept override;
  void respond(const http::ReplyHead& head, Bytes content, bool content_stays) noexcept override;
  // Responds with the fields that the observer adds to every reply.
  [[gnu::noinline]] bool respond_with_fields(const http::ReplyHead& head, Bytes content,
                                             bool content_stays) noexcept;
  void begin_reply(const http::ReplyHead& head) noexcept override;
  bool takes_whole(std::size_t bytes) noexcept override;
  bool write(Bytes content) noexcept override;
  bool write_file(FilePart& part) noexcept override;
  bool yield() noexcept override;
  void end_reply() noexcept override;
  bool reply_begun() const noexcept override { return machine_.reply_begun(); }
  void set_patient() noexcept override;
  void close_after_reply() noexcept override { machine_.close_after_reply(); }
  KATANA_RARE void abort() noexcept override;
  WebSocketShare* websockets() noexcept override { return &protocol_.websockets(); }
  KATANA_RARE bool upgrade(const http::ReplyHead& head,
                           std::unique_ptr<WebSocketReplacement> replacement) noexcept override;
  // Returns the places of the request that became a WebSocket connection.
  KATANA_RARE RequestShare places_kept();
  void note_failure() noexcept override { ++protocol_.counters().handler_failures; }
  void note_forwarding_malformed() noexcept override { ++protocol_.counters().forwarded_malformed; }
  FailureObserver* failure_observer() noexcept override { return protocol_.options().failures; }

  // Returns false if there is no room at present for so many bytes in memory.
  bool may_write(std::size_t bytes) noexcept;
  // Completes a write: `done` is the machine's result, `size` the bytes written, `pending` the
  // bytes that waited before it.
  bool note_written(bool done, std::uint64_t size, std::size_t pending) noexcept;
  [[gnu::always_inline]] inline void begin_exchange() noexcept;
  KATANA_RARE void tell_observer_of_begin(ExchangeObserver& observer) noexcept;
  [[gnu::always_inline]] inline void on_head(bool complete) noexcept;
  [[gnu::always_inline]] inline void serve_head() noexcept;
  // Serves the head if the client may have one more request in progress.
  KATANA_RARE void serve_limited() noexcept;
  KATANA_RARE void end_limited() noexcept;
  // Handles an event that is not an ordinary request. `rest` is the available input, and
  // input_left_ gets the part that stays. Returns false if nothing more comes of it at present.
  [[gnu::noinline]] bool on_event(Bytes rest) noexcept;
  KATANA_RARE void on_content(bool complete) noexcept;
  KATANA_RARE void on_resumed() noexcept;
  KATANA_RARE void on_refused() noexcept;
  KATANA_RARE bool refusal_goes_on() noexcept;
  // The machine refused the first line of HTTP/2, and the other protocol takes over.
  KATANA_RARE bool hand_over(Bytes refused) noexcept;
  void after_handler() noexcept;
  void after_reply() noexcept;
  void end_exchange() noexcept;
  [[gnu::always_inline]] inline void end_exchange_inlined() noexcept;
  // The call that lent the head ends, and the exchange continues.
  KATANA_RARE void return_head();
  KATANA_RARE void tell_observer() noexcept;
  KATANA_RARE void cancel(Cancelled why) noexcept;
  KATANA_RARE void end_connection() noexcept;
  KATANA_RARE void refuse_for_memory() noexcept;
  // Charges the detached request, and the memory of a suspended handler.
  KATANA_RARE void charge() noexcept { core_.charge(memory()); }
  HeldMemory& memory() noexcept override { return connection_.reactor().memory(); }
  void update_deadline() noexcept {
    connection_.set_deadline(std::min(machine_.deadline(), core_.handler_deadline));
  }
  Duration handler_time() const noexcept override {
    return core_.handler_time(protocol_.options().handler_timeout);
  }
  void give_handler_time() noexcept {
    if (core_.patient && connection_.input_ended()) return;  // the grace period is running
    core_.give_time(now() + handler_time(), false);
  }
  // The client has ended its side: from now on the handler has little time.
  KATANA_RARE void give_grace() noexcept;
  void flush_later() noexcept;
  Instant now() const noexcept { return connection_.reactor().now(); }

  // The rest of the input of on_bytes() behind the present event; less than 4 GiB, as a receive.
  std::uint32_t input_left_ = 0;
  Http1Protocol& protocol_;
  net::Connection& connection_;
  http1::Machine machine_;
  bool active_ = false;         // there is an exchange
  bool replied_ = false;        // and its reply is complete
  bool head_suffices_ = false;  // the reply is to have no body, and the handler still writes
  bool in_call_ = false;        // inside a call by the reactor, which completes the work
  bool upgraded_ = false;       // another session takes over
  bool counted_ = false;        // counted among the requests of its client
  bool resume_due_ = false;     // the handler of the deferred request must be called
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
