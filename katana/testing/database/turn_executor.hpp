// TurnExecutor: runs what a database does in the turns of the reactor that asks for it, so that a
// test has no thread of the database, and time stands still while it works.
//
// Owns       a thread, made when somebody asks for something outside of a turn, as the end of a
//            database does.
// Thread     post() any.
// Allocates  that thread.
// Fails      aborts without the thread.
// Invariant  a message runs in a turn after the one that posted it, on the same thread.
#pragma once

#include <memory>
#include <mutex>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/thread/pool.hpp"

namespace katana::testing {

class TurnExecutor final : public Executor {
 public:
  TurnExecutor() = default;
  // Returns when its thread has run what was posted.
  ~TurnExecutor() = default;

  void post(Message& message) noexcept override;

 private:
  std::mutex mutex_;  // guards outside_
  std::unique_ptr<thread::Pool> outside_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
