// Pending: what makes a reply after the handler's call has returned.
//
// Thread     its reactor's.
// Allocates  from the recycler.
// Invariant  destroying a Pending cancels it, but for work that goes on without its client: a task
//            that Exchange::spawn() began. An exchange's RequestState outlives its Pending.
#pragma once

#include <cstddef>

#include "katana/base/memory/recycler.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::session {

// Work that goes on after the handler's call returned. Destroying it cancels it: when the client
// has left, when time is up, or when its reply is complete.
class Pending {
 public:
  virtual ~Pending() = default;
  // Part of the content that stream_content() asked for; borrowed for the call. `last`: it is
  // complete. False: no more until Exchange::want_content().
  virtual bool on_content(Bytes, bool) noexcept { return true; }
  // A reply that found no room may go on.
  virtual void on_writable() noexcept {}
  // Of the request's content and the values made of it, or of its reply, that it keeps at present.
  virtual std::size_t held_bytes() const noexcept { return 0; }
  // The server is going to end: what would go on for ever comes to its end.
  virtual void on_drain() noexcept {}
  // The session answers with this status instead: the work ends, and the reply is sent as one of
  // its route. REQUIRES that no reply was begun. False: this keeps no request to answer for.
  virtual bool refuse(unsigned /*status*/, Bytes /*detail*/) noexcept { return false; }

  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycler::release(memory, bytes);
  }
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
