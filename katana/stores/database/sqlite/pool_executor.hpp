// PoolExecutor: threads of a thread::Pool as an Executor: each message runs on one of them.
//
// Owns       the pool.
// Thread     post() any.
// Allocates  the pool.
// Fails      create() returns the reason.
// Invariant  REQUIRES that its messages are fewer than the pool's queue has room for. The
//            destructor returns when all of them have run.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/thread/pool.hpp"

namespace katana::database::sqlite {

class PoolExecutor final : public Executor {
 public:
  // `name` is that of the threads. Fails if they cannot be started.
  static katana::Result<std::unique_ptr<PoolExecutor>> create(std::string name, unsigned threads) {
    auto pool = thread::Pool::create(
        {.name = std::move(name), .threads_min = threads, .queue_max = 2 * std::size_t{threads}});
    if (!pool) return std::unexpected(pool.error());
    return std::unique_ptr<PoolExecutor>(new PoolExecutor(*std::move(pool)));
  }

  void post(Message& message) noexcept override {
    const thread::Admission admission =
        pool_->post([message = &message] { message->run(*message); });
    KATANA_CHECK(admission == thread::Admission::accepted);
  }

 private:
  explicit PoolExecutor(std::unique_ptr<thread::Pool> pool) noexcept : pool_(std::move(pool)) {}
  std::unique_ptr<thread::Pool> pool_;
};

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
