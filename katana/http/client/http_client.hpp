// HttpClient: sends HTTP requests from handlers and programs, on the reactor of its caller.
//
//   Task<Json<Weather>> weather(client::HttpClient& http) {
//     auto reply = co_await http.fetch(client::Request("https://example.org/"));
//
// Owns       options, trusted authorities, and threads for name resolution. Connections belong to
//            their reactor, and may outlive this object.
// Thread     any number of reactors may use one. A request is sent, and its coroutine resumes, on
//            the reactor where it was awaited. REQUIRES net::Reactor::current().
// Allocates  for each request, mostly from the recycler.
// Fails      with an Error that begins with method and URL, and states the cause and the remedy.
//            A reply of any status is a success.
// Invariant  destroying the coroutine cancels the request. A connection of HTTP/1.1 is used again
//            only after a complete reply, with nothing unread; one of HTTP/2 survives a cancelled
//            request. TLS verifies chain and name.
#pragma once

#include <cstdint>
#include <memory>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/http/client/options.hpp"
#include "katana/http/client/request.hpp"
#include "katana/http/client/response.hpp"
#include "katana/http/client/response_stream.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::client {

class Shared;

// Counters of one client on all reactors since it was made.
struct ClientCounters {
  std::uint64_t calls = 0;               // requests started
  std::uint64_t retries = 0;             // repeated attempts
  std::uint64_t failures = 0;            // requests that ended in an error
  std::uint64_t retries_denied = 0;      // retries and hedges that the budget did not allow
  std::uint64_t hedges = 0;              // second requests
  std::uint64_t hedges_won = 0;          // of those, that replied first
  std::uint64_t breaker_openings = 0;    // how often circuit breakers have opened
  std::uint64_t breaker_refusals = 0;    // requests that they did not let through
  std::uint64_t breakers_open = 0;       // open or half open now
  std::uint64_t connections = 0;         // open now
  std::uint64_t handshakes = 0;          // completed TLS handshakes
  std::uint64_t handshakes_resumed = 0;  // of those, resumed sessions
};

class HttpClient {
 public:
  // Reads the trusted authorities, which takes some milliseconds.
  static Result<HttpClient> make(HttpClientOptions options = {});

  // Fetches the complete reply; content_bytes_max limits its body.
  Task<Result<Response>> fetch(Request request) const;
  // Returns the head of the reply. The body, of any size, is read from the stream in bounded
  // memory.
  Task<Result<ResponseStream>> open(Request request) const;

  // The counters of one reactor. REQUIRES its thread.
  ClientCounters counters(net::Reactor& reactor) const;

 private:
  explicit HttpClient(std::shared_ptr<const Shared> shared) noexcept;
  std::shared_ptr<const Shared> shared_;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
