// TurnExecutor: runs the work of a database in the turns of the calling reactor. A test then has no
// thread of the database, and time stands still during the work.
//
// Owns       a thread, made for the first work outside of a turn, such as the end of a database.
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
  // Returns when its thread has run all posted messages.
  ~TurnExecutor() = default;

  void post(Message& message) noexcept override;

 private:
  std::mutex mutex_;  // guards outside_
  std::unique_ptr<thread::Pool> outside_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
