// ResponseStream: a reply with a body that is read piece by piece.
//
//   Result<client::ResponseStream> stream = co_await http.open(client::Request(url));
//   while (true) {
//     Result<Text> piece = co_await stream->read();
//     if (!piece || piece->empty()) break;   // an error, or the end
//
// Owns       the call, which occupies a connection or stream until the body is read to its end.
// Thread     its reactor's; destroy it before the reactor.
// Allocates  from the recycler.
// Fails      read() returns an Error when the connection is lost, or when the server sends nothing
//            for the timeout of the request. A request is not sent again once its reply has begun.
// Invariant  at most stream_bytes_max and one receive are held; then the server must wait for the
//            reader. Destroying it before the end resets the connection, or the stream (HTTP/2).
#pragma once

#include <memory>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/text.hpp"
#include "katana/http/client/content_decoding.hpp"
#include "katana/http/client/exchange.hpp"
#include "katana/http/coding/codec.hpp"

namespace katana::client {

class ResponseStream {
 public:
  // `codecs`: decode the body; borrowed for the call.
  ResponseStream(std::unique_ptr<Exchange> exchange, const coding::Codecs& codecs);

  // Status and fields.
  const Response& head() const noexcept { return exchange_->call.response(); }
  // Returns the bytes received since the last call, at least one; empty at the end. REQUIRES that
  // no other read() waits.
  Task<Result<Text>> read();

 private:
  Task<Result<Text>> read_coded();
  Task<Result<Text>> read_decoded();

  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<ContentDecoder> decoder_;  // null: the content is given as it is
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
