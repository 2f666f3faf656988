// ReactorGroup: the threads, signals and shutdown of a program with given reactors.
//
// Owns       the threads of all reactors but the first, which runs on the caller's thread. Another
//            thread waits for signals: they are obeyed even when all reactors are busy.
// Borrows    the reactors, which must outlive it.
// Thread     one; blocks SIGINT and SIGTERM from construction on, with on_reload also SIGHUP and
//            with on_restart also SIGUSR2. The first reactor's thread calls on_reload, on_restart
//            and on_drain, which must not block. The thread that waits for signals calls on_told
//            and on_stuck.
// Fails      watch_signals() returns an Error; run() throws std::system_error when no thread is
//            available.
// Invariant  the first signal drains every reactor once drain_notice is over, the second ends them
//            at once. When run() returns no reactor runs. A reactor must end within `stop_grace`
//            after the second signal, or after drain_timeout. If it is still in a turn that began
//            before, it is stuck in a handler that only the end of the process can end. Then
//            on_stuck() is called, and the process ends with status 1, without destructors. A
//            reactor with a turn that began later is resetting its connections, and has some
//            seconds.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/net/reactor/handover.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::server {

// The time that a reactor may take when it must end at once.
inline constexpr Duration stop_grace = milliseconds(500);

// Placement of the threads, times of the end, and callbacks.
struct ReactorGroupOptions {
  // The CPU of each reactor's thread, in the order of place_reactors(); empty: the kernel's choice.
  std::vector<int> cpus = {};
  Duration drain_timeout = seconds(10);
  // The time from the signal to the end of accepting. Clients of this server learn of the shutdown
  // meanwhile.
  Duration drain_notice = {};
  std::function<void()> on_told = {};   // the first signal, whatever the reactors are doing
  std::function<void()> on_drain = {};  // the first signal; before drain_notice
  // Called when drain_notice is over: connections that can still reach a listener are accepted, and
  // then the listeners close. Once, on any thread; it uses no descriptor.
  std::function<void()> on_closing = {};
  std::function<void()> on_reload = {};  // SIGHUP; none: it is not handled
  // Called for SIGUSR2, unless the group ends already; none: it is not handled. If a process has
  // several groups, one of them is called.
  std::function<void()> on_restart = {};
  // Called just before the process ends because these reactors are stuck. By their numbers.
  std::function<void(const std::vector<unsigned>&)> on_stuck = {};
  // True if on_told and on_stuck use no descriptor but standard output and error. The thread that
  // waits for signals then leaves the descriptor table of a program with one reactor. The system
  // calls of the reactor are then as cheap as in a process of one thread (decision 0007).
  bool callbacks_only_print = false;
  // No thread is started and no signal handled. The caller turns the reactors until all have
  // stopped, and run() then returns at once. shutdown() drains as usual, on the first reactor's
  // thread.
  bool turned_by_caller = false;
};

class ReactorGroup {
 public:
  ReactorGroup(std::vector<net::Reactor*> reactors, ReactorGroupOptions options);
  ~ReactorGroup();
  ReactorGroup(const ReactorGroup&) = delete;
  ReactorGroup& operator=(const ReactorGroup&) = delete;

  // Call it once the first reactor has started. An Error when no thread is available.
  Result<void> watch_signals();
  // Returns when every reactor has stopped.
  void run();
  // Begins the shutdown as SIGTERM does, once watch_signals() has succeeded. A second call does
  // nothing. Any thread.
  void shutdown() noexcept;
  // Another process has taken these listeners: drains by that (net/reactor/handover.hpp), with an
  // element for each reactor. on_told, on_drain and drain_notice do not apply. Call it once; it
  // does nothing if the shutdown has begun. Any thread.
  void hand_over(std::vector<net::Handover> handovers) noexcept;
  // True if the reactor has ended: its counters may be read. Any thread.
  bool ended(unsigned reactor) const noexcept;
  // True if the group drains: listeners may be closed. Any thread.
  bool draining() const noexcept { return draining_.load(std::memory_order_acquire); }
  // The signal that began the shutdown: SIGTERM or SIGINT; 0: shutdown() began it, or the group
  // serves. It is set before on_told and on_drain. Any thread.
  int ended_by() const noexcept { return ended_by_.load(std::memory_order_acquire); }

 private:
  class Signals;
  class Ending;

  void start_threads();
  // Binds the calling thread, which is the reactor's.
  void bind(unsigned reactor) const noexcept;
  void drain() noexcept;
  void stop() noexcept;
  std::vector<unsigned> running() const;

  const std::vector<net::Reactor*> reactors_;
  const ReactorGroupOptions options_;
  std::vector<std::thread> threads_;
  std::vector<std::atomic<bool>> ended_;  // by reactor
  std::atomic<bool> draining_ = false;
  std::atomic<bool> shutdown_ = false;
  std::atomic<int> ended_by_ = 0;
  std::mutex handover_mutex_;             // of handovers_ until draining_
  std::vector<net::Handover> handovers_;  // by reactor; empty: no handover
  std::unique_ptr<Signals> signals_;      // null: turned by the caller, with `ending_`
  std::unique_ptr<Ending> ending_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
