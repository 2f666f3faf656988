// ContentSource: the body of a request, read piece by piece while it is sent.
//
//   client::Request("PUT", url).content([&]() -> Task<Result<Text>> { co_return next_piece(); },
//                                       "application/octet-stream")
//
// Owns       its source of data. The request shares it until the reply has arrived.
// Thread     the thread of the reactor on which the request was awaited; read() resumes there.
// Allocates  each piece; one is held at a time.
// Fails      an Error of read() ends the request, with that error.
// Invariant  read() is called again only after its task has ended and the piece was sent, as fast
//            as the server takes it. A piece is read once, unless restart() returned true.
#pragma once

#include <functional>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/text.hpp"

namespace katana::client {

class ContentSource {
 public:
  virtual ~ContentSource() = default;
  // Returns the next piece, of any size; empty at the end.
  virtual Task<Result<Text>> read() = 0;
  // Begins again, for a retry or a redirect. Returns false if it cannot; the request is then not
  // sent again.
  virtual bool restart() { return false; }
};

// A source that calls a function.
class FunctionSource final : public ContentSource {
 public:
  using Read = std::function<Task<Result<Text>>()>;  // an empty Text ends the body
  explicit FunctionSource(Read read) : read_(std::move(read)) {}
  Task<Result<Text>> read() override { return read_(); }

 private:
  const Read read_;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
