// ProtocolDriver: runs a protocol on a connection. HTTP/1.1 carries one call at a time, HTTP/2 as
// many as the server takes.
//
// Owns       the protocol's machine.
// Borrows    its environment; each call from begin() until the driver completes or fails it, or it
//            is cancelled.
// Thread     its reactor's.
// Fails      by failing its calls and closing the connection.
// Invariant  each call ends exactly once: complete(), fail() or cancel_call(). A driver that takes
//            no further call closes the connection when its calls have ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/http/client/call.hpp"
#include "katana/http/client/origin_state.hpp"
#include "katana/http/client/reactor_context.hpp"
#include "katana/net/reactor/connection.hpp"

namespace katana::client {

// Events that a driver reports to its connection.
class DriverEvents {
 public:
  // The server has answered, and the driver has no call.
  virtual void on_idle() noexcept = 0;
  // The driver takes more calls than before.
  virtual void on_more_capacity() noexcept = 0;

 protected:
  ~DriverEvents() = default;
};

// The objects that a driver works with. All of them outlive the driver.
struct DriverEnvironment {
  net::Connection& connection;  // the driver writes to it and closes it
  ReactorContext& context;      // options, counters and queues of the reactor
  OriginState& origin;          // shared by the connections to this origin
  DriverEvents& events;         // told when the driver has capacity, or ends
};

class ProtocolDriver : public CallCarrier {
 public:
  explicit ProtocolDriver(const DriverEnvironment& environment) noexcept
      : connection_(environment.connection),
        context_(environment.context),
        origin_(environment.origin),
        events_(environment.events) {}
  virtual ~ProtocolDriver() = default;
  ProtocolDriver(const ProtocolDriver&) = delete;
  ProtocolDriver& operator=(const ProtocolDriver&) = delete;

  // Returns how many more calls the driver can take now.
  virtual std::uint32_t capacity() const noexcept = 0;
  // The driver takes no further calls.
  virtual bool ending() const noexcept = 0;
  // The driver has no call.
  virtual bool idle() const noexcept = 0;
  // REQUIRES capacity() > 0.
  virtual void begin(Call& call) noexcept = 0;
  // The client closes the connection once its calls have ended, which is no failure.
  void retire() noexcept { retiring_ = true; }
  bool retiring() const noexcept { return retiring_; }
  // The connection is about to be closed, and has no call.
  virtual void announce_close() noexcept {}
  // As net::Session::on_bytes().
  virtual std::size_t on_bytes(Bytes input) noexcept = 0;
  virtual void on_input_end() noexcept = 0;
  virtual void on_writable() noexcept {}
  virtual void on_deadline() noexcept {}
  // The connection was never made, so its calls cannot have reached the server: moves them into
  // `calls`, the latest first.
  virtual void take_unsent_calls(CallList& calls) noexcept = 0;
  // The connection was lost.
  virtual void on_lost(const Error& error) noexcept = 0;

 protected:
  // The connection closes after its current calls.
  bool should_close() const noexcept { return retiring_ || context_.reactor().draining(); }
  // The server has acknowledged bytes: the connection is established.
  bool answered() const noexcept { return connection_.counters().bytes_sent > 0; }

  net::Connection& connection_;
  ReactorContext& context_;
  OriginState& origin_;
  DriverEvents& events_;

 private:
  bool retiring_ = false;
};

// The factory alone names the drivers; a ReactorPool passes it down.
using DriverFactory = std::unique_ptr<ProtocolDriver> (*)(HttpVersion version,
                                                          const DriverEnvironment& environment);

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
