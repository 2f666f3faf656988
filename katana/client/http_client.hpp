// HttpClient: asks HTTP servers from handlers and programs, on the reactor that it is used on.
//
//   Task<Json<Weather>> weather(client::HttpClient& http) {
//     auto reply = co_await http.fetch(client::Request("https://example.org/"));
//
// Owns       options, trust, and the threads that look names up. Connections belong to the reactor
//            that they are on, and may be kept there for longer than this.
// Thread     any number of reactors may use one; a request is sent, and its coroutine goes on, on
//            the reactor that it was awaited on. REQUIRES core::Reactor::current().
// Allocates  for each request, mostly from the recycler.
// Fails      with an Error that begins with method and URL, and says what happened and what to do.
//            A reply of any status is no failure.
// Invariant  destroying the coroutine cancels the request. A connection of HTTP/1.1 is used again
//            only after a whole reply, with nothing unread; one of HTTP/2 outlives what is
//            cancelled. TLS verifies chain and name.
#pragma once

#include <cstdint>
#include <memory>

#include "katana/base/result.hpp"
#include "katana/base/task.hpp"
#include "katana/client/options.hpp"
#include "katana/client/request.hpp"
#include "katana/client/response.hpp"
#include "katana/client/response_stream.hpp"
#include "katana/core/reactor.hpp"

namespace katana::client {

class Shared;

struct ClientCounters {
  std::uint64_t calls = 0;               // requests that were asked for
  std::uint64_t retries = 0;             // times that one was sent again
  std::uint64_t failures = 0;            // requests that ended in an error
  std::uint64_t connections = 0;         // at present
  std::uint64_t handshakes = 0;          // of TLS, complete
  std::uint64_t handshakes_resumed = 0;  // of those, without a certificate or a key exchange anew
};

class HttpClient {
 public:
  // Reads the authorities of TLS, which takes some milliseconds.
  static Result<HttpClient> make(HttpClientOptions options = {});

  // The whole reply; its content is limited by content_bytes_max.
  Task<Result<Response>> fetch(Request request) const;
  // The head of the reply; the content is read from the stream, of any size, in bounded memory.
  Task<Result<ResponseStream>> open(Request request) const;

  // Of one reactor; on its thread.
  ClientCounters counters(core::Reactor& reactor) const;

 private:
  explicit HttpClient(std::shared_ptr<const Shared> shared) noexcept;
  std::shared_ptr<const Shared> shared_;
};

}  // namespace katana::client
