// Pending: what makes a reply after the handler's call has returned. RequestState: what a request
// keeps until its reply is complete.
//
// Thread     its reactor's.
// Allocates  from the recycler.
// Invariant  destroying a Pending cancels it. An exchange's RequestState outlives its Pending.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "katana/base/bytes.hpp"
#include "katana/base/recycler.hpp"
#include "katana/session/personal.hpp"

namespace katana::session {

// Work that goes on after the handler's call returned. Destroying it cancels it: when the peer has
// left, when time is up, or when its reply is complete.
class Pending {
 public:
  virtual ~Pending() = default;
  // Part of the content that stream_content() asked for; borrowed for the call. `last`: it is
  // complete. False: no more until Exchange::want_content().
  virtual bool on_content(Bytes, bool) noexcept { return true; }
  // A reply that found no room may go on.
  virtual void on_writable() noexcept {}
  // Of the request's content, or of its reply, that it keeps at present.
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

// Made by whoever dispatches the request, for values that middleware hands to the handler.
class RequestState {
 public:
  virtual ~RequestState() = default;
  virtual std::size_t held_bytes() const noexcept = 0;

  // Of its reply, shared with copies of the request.
  const std::shared_ptr<PersonalMark>& personal_mark() const noexcept { return personal_; }
  const PersonalMark& personal() const noexcept { return *personal_; }
  // Header fields that the handler took by name. What shares the reply has to tell them apart.
  void note_read_fields(std::span<const std::string_view> names) {
    personal_->set(Personal::field);
    read_fields_.push_back(names);
  }
  std::span<const std::span<const std::string_view>> read_fields() const noexcept {
    return read_fields_;
  }

  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycler::release(memory, bytes);
  }

 private:
  using Names = std::span<const std::string_view>;
  const std::shared_ptr<PersonalMark> personal_ =
      std::allocate_shared<PersonalMark>(recycler::Allocator<PersonalMark>());
  std::vector<Names, recycler::Allocator<Names>> read_fields_;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
