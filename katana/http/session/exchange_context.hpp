// ExchangeContext: what an observer keeps for one exchange, and what the exchange does with it.
//
// Owns       what the derived class keeps.
// Borrows    reply_fields, from the derived class.
// Thread     its reactor's.
// Allocates  from the recycler.
// Fails      never.
// Invariant  it is the thread's activity while the exchange's handler, or a coroutine that it
//            began, runs, and while the observer is told of the exchange's end.
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
  // As http::ReplyHead::fields: what every reply to the exchange has beside its own.
  Bytes reply_fields;

  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycler::release(memory, bytes);
  }
};

// One of a service's routes, as observers know it. Stays as long as the service.
struct RouteMark {
  std::string name;          // "GET /users/{id}"; what serves every method: "ANY …"
  std::string method;        // "GET", or "ANY"
  std::string pattern;       // "/users/{id}"
  std::uint32_t number = 0;  // in the order of registration, from 0
  Duration timeout = {};     // of its handlers; 0: HttpOptions::handler_timeout
  // Of its query: no log shows their values.
  std::vector<std::string> secret_parameters = {};
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
