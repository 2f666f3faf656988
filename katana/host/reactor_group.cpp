#include "katana/host/reactor_group.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <thread>
#include <utility>

namespace katana::host {

struct ReactorGroup::Worker {
  std::atomic<bool> ended = false;
  std::thread thread;
};

// SIGINT, SIGTERM and perhaps SIGHUP as a descriptor that the first reactor watches.
class ReactorGroup::Signals final : public engine::Watcher {
 public:
  Signals(ReactorGroup& group, bool with_reload) : group_(group) {
    sigemptyset(&set_);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGTERM);
    if (with_reload) sigaddset(&set_, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    fd_ = signalfd(-1, &set_, SFD_NONBLOCK | SFD_CLOEXEC);
  }
  ~Signals() { ::close(fd_); }

  int fd() const noexcept { return fd_; }
  const sigset_t& set() const noexcept { return set_; }
  void on_ready() noexcept override {
    signalfd_siginfo info;
    while (::read(fd_, &info, sizeof info) == sizeof info) {
      group_.on_signal(static_cast<int>(info.ssi_signo));
    }
  }

 private:
  ReactorGroup& group_;
  sigset_t set_;
  int fd_;
};

ReactorGroup::Notice::Notice(ReactorGroup& owner) noexcept
    : core::TimerEntry(
          [](core::TimerEntry& entry) noexcept { static_cast<Notice&>(entry).group.drain(); }),
      group(owner) {}

ReactorGroup::ReactorGroup(std::vector<core::Reactor*> reactors, ReactorGroupOptions options)
    : reactors_(std::move(reactors)),
      options_(std::move(options)),
      signals_(std::make_unique<Signals>(*this, options_.on_reload != nullptr)) {}

ReactorGroup::~ReactorGroup() = default;

Result<void> ReactorGroup::watch_signals() {
  return reactors_.front()->watch(signals_->fd(), *signals_);
}

void ReactorGroup::start_threads() {
  for (unsigned index = 1; index < reactors_.size(); ++index) {
    Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
    worker.thread = std::thread([this, &worker, index] {
      if (options_.pin) pin_to_cpu(index);
      reactors_[index]->run();
      worker.ended.store(true, std::memory_order_release);  // its counters may be read now
    });
  }
}

void ReactorGroup::run() {
  try {
    start_threads();
  } catch (...) {  // no thread is left: those that there are end before the caller hears
    for (core::Reactor* const reactor : reactors_) reactor->request_stop();
    for (const auto& worker : workers_) {
      if (worker->thread.joinable()) worker->thread.join();
    }
    throw;
  }
  if (options_.pin) pin_to_cpu(0);
  reactors_.front()->run();
  wait_for_threads();
}

// The first reactor has drained, the others may still be at it, and a second signal still counts.
void ReactorGroup::wait_for_threads() {
  for (const auto& worker : workers_) {
    while (!worker->ended.load(std::memory_order_acquire)) {
      const timespec wait{0, 20'000'000};
      const int signal = sigtimedwait(&signals_->set(), nullptr, &wait);
      if (signal > 0) on_signal(signal);
    }
    worker->thread.join();
  }
}

void ReactorGroup::on_signal(int signal) noexcept {
  if (signal == SIGHUP) {
    if (!told_) options_.on_reload();
    return;
  }
  if (told_) {
    for (core::Reactor* const reactor : reactors_) reactor->request_stop();
    return;
  }
  told_ = true;
  if (options_.on_drain) options_.on_drain();
  if (options_.drain_notice <= Duration{}) return drain();
  core::Reactor& first = *reactors_.front();
  first.timers().arm(notice_, first.now() + options_.drain_notice);
}

void ReactorGroup::drain() noexcept {
  for (core::Reactor* const reactor : reactors_) reactor->request_drain(options_.drain_timeout);
}

void pin_to_cpu(unsigned index) noexcept {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  unsigned position = index % static_cast<unsigned>(std::max(1, CPU_COUNT(&allowed)));
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || position-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    // Ignored: pinning is an optimisation, and the reactor is right without it.
    (void)pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    return;
  }
}

}  // namespace katana::host
