// ProtocolDriver: drives a protocol on a connection: HTTP/1.1, one call at a time, or HTTP/2, as
// many as the server takes.
//
// Owns       the protocol's machine.
// Borrows    the calls that it was given, until it has ended them or is told to drop them.
// Thread     its reactor's.
// Fails      by ending its calls, and the connection.
// Invariant  a call that it was given is ended exactly once: complete(), fail(), or cancel_call(). A
//            driver that takes no more calls ends the connection when its calls have ended.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/bytes.hpp"
#include "katana/base/result.hpp"
#include "katana/client/call.hpp"

namespace katana::client {

class ProtocolDriver {
 public:
  virtual ~ProtocolDriver() = default;
  // How many more calls it takes at present; the pool asks.
  virtual std::uint32_t capacity() const noexcept = 0;
  // It takes none any more.
  virtual bool ending() const noexcept = 0;
  // No call is on it.
  virtual bool idle() const noexcept = 0;
  // REQUIRES capacity() > 0.
  virtual void begin(Call& call) noexcept = 0;
  // Nobody waits for it any more; `late`: because its deadline has come. False: the connection ends
  // with it.
  virtual bool cancel_call(Call& call, bool late) noexcept = 0;
  // So much of the content of a call that streams was read.
  virtual void on_content_read(Call& call, std::size_t bytes) noexcept = 0;
  // The connection is about to be closed, and no call is on it.
  virtual void announce_close() noexcept {}
  // As core::Session's.
  virtual std::size_t on_bytes(Bytes input) noexcept = 0;
  virtual void on_input_end() noexcept = 0;
  virtual void on_writable() noexcept {}
  virtual void on_deadline() noexcept {}
  // The connection was never made, so what it was given cannot have reached the server: gives it
  // back, the latest first.
  virtual void take_unsent_calls(CallList& calls) noexcept = 0;
  // The connection is gone.
  virtual void on_lost(const Error& error) noexcept = 0;
};

}  // namespace katana::client
