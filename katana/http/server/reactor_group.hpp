// ReactorGroup: the threads, signals and the end of a program with given reactors.
//
// Owns       the threads of all reactors but the first, which runs on the caller's; one that waits
//            for signals, so that no reactor has to move for a signal to be obeyed.
// Borrows    the reactors, which must outlive it.
// Thread     one; blocks SIGINT and SIGTERM, with on_reload SIGHUP and with on_restart SIGUSR2,
//            from construction on. on_reload, on_restart and on_drain are called by the first
//            reactor's thread, and must not block;
//            on_told and on_stuck by the one that waits for signals.
// Fails      watch_signals() is an Error; run() throws std::system_error when there is no thread to
//            be had.
// Invariant  the first signal drains every reactor once drain_notice is over, the second ends them
//            at once. When run() returns no reactor runs. A reactor that has not ended `stop_grace`
//            after the second signal, or after drain_timeout, and is in a turn that began before,
//            is stuck in a handler that does not return: nothing can end that but the end of the
//            process, so on_stuck() is called and the process ends with status 1, without
//            destructors. One whose turn began later is resetting its connections, and has some
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
#include "katana/net/reactor/reactor.hpp"

namespace katana::server {

// What a reactor may take to end when it has to end at once.
inline constexpr Duration stop_grace = milliseconds(500);

// Placement of the threads, times of the end, and callbacks.
struct ReactorGroupOptions {
  // The CPU of each reactor's thread, as place_reactors() has them; empty: the kernel's choice.
  std::vector<int> cpus = {};
  Duration drain_timeout = seconds(10);
  // From the signal to the moment in which nothing new is accepted, so that clients of this
  // server hear of it before.
  Duration drain_notice = {};
  std::function<void()> on_told = {};   // the first signal, whatever the reactors are doing
  std::function<void()> on_drain = {};  // the first signal; before drain_notice
  // drain_notice is over: what can still reach a listener is accepted, and then they close. Once,
  // on any thread; it uses no descriptor.
  std::function<void()> on_closing = {};
  std::function<void()> on_reload = {};  // SIGHUP; none: it is left alone
  // SIGUSR2, unless the group ends already; none: it is left alone. Among several groups in a
  // process one is called.
  std::function<void()> on_restart = {};
  // The last thing before the process ends because these reactors are stuck. By their numbers.
  std::function<void(const std::vector<unsigned>&)> on_stuck = {};
  // on_told and on_stuck use no descriptor but standard output and error. The thread that waits for
  // signals then leaves the descriptor table of a program with one reactor, whose system calls cost
  // what they cost in a process of one thread (decision 0007).
  bool callbacks_only_print = false;
  // No thread and no signal: the caller turns the reactors until all have stopped, and run() then
  // returns at once. shutdown() drains as ever, on the first reactor's thread.
  bool turned_by_caller = false;
};

class ReactorGroup {
 public:
  ReactorGroup(std::vector<net::Reactor*> reactors, ReactorGroupOptions options);
  ~ReactorGroup();
  ReactorGroup(const ReactorGroup&) = delete;
  ReactorGroup& operator=(const ReactorGroup&) = delete;

  // Once the first reactor has started. An Error when there is no thread to be had.
  Result<void> watch_signals();
  // Until every reactor has stopped.
  void run();
  // Begins to end, as SIGTERM does, once watch_signals() has succeeded. Called again, it does
  // nothing. Any thread.
  void shutdown() noexcept;
  // Another process has taken these listeners: drains by that (net/reactor/handover.hpp), with an
  // element for each reactor; no on_told, on_drain and drain_notice. Once, and nothing if the end
  // has begun.
  // Any thread.
  void hand_over(std::vector<net::Handover> handovers) noexcept;
  // The reactor's counters may be read: it has ended. Any thread.
  bool ended(unsigned reactor) const noexcept;
  // It has been told to drain, so listeners may be closed. Any thread.
  bool draining() const noexcept { return draining_.load(std::memory_order_acquire); }
  // The signal that began the end: SIGTERM or SIGINT; 0: shutdown(), or the group serves. It is set
  // before on_told and on_drain. Any thread.
  int ended_by() const noexcept { return ended_by_.load(std::memory_order_acquire); }

 private:
  class Signals;
  class Ending;

  void start_threads();
  // The calling thread, which is the reactor's.
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
  std::vector<net::Handover> handovers_;  // by reactor; empty: the end is the program's
  std::unique_ptr<Signals> signals_;      // null: turned by the caller, with an
  std::unique_ptr<Ending> ending_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
