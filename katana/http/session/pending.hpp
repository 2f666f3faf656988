// Pending: work that makes a reply after the handler's call has returned.
//
// Thread     its reactor's.
// Allocates  from the recycler.
// Invariant  destroying a Pending cancels it. Work that continues without its client is not
//            cancelled: a task that Exchange::spawn() began. An exchange's RequestState outlives
//            its Pending.
#pragma once

#include <cstddef>

#include "katana/base/memory/recycler.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::session {

// Work that continues after the handler's call returned. It is destroyed, and thereby cancelled,
// when the client has left, when time is up, or when its reply is complete.
class Pending {
 public:
  virtual ~Pending() = default;
  // Gets a part of the body that stream_content() asked for; borrowed for the call. `last`: the
  // body is complete. Returns false to get no more until Exchange::want_content().
  virtual bool on_content(Bytes, bool) noexcept { return true; }
  // A reply that found no room may continue.
  virtual void on_writable() noexcept {}
  // The bytes of the request's body, of values made from it, and of its reply that it keeps now.
  virtual std::size_t held_bytes() const noexcept { return 0; }
  // The server is about to end: endless work comes to its end.
  virtual void on_drain() noexcept {}
  // The session answers with this status instead: the work ends, and the reply is in the form of
  // its route. REQUIRES that no reply was begun. Returns false if this keeps no request to answer
  // for.
  virtual bool refuse(unsigned /*status*/, Bytes /*detail*/) noexcept { return false; }

  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycler::release(memory, bytes);
  }
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
