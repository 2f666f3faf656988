// ReactorGroup: the threads, signals and the end of a program whose reactors somebody else made.
//
// Owns       the threads of all reactors but the first, which runs on the caller's.
// Borrows    the reactors, which must outlive it.
// Thread     one; blocks SIGINT and SIGTERM from construction on.
// Fails      watch_signals() is an Error; run() throws std::system_error when there is no thread to
//            be had.
// Invariant  the first signal drains every reactor, the second ends them at once. When run()
//            returns no reactor runs.
#pragma once

#include <memory>
#include <vector>

#include "katana/base/instant.hpp"
#include "katana/base/result.hpp"
#include "katana/core/reactor.hpp"

namespace katana::host {

class ReactorGroup {
 public:
  ReactorGroup(std::vector<core::Reactor*> reactors, bool pin, Duration drain_timeout);
  ~ReactorGroup();
  ReactorGroup(const ReactorGroup&) = delete;
  ReactorGroup& operator=(const ReactorGroup&) = delete;

  // Once the first reactor has started.
  Result<void> watch_signals();
  // Until every reactor has stopped.
  void run();

 private:
  struct Worker;
  class Signals;

  void start_threads();
  void on_signal() noexcept;
  void wait_for_threads();

  const std::vector<core::Reactor*> reactors_;
  const bool pin_;
  const Duration drain_timeout_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Signals> signals_;
  bool draining_ = false;
};

// The calling thread to the n-th CPU that this process may use, counted around.
void pin_to_cpu(unsigned index) noexcept;

}  // namespace katana::host
