// Call: one sending of a request and what comes of it. A coroutine waits for it.
//
//   waits ──a connection──▶ on a connection ──▶ head ──▶ content … ──▶ over
//     └───────────┴──────────deadline, limit, loss──────────────────┘
//
// Owns       the response as far as it came, a timer, and its place in a list or on a connection.
// Borrows    the Outgoing and the ReactorPool.
// Thread     its reactor's.
// Fails      error() says what happened; repeat() whether the server can have done something.
// Invariant  the coroutine goes on from the reactor's turn, never inside a call of a session.
//            Destroying it withdraws: a connection that works for it is reset.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "katana/base/activity.hpp"
#include "katana/base/result.hpp"
#include "katana/client/outgoing.hpp"
#include "katana/client/response.hpp"
#include "katana/core/timer_wheel.hpp"

namespace katana::client {

class CallList;
class ClientConnection;
class OriginPool;
class ReactorPool;

// Whether a call that has failed may be sent again (RFC 9110 §9.2.2).
enum class Repeat : std::uint8_t {
  never,
  // Its connection was kept from before and ended before a byte of its reply: the server may have
  // done what it asks for, which does no harm if its method is idempotent.
  if_idempotent,
  // The server has said that it did nothing (RFC 9113 §8.7).
  always,
};

class Call final : private core::TimerEntry {
 public:
  // What a coroutine waits for; of content: that there is some, or no more.
  enum class Wanted : std::uint8_t { whole, head, content };

  // `timeout` covers the call until its head is there, and with Wanted::whole the content, too.
  // Whoever reads content piece by piece gives the server as long for each.
  Call(ReactorPool& pool, const Outgoing& outgoing, Wanted wanted, Instant deadline,
       Duration timeout) noexcept;
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Begins it, or waits for more of it.
  bool await_ready() noexcept;
  void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
  void await_resume() const noexcept {}

  // Once it has been awaited.
  bool failed() const noexcept { return error_.has_value(); }
  const Error& error() const noexcept { return *error_; }
  Repeat repeat() const noexcept { return repeat_; }
  bool done() const noexcept { return stage_ == Stage::done; }
  Response& response() noexcept { return response_; }
  void want(Wanted wanted) noexcept { wanted_ = wanted; }
  // Content that came since; the connection may bring more.
  Text take_content() noexcept;

  // ---- for connections and drivers
  const Outgoing& outgoing() const noexcept { return outgoing_; }
  Duration timeout() const noexcept { return timeout_; }
  // False: it has failed, and nobody is to bring it anything more.
  bool take_head(unsigned status, Text head) noexcept;
  void take_head(unsigned status, const http::Head& fields) noexcept;
  bool take_content(Bytes content) noexcept;
  // The content is read piece by piece: ClientConnection::on_content_read() tells how much of it.
  bool streams() const noexcept { return streams_; }
  // Nothing more is to be taken until some of it is read.
  bool is_full() const noexcept;
  void complete() noexcept;
  void fail(Error error, Repeat repeat) noexcept;
  void set_connection(ClientConnection& connection) noexcept {
    connection_ = &connection;
    stage_ = Stage::sent;
  }
  // The connection never was one: back to those that wait.
  void requeue() noexcept {
    connection_ = nullptr;
    stage_ = Stage::waiting;
  }
  // What the coroutine waits for has come.
  bool ready() const noexcept;
  // REQUIRES that a coroutine waits.
  void resume() noexcept { std::exchange(waiting_, Waiting()).resume(); }

 private:
  friend class CallList;
  enum class Stage : std::uint8_t { fresh, waiting, sent, head, done };

  static void on_timer(TimerEntry& entry) noexcept;
  void wake() noexcept;
  void leave() noexcept;
  void arm() noexcept;
  void begin_content() noexcept;
  bool is_behind() const noexcept;

  ReactorPool& pool_;
  const Outgoing& outgoing_;
  const bool streams_;
  Wanted wanted_;
  Stage stage_ = Stage::fresh;
  Repeat repeat_ = Repeat::never;
  const Instant deadline_;
  const Duration timeout_;
  ClientConnection* connection_ = nullptr;
  Waiting waiting_;
  std::optional<Error> error_;
  Response response_;
  // In at most one list: of those that wait for a connection, or of those to be gone on with.
  CallList* list_ = nullptr;
  Call* prev_ = nullptr;
  Call* next_ = nullptr;
};

// Calls in their order; a call leaves by itself when it is destroyed.
class CallList {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  void push_back(Call& call) noexcept;
  void push_front(Call& call) noexcept;
  void remove(Call& call) noexcept;
  // REQUIRES not empty().
  Call& pop_front() noexcept;

 private:
  Call* first_ = nullptr;
  Call* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace katana::client
