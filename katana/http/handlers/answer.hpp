// Answer<T>: the result of a handler, or of a function that a handler calls: a value, or the reply
// that refuses the request.
//
//   Task<Answer<Booking>> own_booking(int id, Principal who) {
//     KATANA_CO_TRY(Booking booking, co_await load(id));
//
//     if (booking.user != who.id()) co_return std::unexpected(problem(403, "…"));
//     co_return booking;
//   }
//
//   Task<Answer<Json<Booking>>> show(Path<int> id, FromContext<Principal> who) {
//     KATANA_CO_TRY(Booking booking, co_await own_booking(*id, *who));
//   …
//
// An Error that is passed on becomes the problem document that problem(error) makes. Middleware and
// FromRequest<T>::from() may return an Answer, too.
//
// Owns       the value or the reply.
// Thread     a value.
// Allocates  as the value and the reply.
// Fails      never.
// Invariant  the reply to a refused request is the one that was given, whatever functions pass it
//            on. In database::transact() it rolls the transaction back.
#pragma once

#include <expected>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/http/handlers/reply.hpp"

namespace katana {

// The reply in place of a value.
class Refused {
 public:
  Refused(Reply reply) noexcept : reply_(std::move(reply)) {}
  Refused(const Error& error) : reply_(problem(error)) {}

  const Reply& reply() const& noexcept { return reply_; }  // what is sent
  Reply reply() && noexcept { return std::move(reply_); }  // leaves it empty

 private:
  Reply reply_;
};

// A value, or the reply that refuses the request.
template <class T>
using Answer = std::expected<T, Refused>;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
