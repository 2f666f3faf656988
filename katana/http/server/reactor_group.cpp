#include "katana/http/server/reactor_group.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <utility>

#include "katana/base/system/alternate_stack.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/cpu_placement.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/printing.hpp"
#include "katana/http/server/quiet_thread.hpp"

namespace katana::server {
namespace {

// The time that the first reactor has to begin the drain and call on_drain() before it. After that
// the drain begins without it.
constexpr Duration handed_on_max = milliseconds(100);
// stop_grace is too short to reset ten thousand connections on a busy machine.
constexpr Duration ending_max = seconds(5);
constexpr Duration look_again = milliseconds(50);

}  // namespace

// A thread that waits for SIGINT, SIGTERM and perhaps SIGHUP and SIGUSR2. It passes work for a
// reactor's thread to the first reactor, by a pipe that this object watches.
class ReactorGroup::Signals final : public engine::Watcher {
 public:
  explicit Signals(ReactorGroup& group) : group_(group) {
    sigemptyset(&set_);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGTERM);
    if (group_.options_.on_reload) sigaddset(&set_, SIGHUP);
    if (group_.options_.on_restart) sigaddset(&set_, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }
  ~Signals() {
    stop();
    for (const int fd : relay_) {
      if (fd >= 0) ::close(fd);
    }
  }

  Result<void> start();
  void stop() noexcept {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(all_mutex);
      std::erase(all, this);
    }
    over_.store(true, std::memory_order_release);
    send(SIGINT);  // only this thread waits for it
    thread_.join();
  }
  // The same as the first SIGTERM, for this group alone. Any thread.
  void ask_to_end() noexcept {
    const std::lock_guard lock(all_mutex);
    if (std::ranges::find(all, this) == all.end()) return;
    asked_.store(true, std::memory_order_release);
    send(SIGTERM);
  }
  // Begins the drain of a handover. Any thread.
  void hand_over() noexcept {
    const std::lock_guard lock(all_mutex);
    if (std::ranges::find(all, this) == all.end()) return;
    handover_.store(true, std::memory_order_release);
    send(SIGUSR2);
  }
  // Called on the first reactor's thread.
  void on_ready(engine::Readiness) noexcept override;
  // Also on that thread: begins the drain if a signal has asked for it and it has not begun.
  void begin() noexcept;

 private:
  void run() noexcept;
  // Sends the signal to this thread alone. The origin in a signal does not tell: glibc makes
  // SI_USER of SI_TKILL.
  void send(int signal) noexcept {
    directed_.store(true, std::memory_order_release);
    pthread_kill(thread_.native_handle(), signal);
  }
  void tell_others(int signal) const noexcept;
  void on_signal(int signal) noexcept;
  void on_restart() noexcept;
  void on_time() noexcept;
  // Returns true if their turns began after they were told to end: they are working on it.
  bool are_ending(const std::vector<unsigned>& reactors) const noexcept {
    return !reactors.empty() && std::ranges::all_of(reactors, [this](unsigned each) {
      return group_.reactors_[each]->busy_since() >= told_to_stop_at_;
    });
  }
  void set_stop(Instant at) noexcept {
    stop_at_ = at;
    told_to_stop_at_ = {at.ns - stop_grace.ns};
    give_up_at_ = at + ending_max;
  }
  void hand_on(std::atomic<bool>& what) noexcept {
    what.store(true, std::memory_order_release);
    (void)!::write(relay_[1], "", 1);  // a full pipe wakes the reactor as well
  }
  // Whether the thread may have a separate descriptor table, without the reactors' descriptors.
  bool alone() const noexcept {
    return group_.reactors_.size() == 1 &&
           (group_.options_.callbacks_only_print || !group_.options_.on_stuck);
  }
  void leave_descriptor_table() noexcept;

  // All groups of the process with a waiting thread. The kernel gives a signal of the process to
  // one of these threads, but it is meant for all.
  static inline std::mutex all_mutex;
  static inline std::vector<Signals*> all;

  ReactorGroup& group_;
  sigset_t set_;
  std::array<int, 2> relay_{-1, -1};  // a pipe
  std::atomic<bool> over_ = false;
  std::atomic<bool> directed_ = false;  // the next signal is for this group, not for the process
  std::atomic<bool> asked_ = false;     // shutdown() was called: a SIGTERM may come from it
  std::atomic<bool> reload_ = false;
  std::atomic<bool> restart_ = false;
  std::atomic<bool> handover_ = false;
  std::atomic<bool> begin_ = false;
  std::atomic<bool> drain_ = false;
  std::atomic<bool> stop_ = false;
  bool told_ = false;         // to end
  bool handed_over_ = false;  // another process has the listeners
  Instant drain_at_ = never;  // even if the first reactor is busy
  Instant stop_at_ = never;   // a reactor that runs then is stuck, unless its turn began later
  Instant told_to_stop_at_ = never;
  Instant give_up_at_ = never;  // a reactor that runs then is stuck
  std::thread thread_;
};

Result<void> ReactorGroup::Signals::start() {
  if (::pipe2(relay_.data(), O_NONBLOCK | O_CLOEXEC) != 0) {
    return fail(Code::resource_exhausted,
                "cannot create a pipe between the signal thread and the first reactor");
  }
  auto watched = group_.reactors_.front()->watch(relay_[0], {.read = true}, *this);
  if (!watched) return watched;
  auto started = start_quiet_thread("wait for signals", [this] { run(); });
  if (!started) return std::unexpected(started.error());
  thread_ = *std::move(started);
  const std::lock_guard lock(all_mutex);
  all.push_back(this);
  return {};
}

void ReactorGroup::Signals::tell_others(int signal) const noexcept {
  const std::lock_guard lock(all_mutex);
  for (Signals* const other : all) {
    if (other == this || sigismember(&other->set_, signal) != 1) continue;
    other->send(signal);
  }
}

// While two threads share a descriptor table, the kernel counts references in every system call
// with a descriptor: 60 ns each (decision 0007). If the kernel refuses, the table stays shared.
void ReactorGroup::Signals::leave_descriptor_table() noexcept {
  const auto kept = static_cast<unsigned>(relay_[1]);
  constexpr unsigned first = STDERR_FILENO + 1;
  if (::close_range(std::max(first, kept + 1), ~0U, CLOSE_RANGE_UNSHARE) != 0) return;
  if (kept > first) ::close_range(first, kept - 1, 0);
}

void ReactorGroup::Signals::run() noexcept {
  pthread_setname_np(pthread_self(), "katana-signals");
  if (alone()) leave_descriptor_table();
  for (;;) {
    const Instant next = std::min(drain_at_, stop_at_);
    timespec left{};
    if (next != never) {
      const std::int64_t ns = std::max<std::int64_t>((next - monotonic_now()).ns, 0);
      left = {ns / 1'000'000'000, ns % 1'000'000'000};
    }
    const int signal =
        next != never ? sigtimedwait(&set_, nullptr, &left) : sigwaitinfo(&set_, nullptr);
    if (signal > 0 && !directed_.exchange(false, std::memory_order_acquire)) tell_others(signal);
    if (over_.load(std::memory_order_acquire)) return;
    if (signal > 0) on_signal(signal);
    on_time();
  }
}

void ReactorGroup::Signals::on_signal(int signal) noexcept {
  if (signal == SIGHUP) {
    if (!told_) hand_on(reload_);
    return;
  }
  if (signal == SIGUSR2) return on_restart();
  const ReactorGroupOptions& options = group_.options_;
  const Instant now = monotonic_now();
  if (std::exchange(told_, true)) {
    alone() ? hand_on(stop_) : group_.stop();
    set_stop(std::min(stop_at_, now + stop_grace));
    return;
  }
  if (!asked_.load(std::memory_order_acquire)) {
    group_.ended_by_.store(signal, std::memory_order_release);
  }
  if (options.on_told) options.on_told();
  hand_on(begin_);
  drain_at_ = now + std::max(options.drain_notice, handed_on_max);
  set_stop(drain_at_ + options.drain_timeout + stop_grace);
}

void ReactorGroup::Signals::on_restart() noexcept {
  if (!handover_.exchange(false, std::memory_order_acquire)) {
    if (!told_ && !handed_over_) hand_on(restart_);
    return;
  }
  if (told_ || std::exchange(handed_over_, true)) return;
  drain_at_ = monotonic_now();
  set_stop(drain_at_ + group_.options_.drain_timeout + stop_grace);
}

void ReactorGroup::Signals::on_time() noexcept {
  const Instant now = monotonic_now();
  if (now >= drain_at_) {
    drain_at_ = never;
    alone() ? hand_on(drain_) : group_.drain();
  }
  if (now < stop_at_) return;
  const std::vector<unsigned> stuck = group_.running();
  if (now < give_up_at_ && are_ending(stuck)) {
    stop_at_ = now + look_again;
    return;
  }
  stop_at_ = never;
  if (stuck.empty()) return;  // run() is about to return
  if (group_.options_.on_stuck) {
    group_.options_.on_stuck(stuck);
  } else {
    print_error_line(fmt::format("stopped: {} of {} reactors did not end, and were cut off",
                                 stuck.size(), group_.reactors_.size()),
                     last_words_max);
  }
  // No destructors and no atexit(): other threads still run.
  std::_Exit(1);
}

void ReactorGroup::Signals::on_ready(engine::Readiness) noexcept {
  std::array<char, 64> woken;
  while (::read(relay_[0], woken.data(), woken.size()) > 0) {
  }
  const ReactorGroupOptions& options = group_.options_;
  if (reload_.exchange(false, std::memory_order_acquire)) options.on_reload();
  if (restart_.exchange(false, std::memory_order_acquire)) options.on_restart();
  begin();
  if (drain_.exchange(false, std::memory_order_acquire)) group_.drain();
  if (stop_.exchange(false, std::memory_order_acquire)) group_.stop();
}

void ReactorGroup::Signals::begin() noexcept {
  if (!begin_.exchange(false, std::memory_order_acquire)) return;
  const ReactorGroupOptions& options = group_.options_;
  if (options.on_drain) options.on_drain();
  if (options.drain_notice <= Duration{}) group_.drain();
}

// The shutdown of reactors that the caller turns: calls on_told and on_drain, and drains once
// drain_notice is over. The time is that of the first reactor.
class ReactorGroup::Ending final : private Message, private net::TimerEntry {
 public:
  explicit Ending(ReactorGroup& group) noexcept
      : Message([](Message& message) noexcept { static_cast<Ending&>(message).begin(); }),
        TimerEntry(
            [](net::TimerEntry& entry) noexcept { static_cast<Ending&>(entry).group_.drain(); }),
        group_(group) {}

  void ask() noexcept { group_.reactors_.front()->post(*this); }

 private:
  void begin() noexcept {
    const ReactorGroupOptions& options = group_.options_;
    if (options.on_told) options.on_told();
    if (options.on_drain) options.on_drain();
    if (options.drain_notice <= Duration{}) return group_.drain();
    net::Reactor& first = *group_.reactors_.front();
    first.timers().arm(*this, first.now() + options.drain_notice);
  }

  ReactorGroup& group_;
};

ReactorGroup::ReactorGroup(std::vector<net::Reactor*> reactors, ReactorGroupOptions options)
    : reactors_(std::move(reactors)), options_(std::move(options)), ended_(reactors_.size()) {
  if (options_.turned_by_caller) {
    ending_ = std::make_unique<Ending>(*this);
  } else {
    signals_ = std::make_unique<Signals>(*this);
  }
}

ReactorGroup::~ReactorGroup() = default;

Result<void> ReactorGroup::watch_signals() { return signals_ ? signals_->start() : Result<void>(); }

void ReactorGroup::start_threads() {
  for (unsigned index = 1; index < reactors_.size(); ++index) {
    threads_.emplace_back([this, index] {
      const AlternateStack stack;
      bind(index);
      reactors_[index]->run();
      ended_[index].store(true, std::memory_order_release);  // its counters may be read now
    });
  }
}

void ReactorGroup::run() {
  if (options_.turned_by_caller) {
    for (unsigned index = 0; index < reactors_.size(); ++index) {
      KATANA_REQUIRE(reactors_[index]->stopped());
      ended_[index].store(true, std::memory_order_release);
    }
    return;
  }
  try {
    start_threads();
  } catch (...) {  // no thread is available: those that run end first
    stop();
    for (std::thread& thread : threads_) thread.join();
    throw;
  }
  bind(0);
  reactors_.front()->run();
  signals_->begin();  // a second signal may have ended the reactor before it got to the first
  ended_.front().store(true, std::memory_order_release);
  for (std::thread& thread : threads_) thread.join();  // a second signal still counts
  signals_->stop();
}

void ReactorGroup::shutdown() noexcept {
  if (shutdown_.exchange(true)) return;
  signals_ ? signals_->ask_to_end() : ending_->ask();
}

void ReactorGroup::hand_over(std::vector<net::Handover> handovers) noexcept {
  KATANA_REQUIRE(handovers.size() == reactors_.size());
  if (!signals_) return;
  {
    const std::lock_guard lock(handover_mutex_);
    if (draining() || !handovers_.empty()) return;
    handovers_ = std::move(handovers);
  }
  signals_->hand_over();
}

bool ReactorGroup::ended(unsigned reactor) const noexcept {
  return ended_[reactor].load(std::memory_order_acquire);
}

std::vector<unsigned> ReactorGroup::running() const {
  std::vector<unsigned> found;
  for (unsigned index = 0; index < reactors_.size(); ++index) {
    if (!ended(index)) found.push_back(index);
  }
  return found;
}

void ReactorGroup::stop() noexcept {
  for (net::Reactor* const reactor : reactors_) reactor->request_stop();
}

void ReactorGroup::drain() noexcept {
  {
    const std::lock_guard lock(handover_mutex_);
    if (draining_.exchange(true)) return;
  }
  if (options_.on_closing) options_.on_closing();
  for (std::size_t index = 0; index < reactors_.size(); ++index) {
    if (handovers_.empty()) {
      reactors_[index]->request_drain(options_.drain_timeout);
    } else {
      reactors_[index]->request_handover(options_.drain_timeout, handovers_[index]);
    }
  }
}

void ReactorGroup::bind(unsigned reactor) const noexcept {
  if (reactor < options_.cpus.size()) bind_to_cpus({&options_.cpus[reactor], 1});
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
