// RequestState: what a request keeps until its work has ended, and where it is counted meanwhile.
// RequestShare: every task that does that work has one.
//
//   exchange ── share ──▶ RequestState: values of middleware, the place of a concurrency limit, …
//      │ spawn()               ▲
//      └──▶ task ── share ─────┘      the client leaves: what the exchange was counted in, its
//                                     place among the client's requests, its stream, its charge
//                                     in the memory budget, moves to the state
//
// Therefore no task that a request began runs outside of the limits which admitted the request: the
// last share that goes ends the count, and nothing else does.
//
// Owns       the state what derives from it keeps, and the places.
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

// Where a request is counted.
struct RequestPlaces {
  net::ClientPlace client = {};    // among the requests of its client
  http2::StreamPlace stream = {};  // among the streams of its connection
};

class RequestShare;

// Made by the dispatcher of the request, for values that middleware hands to the handler, or by
// Exchange::share().
class RequestState {
 public:
  virtual ~RequestState() = default;
  // Of what derives from it.
  virtual std::size_t held_bytes() const noexcept { return sizeof(RequestState); }
  // The exchange has ended: what only a reply would need goes. A holder with something left to do
  // about the request takes a share along; `self` is of this.
  virtual void on_exchange_end(const RequestShare& /*self*/) noexcept {}
  // The exchange became a WebSocket connection: all but places goes. False: no place is left.
  virtual bool keep_places() noexcept { return false; }

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

  // For the exchange that has ended.
  RequestPlaces places;
  // For the state itself, once the exchange has ended. Tasks charge the memory that they hold.
  HeldCharge charge;
  // When the handler has to have answered, of an exchange that ends sooner because its client has
  // ended its side; never: when the exchange ends.
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
  // Somebody else has one, too.
  bool is_shared() const noexcept { return state_ != nullptr && state_->shares_ > 1; }

 private:
  void retain() noexcept {
    if (state_ != nullptr) ++state_->shares_;
  }
  RequestState* state_ = nullptr;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
