// ContentReader and ReplyWriter: request body and reply as streams, for coroutines.
//
//   Task<void> echo(Request request, ContentReader content, ReplyWriter reply) {
//     reply.begin(200, "application/octet-stream");
//     for (;;) {
//       Text piece = co_await content.read();
//       if (piece.empty()) co_return;
//       co_await reply.write(piece.bytes());
//     }
//   }
//
// Owns       the handler owns the pieces that it reads; written bytes are copied.
// Borrows    a piece that for_each() shows, from the input buffer, for the call of the visitor.
// Thread     its reactor's.
// Allocates  from the recycler.
// Fails      read() throws std::runtime_error for a body that decompression() cannot decode. If
//            this exception leaves the handler before begin(), the reply is 400 or 413. for_each()
//            throws the same, and any exception of its callable. There is no other error. When the
//            client leaves, sends malformed content or is too slow, the coroutine is destroyed
//            where it waits. A handler that throws before begin() is answered with 500; later the
//            connection is reset.
// Invariant  the client is read only as fast as the handler reads, and written only as fast as it
//            reads.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/text/text.hpp"
#include "katana/http/handlers/decompression.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/session/exchange.hpp"

namespace katana {

class ContentReader;
class ReplyWriter;
struct SavedFile;
struct SaveOptions;

namespace detail {

// State that a streaming handler and its exchange share; lives as long as the exchange.
class Stream : public session::Pending {
 public:
  Stream(session::Exchange& exchange, bool has_middleware) noexcept
      : exchange_(exchange), has_middleware_(has_middleware), ended_(!exchange.content_pending()) {}

  bool on_content(Bytes piece, bool last) noexcept override;
  void on_writable() noexcept override;
  std::size_t held_bytes() const noexcept override {
    return received_.capacity() + coded_.capacity() + taken_bytes_ + noted_bytes_ +
           (decoder_ != nullptr ? decoder_->held_bytes() : 0);
  }

  struct ReadAwaiter {
    Stream& stream;
    std::size_t wanted;
    bool await_ready() const noexcept { return stream.has_received(wanted); }
    void await_suspend(std::coroutine_handle<> handle) const noexcept {
      stream.reader_ = handle;
      stream.wanted_ = wanted;
      stream.exchange_.want_content();
    }
    Text await_resume() const {
      if (stream.decoder_ != nullptr) stream.throw_if_malformed();
      stream.taken_bytes_ = stream.received_.capacity();
      return std::exchange(stream.received_, Text());
    }
  };
  using Visit = void (*)(void* visitor, Bytes piece);
  struct VisitAwaiter {
    Stream& stream;
    Visit visit;
    void* visitor;
    bool await_ready() const { return stream.visit_received(visit, visitor); }
    void await_suspend(std::coroutine_handle<> handle) const noexcept {
      stream.reader_ = handle;
      stream.visit_ = visit;
      stream.visitor_ = visitor;
      stream.exchange_.want_content();
    }
    void await_resume() const {
      if (stream.visit_failure_ != nullptr) {
        std::rethrow_exception(std::exchange(stream.visit_failure_, nullptr));
      }
      if (stream.decoder_ != nullptr) stream.throw_if_malformed();
    }
  };
  struct WriteAwaiter {
    Stream& stream;
    Bytes content;
    bool await_ready() const { return stream.write(content); }
    void await_suspend(std::coroutine_handle<> handle) const noexcept {
      stream.writer_ = handle;
      stream.unwritten_ = content;
    }
    void await_resume() const noexcept {}
  };

 protected:
  friend class katana::ContentReader;
  friend class katana::ReplyWriter;

  void begin(const Reply& reply, std::int64_t length);
  // The handler has ended; its reply ends when everything is written. May destroy this object.
  void end() noexcept;
  // Runs the middleware of the route on the head of a reply.
  virtual void run_middleware(Reply& reply) = 0;

  session::Exchange& exchange_;
  Text received_;
  Bytes unwritten_;
  Waiting reader_;
  Waiting writer_;
  Visit visit_ = nullptr;  // null: the reader wants its own pieces
  void* visitor_ = nullptr;
  std::exception_ptr visit_failure_;  // thrown when the reader continues
  std::size_t wanted_ = 1;
  std::size_t taken_bytes_ = 0;               // the piece that the handler got last
  std::size_t noted_bytes_ = 0;               // the bytes that it noted with note_kept()
  std::uint64_t left_ = 0;                    // the rest of the length that begin() announced
  std::unique_ptr<ContentDecoder> decoder_;   // null: the content has no coding
  std::shared_ptr<coding::Encoder> encoder_;  // null: the reply has no coding
  Text coded_;                                // coded, and waits for room
  const bool has_middleware_;
  bool begun_ = false;
  bool ending_ = false;  // the handler is done
  bool ended_;           // the content of the request

 private:
  void begin_with(const Reply& reply, std::int64_t length);
  // Returns false if there is no room. Throws for a mistake of the handler.
  bool write(Bytes content);
  // Returns false if there is no room. Throws if there is no memory.
  bool take(Bytes content);
  bool send_coded() noexcept;
  // Enough can be read, or nothing more will arrive.
  bool has_received(std::size_t wanted) noexcept;
  void decode(std::size_t wanted) noexcept;
  // Passes the received bytes to `visit`, and keeps none. Returns true if they were the last.
  // Rethrows exceptions of `visit`.
  bool visit_received(Visit visit, void* visitor);
  // Content arrives while the reader waits in for_each().
  bool show_content(Bytes piece, bool last) noexcept;
  void throw_if_malformed() const;
  void report(Bytes what) noexcept;
};

}  // namespace detail

// The body of a request, in pieces, for a coroutine. The coroutine is destroyed when the client
// leaves or is too slow. Its reactor's thread.
class ContentReader {
 public:
  explicit ContentReader(detail::Stream& stream) noexcept : stream_(&stream) {}
  // Reads the next piece; empty at the end. If the client sent Expect, the first read tells it to
  // send the body.
  auto read() noexcept { return detail::Stream::ReadAwaiter{*stream_, 1}; }
  // Reads all that is left if it is less than `bytes`, otherwise at least this many bytes.
  auto read_at_least(std::size_t bytes) noexcept {
    return detail::Stream::ReadAwaiter{*stream_, bytes};
  }
  // Passes all that is left to `visit`, piece by piece as it is received, without a copy. A piece
  // is gone when `visit` returns, and `visit` cannot wait. It must be a variable, because it is
  // called until the end.
  template <class Visitor>
  auto for_each(Visitor& visit) noexcept {
    static_assert(std::is_invocable_r_v<void, Visitor&, Bytes>,
                  "for_each() takes a callable of a Bytes that returns nothing and does not wait");
    return detail::Stream::VisitAwaiter{
        *stream_, [](void* visitor, Bytes piece) { (*static_cast<Visitor*>(visitor))(piece); },
        &visit};
  }
  // Stores all that is left as a file; see save_content.hpp. `folder` outlives the call.
  Task<std::expected<SavedFile, Reply>> save_to(const Folder& folder, std::string name);
  Task<std::expected<SavedFile, Reply>> save_to(const Folder& folder, std::string name,
                                                SaveOptions options);
  // Everything has been received; the next read() returns the bytes that are left.
  bool ended() const noexcept { return stream_->ended_; }
  // Sets the bytes that the handler keeps of the body. They count as memory that the client holds.
  void note_kept(std::size_t bytes) noexcept { stream_->noted_bytes_ = bytes; }
  // The length of the body as the request states it.
  std::optional<std::uint64_t> length() const noexcept {
    if (stream_->decoder_ != nullptr) return std::nullopt;  // the length of coded bytes
    return stream_->exchange_.content_length();
  }

 private:
  detail::Stream* stream_;
};

// The reply of a coroutine that streams, with backpressure. Its reactor's thread.
class ReplyWriter {
 public:
  explicit ReplyWriter(detail::Stream& stream) noexcept : stream_(&stream) {}
  // Sends status, type and fields of `reply`, and nothing else. The body consists of the pieces of
  // write() until the coroutine ends. If `length` is given, the body must have this length. Throws
  // std::invalid_argument for a reply that is invalid(). The first call counts.
  void begin(const Reply& reply, std::int64_t length = http::unknown_length) {
    stream_->begin(reply, length);
  }
  void begin(unsigned status, Literal type, std::int64_t length = http::unknown_length) {
    begin(Reply(status, type, Text()), length);
  }
  // Returns when `content` is taken; it must live until then. Awaiting it throws std::logic_error
  // before begin(), and for more content than begin() announced.
  auto write(Bytes content) noexcept { return detail::Stream::WriteAwaiter{*stream_, content}; }

 private:
  detail::Stream* stream_;
};

// Sends a complete reply through a writer: text, JSON, a problem, a file. Throws std::logic_error
// for a reply whose source waits for more than room, as events do: a handler returns those.
Task<void> send(ReplyWriter writer, Reply whole);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
