// CancelRequest: asks the server to end the statement that a connection runs.
//
// The request has its own connection to the server, and is over when the server closes it. A server
// that vanished never does. Therefore each request has its own thread, which no caller waits for.
//
// Owns       the key; its thread as long as that runs.
// Borrows    the executor, until it is answered or abandoned.
// Thread     the executor's; the request is made on its own thread.
// Allocates  itself and a thread.
// Fails      start() is null: requests_max run already, or there is no thread.
// Invariant  its message is posted once, unless abandon() came first.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "katana/base/coroutine/executor.hpp"
#include "katana/stores/database/postgres/link.hpp"
#include "katana/stores/database/postgres/shared.hpp"

namespace katana::database::postgres {

class CancelRequest final : public Message {
 public:
  using Handle = std::unique_ptr<const CancelKey>;  // of Link::cancel_key()
  // Threads that cancel at once; further requests are not sent.
  static constexpr unsigned requests_max = 4;

  // `running`: the number of requests that run. The pool is told the number of the connection.
  static std::shared_ptr<CancelRequest> start(
      Handle handle, Executor& executor, std::shared_ptr<PoolHandle> pool, std::uint64_t connection,
      const std::shared_ptr<std::atomic<unsigned>>& running) noexcept;

  // The pool is not told of the answer any more.
  void abandon() noexcept;
  bool is_answered() const noexcept { return answered_; }

 private:
  CancelRequest(Handle handle, Executor& executor, std::shared_ptr<PoolHandle> pool,
                std::uint64_t connection) noexcept;
  static void arrive(Message& message) noexcept;
  void run() noexcept;

  enum : std::uint32_t { pending, posted, abandoned };

  const Handle handle_;
  Executor& executor_;
  const std::shared_ptr<PoolHandle> pool_;
  const std::uint64_t connection_;
  std::shared_ptr<CancelRequest> self_;  // until the message has arrived
  std::atomic<std::uint32_t> word_ = pending;
  bool answered_ = false;
  bool is_over_ = true;  // written before the message is posted
};

// The time for each step of a request.
inline constexpr Duration cancel_wait = seconds(10);
// Makes the request, and waits until the server closes the connection, for at most cancel_wait at
// each step. A failure changes nothing: the statement ends by its timeout, or the connection does.
// False: the server may still read the request later, and cancel what runs then.
// Source: PostgreSQL 18, "Canceling Requests in Progress".
bool send_cancel_request(const CancelKey& key) noexcept;

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
