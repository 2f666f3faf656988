// ExchangeContext: the state that an observer keeps for one exchange, for use by the exchange.
//
// Owns       the state of the derived class.
// Borrows    reply_fields, from the derived class.
// Thread     its reactor's.
// Allocates  from the recycler.
// Fails      never.
// Invariant  it is the thread's activity while the exchange's handler, or a coroutine of the
//            handler, runs. It is also the activity while the observer is told of the exchange's
//            end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/memory/recycler.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::session {

class ExchangeContext : public Activity {
 public:
  virtual ~ExchangeContext() = default;
  // As http::ReplyHead::fields: additional fields of every reply to the exchange.
  Bytes reply_fields;

  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycler::release(memory, bytes);
  }
};

// A route of a service, as observers see it. Valid as long as the service.
struct RouteMark {
  std::string name;          // "GET /users/{id}"; a route for every method: "ANY …"
  std::string method;        // "GET", or "ANY"
  std::string pattern;       // "/users/{id}"
  std::uint32_t number = 0;  // in the order of registration, from 0
  Duration timeout = {};     // of its handlers; 0: HttpOptions::handler_timeout
  // Parameters of its query with secret values: no log shows them.
  std::vector<std::string> secret_parameters = {};
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
