// PersonalMark: records that the reply to a request is made for its client alone, and the reasons.
//
// Code that personalises a reply sets the mark. Code that shares replies between requests reads it:
// the response cache, idempotency keys, compression, and the fields for caches on the way. Neither
// header names nor the order of middleware decide.
//
// Owns       a few bits, shared by the request's state and the copies of the request.
// Thread     any: a handler may read the client on another thread than its reactor's.
// Allocates  nothing itself; see RequestState::personal_mark().
// Fails      never.
// Invariant  a mark that is set stays set for as long as its request.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace katana::session {

// Reasons why a reply is personal. `none` is for values that are the same for every client.
enum class Personal : std::uint8_t {
  none = 0,       // sets no mark
  principal = 1,  // credentials were judged
  session = 2,    // the session was loaded, or one was begun
  value = 4,      // the handler took a value of middleware
  nonce = 8,      // the reply has a secret of its page
  address = 16,   // the address of the client was read
  cookie = 32,    // a cookie was read, and the request has some
  // A cookie was read, and the request has none: the reply is that of all clients without cookies.
  no_cookie = 64,
  // A header field was read by its name: the reply is that of all clients with the same field.
  field = 128,
};

class PersonalMark {
 public:
  // Any thread may call it; a mark is never removed.
  void set(Personal by) noexcept {
    bits_.fetch_or(static_cast<std::uint8_t>(by), std::memory_order_relaxed);  // only the bits
                                                                               // matter
  }
  // True if this reason has set the mark; false for `none`.
  bool has(Personal by) const noexcept { return (bits() & static_cast<std::uint8_t>(by)) != 0; }
  // True if the reply is for one client only.
  bool is_set() const noexcept { return (bits() & ~of_some) != 0; }
  // True if the reply is for one client, or for some: without cookies, or with the same field.
  bool is_set_at_all() const noexcept { return bits() != 0; }

 private:
  static constexpr unsigned of_some =
      static_cast<unsigned>(Personal::no_cookie) | static_cast<unsigned>(Personal::field);
  unsigned bits() const noexcept { return bits_.load(std::memory_order_relaxed); }
  std::atomic<std::uint8_t> bits_ = 0;
};

}  // namespace katana::session

namespace katana {

// The personal mark of a reply whose handler takes FromContext<T>. A program sets `none` for a type
// that is the same for every client that requests the same host and path:
//
//   template <>
//   inline constexpr katana::session::Personal katana::personal_value<Tenant> =
//       katana::session::Personal::none;
template <class T>
inline constexpr session::Personal personal_value = session::Personal::value;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
