// RequestState: the state and the places of a request, kept until its work has ended.
// RequestShare: a share of it; every task that does this work has one.
//
//   exchange ── share ──▶ RequestState: values of middleware, the place of a concurrency limit, …
//      │ spawn()               ▲
//      └──▶ task ── share ─────┘      the client leaves: what the exchange was counted in, its
//                                     place among the client's requests, its stream, its charge
//                                     in the memory budget, moves to the state
//
// Every task that a request began thus runs within the limits which admitted the request. The count
// ends with the last share, and not before.
//
// Owns       the members of derived classes, and the places.
// Thread     its reactor's. A share does not go to another thread.
// Allocates  from the recycler.
// Fails      never.
// Invariant  a place is counted once: by the exchange, and from its end on by the state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/memory/held_memory.hpp"
#include "katana/base/memory/recycler.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/session/personal.hpp"
#include "katana/net/reactor/client_place.hpp"
#include "katana/wire/http2/stream_place.hpp"

namespace katana::session {

// The limits in which a request counts.
struct RequestPlaces {
  net::ClientPlace client = {};    // among the requests of its client
  http2::StreamPlace stream = {};  // among the streams of its connection
};

class RequestShare;

// The dispatcher makes it for values that middleware passes to the handler; Exchange::share() makes
// it otherwise.
class RequestState {
 public:
  virtual ~RequestState() = default;
  // The bytes of the derived class.
  virtual std::size_t held_bytes() const noexcept { return sizeof(RequestState); }
  // The exchange has ended: members that only a reply would need are dropped. A member that still
  // has work for the request keeps a copy of `self`, a share of this state.
  virtual void on_exchange_end(const RequestShare& /*self*/) noexcept {}
  // The exchange became a WebSocket connection: drops everything but places. Returns false if no
  // place is left.
  virtual bool keep_places() noexcept { return false; }

  // The mark of its reply, shared with copies of the request.
  const std::shared_ptr<PersonalMark>& personal_mark() const noexcept { return personal_; }
  const PersonalMark& personal() const noexcept { return *personal_; }
  // Records header fields that the handler took by name. Code that shares the reply must
  // distinguish their values.
  void note_read_fields(std::span<const std::string_view> names) {
    personal_->set(Personal::field);
    read_fields_.push_back(names);
  }
  std::span<const std::span<const std::string_view>> read_fields() const noexcept {
    return read_fields_;
  }

  // The places of an exchange that has ended.
  RequestPlaces places;
  // The charge for the state itself, once the exchange has ended. Tasks charge the memory that they
  // hold.
  HeldCharge charge;
  // The deadline of the handler, if the exchange ends sooner because its client has ended its side;
  // never: the exchange's end is the deadline.
  Instant due = never;

  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycler::release(memory, bytes);
  }

 private:
  using Names = std::span<const std::string_view>;
  friend class RequestShare;
  std::uint32_t shares_ = 0;
  const std::shared_ptr<PersonalMark> personal_ =
      std::allocate_shared<PersonalMark>(recycler::Allocator<PersonalMark>());
  std::vector<Names, recycler::Allocator<Names>> read_fields_;
};

// A counted share of a RequestState: the last one that goes deletes the state.
class RequestShare {
 public:
  RequestShare() noexcept = default;
  explicit RequestShare(RequestState* state) noexcept : state_(state) { retain(); }
  RequestShare(const RequestShare& other) noexcept : state_(other.state_) { retain(); }
  RequestShare(RequestShare&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  RequestShare& operator=(RequestShare other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~RequestShare() { reset(); }

  // Gives up the share, and deletes the state if no other share is left.
  void reset() noexcept {
    RequestState* const state = std::exchange(state_, nullptr);
    if (state != nullptr && --state->shares_ == 0) delete state;
  }
  // Null: there is no state.
  RequestState* get() const noexcept { return state_; }
  RequestState* operator->() const noexcept { return state_; }
  explicit operator bool() const noexcept { return state_ != nullptr; }
  // True if there is another share.
  bool is_shared() const noexcept { return state_ != nullptr && state_->shares_ > 1; }

 private:
  void retain() noexcept {
    if (state_ != nullptr) ++state_->shares_;
  }
  RequestState* state_ = nullptr;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
