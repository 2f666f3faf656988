// Http2Session: the http2 machine on a connection. It pulls events, lets handlers answer at the
// same time, shares the connection among their replies, and ends exchanges and the connection.
//
// Owns       the machine, and an Http2Exchange for each stream.
// Thread     its reactor's.
// Allocates  from the recycler: the machine, and an exchange for each request.
// Invariant  exchanges are destroyed between calls only. The memory that a client can make it hold
//            is bounded. Bodies take content_held_bytes_max, one body more, and the windows.
//            Replies take held_bytes_max and one reply, heads are bounded by streams_max.
//            StreamScheduler decides the order of sending.
#pragma once

#include <memory>

#include "katana/http/session/http2_exchange.hpp"
#include "katana/http/session/http2_protocol.hpp"
#include "katana/http/session/stream_scheduler.hpp"
#include "katana/net/reactor/connection.hpp"

namespace katana::session {

class Http2Session final : public net::Session {
 public:
  Http2Session(Http2Protocol& protocol, net::Connection& connection) noexcept;
  ~Http2Session() override;

  std::size_t on_bytes(Bytes input) noexcept override;
  void on_input_end() noexcept override;
  void on_writable() noexcept override;
  void on_deadline() noexcept override;
  void on_drain() noexcept override;
  Bytes protocol_name() const noexcept override { return "http/2"; }
  std::size_t blocks_held() const noexcept override;
  std::size_t held_bytes() const noexcept override;
  std::size_t on_memory_scarce() noexcept override;

 private:
  struct RecycledMachine final : http2::Machine {
    using Machine::Machine;
    static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
    static void operator delete(void* memory, std::size_t bytes) noexcept {
      recycler::release(memory, bytes);
    }
  };

  http2::Machine& machine() noexcept { return *machine_; }
  Outbox& outbox() noexcept { return connection_.outbox(); }
  Instant now() const noexcept { return connection_.reactor().now(); }

  void on_head(const http2::Step& step, bool refused) noexcept;
  void on_over(Http2Exchange& exchange) noexcept;
  template <class Value>
  std::size_t sum_of(Value&& value) const noexcept {
    std::size_t sum = 0;
    for (http2::Stream* each = machine_->first(); each != nullptr; each = each->next_in_list()) {
      sum += value(exchange_of(*each));
    }
    return sum;
  }
  static Http2Exchange& exchange_of(http2::Stream& stream) noexcept {
    return static_cast<Http2Exchange&>(static_cast<ScheduledStream&>(stream));
  }
  void after_call() noexcept;
  void serve_queued() noexcept;
  KATANA_RARE void resume_yielded() noexcept;
  KATANA_RARE void expire_streams() noexcept;
  void deliver_wanted() noexcept;
  void sweep() noexcept;
  KATANA_RARE void cancel_all() noexcept;
  KATANA_RARE void end() noexcept;

  Http2Protocol& protocol_;
  net::Connection& connection_;
  std::unique_ptr<RecycledMachine> machine_;
  StreamScheduler streams_;
  bool ended_ = false;
  bool input_end_noted_ = false;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
