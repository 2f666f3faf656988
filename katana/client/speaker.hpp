// Speaker: what speaks a protocol on a line: HTTP/1.1, one call at a time; a protocol with streams
// would take several.
//
// Owns       the protocol's machine.
// Borrows    the calls that it was given, until it has ended them or is told to drop them.
// Thread     its reactor's.
// Fails      by ending its calls, and the line.
// Invariant  a call that it was given is ended exactly once: complete(), fail(), or drop().
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/bytes.hpp"
#include "katana/base/result.hpp"
#include "katana/client/call.hpp"

namespace katana::client {

class Speaker {
 public:
  virtual ~Speaker() = default;
  // How many more calls it takes at present; the pool asks. Once it takes none for good the line
  // ends by itself when its calls have.
  virtual std::uint32_t room() const noexcept = 0;
  // No call is on it.
  virtual bool idle() const noexcept = 0;
  // REQUIRES room() > 0.
  virtual void begin(Call& call) noexcept = 0;
  // Nobody waits for it any more.
  virtual void drop(Call& call) noexcept = 0;
  // A call that was full is so no more.
  virtual void read_on() noexcept = 0;
  // As core::Session's.
  virtual std::size_t on_bytes(Bytes input) noexcept = 0;
  virtual void on_input_end() noexcept = 0;
  // The connection is gone. What cannot have reached the server, because the connection was never
  // made, is given back: the call, or null.
  virtual Call* take_back() noexcept = 0;
  virtual void on_lost(const Error& error) noexcept = 0;
};

}  // namespace katana::client
