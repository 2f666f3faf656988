// Pools: the worker pools of a program, by name.
//
//   thread::Pool& pool = services.get<app::Pools>().work();
//
// Owns       the pools.
// Borrows    the observer of jobs that threw; it outlives the pools. Null: standard error.
// Thread     any, once made.
// Allocates  when made.
// Fails      make() names the pool and the option. at() of a name that is not configured names it,
//            and the names of all pools.
// Invariant  there is always the pool "work".
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "katana/app/settings.hpp"
#include "katana/base/system/failure.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/thread/pool.hpp"

namespace katana::app {

class Pools {
 public:
  // `stopped`: no thread is started, and no job accepted.
  static Result<std::unique_ptr<Pools>> make(const std::map<std::string, PoolSettings>& settings,
                                             FailureObserver* failures = nullptr,
                                             bool stopped = false);

  // The pool for work without its own pool.
  thread::Pool& work() const noexcept { return *work_; }
  Result<thread::Pool*> at(const std::string& name) const;
  const std::vector<std::unique_ptr<thread::Pool>>& all() const noexcept { return pools_; }
  // Runs the accepted jobs, and ends the threads.
  void stop() noexcept;

 private:
  Result<void> add(const std::string& name, const PoolSettings& settings);

  FailureObserver* failures_ = nullptr;
  bool stopped_ = false;
  std::vector<std::unique_ptr<thread::Pool>> pools_;
  thread::Pool* work_ = nullptr;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
