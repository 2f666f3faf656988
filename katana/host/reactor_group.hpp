// ReactorGroup: the threads, signals and the end of a program whose reactors somebody else made.
//
// Owns       the threads of all reactors but the first, which runs on the caller's.
// Borrows    the reactors, which must outlive it.
// Thread     one; blocks SIGINT and SIGTERM, and with on_reload SIGHUP, from construction on.
//            on_reload and on_drain are called by the first reactor's thread, and must not block.
// Fails      watch_signals() is an Error; run() throws std::system_error when there is no thread to
//            be had.
// Invariant  the first signal drains every reactor once drain_notice is over, the second ends them
//            at once. When run() returns no reactor runs.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "katana/base/instant.hpp"
#include "katana/base/result.hpp"
#include "katana/core/reactor.hpp"

namespace katana::host {

struct ReactorGroupOptions {
  bool pin = false;
  Duration drain_timeout = seconds(10);
  // From the signal to the moment in which nothing new is accepted, so that whoever sends requests
  // here hears of it before.
  Duration drain_notice = {};
  std::function<void()> on_drain = {};   // the first signal; before drain_notice
  std::function<void()> on_reload = {};  // SIGHUP; none: it is left alone
};

class ReactorGroup {
 public:
  ReactorGroup(std::vector<core::Reactor*> reactors, ReactorGroupOptions options);
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
  struct Notice : core::TimerEntry {
    explicit Notice(ReactorGroup& owner) noexcept;
    ReactorGroup& group;
  };

  void start_threads();
  void on_signal(int signal) noexcept;
  void drain() noexcept;
  void wait_for_threads();

  const std::vector<core::Reactor*> reactors_;
  const ReactorGroupOptions options_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Signals> signals_;
  Notice notice_{*this};
  bool told_ = false;  // to end
};

// The calling thread to the n-th CPU that this process may use, counted around.
void pin_to_cpu(unsigned index) noexcept;

}  // namespace katana::host
