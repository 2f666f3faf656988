// An Exchange is a request and the call that carries it. The function perform() sends a request,
// with its retries and redirects, until there is a reply for the caller.
//
// Owns       an Exchange its Outgoing and Call; the call refers to the Outgoing.
// Borrows    the ReactorPool, which outlives every call of its reactor.
// Thread     its reactor's.
// Allocates  from the recycler.
// Fails      with an Error that begins with method and URL.
// Invariant  one deadline holds for all attempts and hops. Destroying the task cancels the attempt.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/memory/recycler.hpp"
#include "katana/base/system/result.hpp"
#include "katana/http/client/call.hpp"
#include "katana/http/client/outgoing.hpp"
#include "katana/http/client/reactor_pool.hpp"
#include "katana/http/client/request.hpp"
#include "katana/http/client/upload.hpp"

namespace katana::client {

// A request on its way: its bytes, its call of a connection, and its upload if it has one.
struct Exchange {
  Exchange(ReactorContext& context, Outgoing request, Call::Wanted wanted, Instant deadline,
           Duration timeout)
      : outgoing(std::move(request)), call(context, outgoing, wanted, deadline, timeout) {
    if (outgoing.source != nullptr) upload.emplace(context, call);
  }
  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycler::release(memory, bytes);
  }

  Outgoing outgoing;             // the request, unchanged by retries
  std::optional<Upload> upload;  // if there is a source; outlives the call that refers to it
  Call call;                     // the attempt that is under way, or the last one
  std::optional<Call> second;    // of a hedged request
  Call* reply = &call;           // the one that counts
};

// With Wanted::whole the reply is complete, and decoded if the request asks for that. With
// Wanted::head the caller can read the body from the call.
Task<Result<std::unique_ptr<Exchange>>> perform(ReactorPool& pool, Request request,
                                                Call::Wanted wanted);

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
