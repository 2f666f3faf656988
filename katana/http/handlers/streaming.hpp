// ContentReader and ReplyWriter: the streaming forms of content and reply, for coroutines.
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
// Owns       pieces that were read belong to the handler; what is written is copied.
// Borrows    a piece that for_each() shows, from where it was received: for the call that it is
//            shown to.
// Thread     its reactor's.
// Allocates  from the recycler.
// Fails      read() throws std::runtime_error for content that decompression() cannot decode: a
//            handler that lets it pass before begin() has it answered with 400 or 413. So does
//            for_each(), which also throws what its callable throws. Otherwise never: when the
//            client leaves, sends malformed content or is too slow, the coroutine is destroyed
//            where it waits. A handler that throws before begin() is answered with 500; later the
//            connection is reset.
// Invariant  the client is read only as fast as the handler asks, and written only as fast as it
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

// What a streaming handler and its exchange share; lives as long as the exchange.
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
  // The handler is done, and its reply ends when everything is written. May destroy this object.
  void end() noexcept;
  // What the middleware of the route makes of a reply's head.
  virtual void run_middleware(Reply& reply) = 0;

  session::Exchange& exchange_;
  Text received_;
  Bytes unwritten_;
  Waiting reader_;
  Waiting writer_;
  Visit visit_ = nullptr;  // null: the reader wants its own pieces
  void* visitor_ = nullptr;
  std::exception_ptr visit_failure_;  // thrown where the reader goes on
  std::size_t wanted_ = 1;
  std::size_t taken_bytes_ = 0;               // the piece that the handler has
  std::size_t noted_bytes_ = 0;               // and what it says that it keeps
  std::uint64_t left_ = 0;                    // of the content that begin() announced
  std::unique_ptr<ContentDecoder> decoder_;   // null: the content has no coding
  std::shared_ptr<coding::Encoder> encoder_;  // null: neither has the reply
  Text coded_;                                // and has not found room yet
  const bool has_middleware_;
  bool begun_ = false;
  bool ending_ = false;  // the handler is done
  bool ended_;           // the content of the request

 private:
  void begin_with(const Reply& reply, std::int64_t length);
  // False: no room. Throws what the handler did wrong.
  bool write(Bytes content);
  // False: no room. Throws for want of memory.
  bool take(Bytes content);
  bool send_coded() noexcept;
  // There is enough to read, or nothing will come any more.
  bool has_received(std::size_t wanted) noexcept;
  void decode(std::size_t wanted) noexcept;
  // Shows what there is, and keeps nothing of it. True: it was the last. Throws what `visit` does.
  bool visit_received(Visit visit, void* visitor);
  // Content comes while the reader waits in for_each().
  bool show_content(Bytes piece, bool last) noexcept;
  void throw_if_malformed() const;
  void report(Bytes what) noexcept;
};

}  // namespace detail

// The content of a request, in pieces, as a coroutine wants them. The coroutine is destroyed when
// the client leaves or is too slow. Its reactor's thread.
class ContentReader {
 public:
  explicit ContentReader(detail::Stream& stream) noexcept : stream_(&stream) {}
  // The next piece; empty at the end. The first read asks the client to go on, if it waits for that
  // (Expect).
  auto read() noexcept { return detail::Stream::ReadAwaiter{*stream_, 1}; }
  // All that is left if it is less than `bytes`, else at least so much.
  auto read_at_least(std::size_t bytes) noexcept {
    return detail::Stream::ReadAwaiter{*stream_, bytes};
  }
  // Shows all that is left to `visit`, piece by piece as it is received, without a copy: a piece is
  // gone when `visit` returns, which cannot wait. A variable, because it is called until the end.
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
  // Everything has been received; what read() did not return yet comes with the next one.
  bool ended() const noexcept { return stream_->ended_; }
  // What the handler keeps of what it has read, which counts as memory that the client holds.
  void note_kept(std::size_t bytes) noexcept { stream_->noted_bytes_ = bytes; }
  // What the request says its content's size is.
  std::optional<std::uint64_t> length() const noexcept {
    if (stream_->decoder_ != nullptr) return std::nullopt;  // it is that of what is coded
    return stream_->exchange_.content_length();
  }

 private:
  detail::Stream* stream_;
};

// The reply of a coroutine that streams, with backpressure. Its reactor's thread.
class ReplyWriter {
 public:
  explicit ReplyWriter(detail::Stream& stream) noexcept : stream_(&stream) {}
  // Sends status, type and fields and, of `reply`, nothing else: its content is what write() adds
  // until the coroutine ends. `length` when it is known, which the content then must have. Throws
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

// A whole reply through a writer: text, JSON, a problem, a file. Throws std::logic_error for one
// whose source waits for more than room, as events do: a handler returns those.
Task<void> send(ReplyWriter writer, Reply whole);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
