// ResponseStream: a reply whose content is read piece by piece.
//
//   Result<client::ResponseStream> stream = co_await http.open(client::Request(url));
//   while (true) {
//     Result<Text> piece = co_await stream->read();
//     if (!piece || piece->empty()) break;   // an error, or the end
//
// Owns       the call, which occupies a connection or stream until the content is read to its end.
// Thread     its reactor's; destroy it before the reactor.
// Allocates  from the recycler.
// Fails      read() is an Error when the connection is lost, or the server sends nothing for the
//            timeout of the request. A request is not sent again once its reply has begun.
// Invariant  at most stream_bytes_max and one receive are held; then the server must wait for the
//            reader. Destroying it before the end resets the connection, or the stream (HTTP/2).
#pragma once

#include <memory>
#include <utility>

#include "katana/base/result.hpp"
#include "katana/base/task.hpp"
#include "katana/base/text.hpp"
#include "katana/client/call.hpp"

namespace katana::client {

class ResponseStream {
 public:
  // A request and its call, which refers to it.
  struct Exchange {
    Exchange(ReactorContext& context, Outgoing request, Instant deadline, Duration timeout)
        : outgoing(std::move(request)),
          call(context, outgoing, Call::Wanted::head, deadline, timeout) {}
    Outgoing outgoing;
    Call call;
  };

  explicit ResponseStream(std::unique_ptr<Exchange> exchange) noexcept
      : exchange_(std::move(exchange)) {}

  // Status and fields.
  const Response& head() const noexcept { return exchange_->call.response(); }
  // The content received since, at least one byte; empty at the end. REQUIRES that no other read()
  // waits.
  Task<Result<Text>> read();

 private:
  std::unique_ptr<Exchange> exchange_;
};

}  // namespace katana::client
