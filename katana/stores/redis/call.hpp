// Call<T>: the awaitable of `co_await redis.get(key)`.
//
//   redis::Result<std::optional<std::string>> found = co_await redis.get("user:7");
//
// Owns       the command, and its place in the order of replies until the reply has come.
// Borrows    its Client, and a Script, until it is over.
// Thread     a reactor's.
// Allocates  one piece of the recycler, the command, and the reply.
// Fails      a Result, with an Error of its kind. Throws std::logic_error on a thread without a
//            reactor.
// Invariant  destroying the coroutine is safe at any time. A command that was not sent is then
//            never sent. The reply to a sent command is dropped, and given to no other call.
#pragma once

#include <coroutine>
#include <memory>
#include <optional>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/stores/redis/pending.hpp"
#include "katana/stores/redis/shared.hpp"

namespace katana::redis {

namespace detail {

// The part of a call that is the same for every type of reply.
class PlainCall {
 public:
  PlainCall(const std::shared_ptr<Shared>& shared, Command command, const CallOptions& options,
            const std::string* script) noexcept
      : shared_(shared), command_(std::move(command)), options_(options), script_(script) {}
  // REQUIRES that it has not begun.
  PlainCall(PlainCall&& other) noexcept
      : shared_(other.shared_),
        command_(std::move(other.command_)),
        options_(other.options_),
        script_(other.script_) {
    KATANA_REQUIRE(other.pending_ == nullptr && !other.refusal_);
  }
  PlainCall& operator=(PlainCall&&) = delete;
  ~PlainCall();

  // False: it has failed already.
  bool begin(std::coroutine_handle<> waiting);
  Result<Reply> take();

 private:
  const std::shared_ptr<Shared>& shared_;
  Command command_;
  const CallOptions options_;
  const std::string* const script_;
  Pending* pending_ = nullptr;
  std::optional<Error> refusal_;
  Instant began_ = {};
};

}  // namespace detail

template <class T>
class [[nodiscard]] Call {
 public:
  // Converts the reply. The name of the command is for the error of a reply of another type.
  using Convert = Result<T> (*)(Reply&& reply, Bytes command);

  Call(const std::shared_ptr<Shared>& shared, Command command, const CallOptions& options,
       Convert convert, const std::string* script = nullptr) noexcept
      : call_(shared, std::move(command), options, script), convert_(convert) {}
  Call(Call&&) noexcept = default;
  Call& operator=(Call&&) = delete;

  // The awaiter in the coroutine's frame while it waits.
  struct Awaiter {
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiting) { return call.call_.begin(waiting); }
    Result<T> await_resume() {
      Result<Reply> reply = call.call_.take();
      if (!reply) return std::unexpected(std::move(reply).error());
      return call.convert_(*std::move(reply), {});
    }
    Call& call;  // of the same co_await expression
  };
  Awaiter operator co_await() && noexcept { return {*this}; }

 private:
  detail::PlainCall call_;
  const Convert convert_;
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
