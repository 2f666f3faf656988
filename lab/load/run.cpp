#include "lab/load/run.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "katana/base/system/check.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "lab/process/usage.hpp"

namespace katana::load {
namespace {

// SIGINT and SIGTERM as a descriptor, until the first one came or the run is over.
class Interrupts {
 public:
  Interrupts() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    fd_ = Descriptor(::signalfd(-1, &signals_, SFD_NONBLOCK | SFD_CLOEXEC));
  }
  ~Interrupts() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  int fd() const noexcept { return fd_.get(); }
  // True: one came. The next ends the process, as its default is.
  bool take() {
    signalfd_siginfo info;
    if (::read(fd_.get(), &info, sizeof info) != sizeof info) return false;
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    return true;
  }

 private:
  sigset_t signals_;
  sigset_t before_;
  Descriptor fd_;
};

class Run {
 public:
  Run(const LoadPlan& plan, const Target& target, RunObserver* observer)
      : plan_(plan), observer_(observer), result_(std::make_unique<RunResult>()) {
    for (std::uint32_t index = 0; index < plan.threads; ++index) {
      workers_.push_back(std::make_unique<Worker>(plan, target, index, doorbell_));
      result_->memory_bytes_max += workers_.back()->memory_bytes_max();
    }
  }
  ~Run() {
    for (const auto& worker : workers_) worker->abandon();
  }

  Result<std::unique_ptr<RunResult>> operator()() {
    for (const auto& worker : workers_) {
      threads_.emplace_back([&worker = *worker] { worker.run(); });
    }
    wait_for([](const Worker& worker) { return worker.is_ready(); }, never);
    result_->connected =
        std::ranges::any_of(workers_, [](const auto& worker) { return worker->open_count() > 0; });
    if (result_->connected && !result_->interrupted) {
      measure();
    } else {
      abandon();
    }
    threads_.clear();
    return conclude();
  }

 private:
  bool all_done() const {
    return std::ranges::all_of(workers_, [](const auto& worker) { return worker->is_done(); });
  }

  void abandon() {
    for (const auto& worker : workers_) worker->abandon();
  }

  // Until all workers satisfy the condition or have ended, or that instant.
  template <class Condition>
  void wait_for(Condition condition, Instant until) {
    while (true) {
      const bool is_met = std::ranges::all_of(
          workers_, [&](const auto& worker) { return worker->is_done() || condition(*worker); });
      const std::int64_t left_ns = until.ns - monotonic_now().ns;
      if (is_met || left_ns <= 0) return;
      const timespec timeout{.tv_sec = std::min<std::int64_t>(left_ns / 1'000'000'000, 3600),
                             .tv_nsec = left_ns % 1'000'000'000};
      pollfd waited[] = {{doorbell_.fd(), POLLIN, 0}, {interrupts_.fd(), POLLIN, 0}};
      const nfds_t count = result_->interrupted ? 1 : 2;
      ::ppoll(waited, count, &timeout, nullptr);
      doorbell_.silence();
      if (!result_->interrupted && interrupts_.take()) {
        result_->interrupted = true;
        interrupted_at_ = monotonic_now();
        abandon();
      }
    }
  }

  void measure() {
    const Instant begin = monotonic_now() + milliseconds(1);
    window_begin_ = begin + plan_.warm_up;
    const double ahead_s = static_cast<double>((window_begin_ - monotonic_now()).ns) / 1e9;
    result_->began_epoch_s =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count() +
        ahead_s;
    for (const auto& worker : workers_) worker->start(begin);
    Instant interval_begin = begin;
    while (!all_done()) {
      Instant boundary = interval_begin + plan_.interval;
      if (interval_begin < window_begin_) boundary = std::min(boundary, window_begin_);
      wait_for([](const Worker& worker) { return worker.is_done(); }, boundary);
      if (all_done()) break;
      for (const auto& worker : workers_) worker->flip();
      wait_for([](const Worker& worker) { return worker.is_flipped(); }, never);
      const Instant now = monotonic_now();
      for (const auto& worker : workers_) {
        if (!worker->is_flipped()) continue;
        interval_.add(worker->taken());
        worker->taken().reset();
      }
      end_interval(interval_begin, now);
      interval_begin = now;
    }
    last_begin_ = interval_begin;
  }

  void end_interval(Instant begin, Instant end) {
    IntervalStatistics row;
    row.begin_s = static_cast<double>((begin - window_begin_).ns) / 1e9;
    row.duration_s = static_cast<double>((end - begin).ns) / 1e9;
    row.warm_up = begin < window_begin_;
    row.requests = row.warm_up ? interval_.counts.warm_up : interval_.counts.requests;
    row.failures = interval_.counts.all_failures();
    row.bytes_received = interval_.counts.bytes_received;
    row.p50_ns = interval_.latency.percentile_ns(50);
    row.p99_ns = interval_.latency.percentile_ns(99);
    row.max_ns = std::max<std::int64_t>(0, interval_.latency.max_ns());
    for (const auto& worker : workers_) {
      row.open += worker->open_count();
      row.in_flight += worker->in_flight_count();
    }
    result_->total.add(interval_);
    if (result_->series.size() < RunResult::series_max) result_->series.push_back(row);
    if (observer_ != nullptr) observer_->on_interval(row, interval_, *result_);
    interval_.reset();
  }

  Result<std::unique_ptr<RunResult>> conclude() {
    const Instant now = monotonic_now();
    std::int64_t last_reply_ns = 0;
    for (const auto& worker : workers_) {
      if (!worker->problem().empty()) return fail(Code::unavailable, worker->problem());
      // Both halves: a flip may have come too late to be collected. Collected histograms are empty.
      interval_.add(worker->rest());
      interval_.add(worker->taken());
      result_->threads.push_back(worker->own());
      if (result_->tls_agreed.empty()) result_->tls_agreed = worker->tls_agreed();
      if (result_->tls_problem.empty()) result_->tls_problem = worker->handshake_problem();
      last_reply_ns = std::max(last_reply_ns, worker->own().last_reply_ns);
    }
    if (window_begin_ == Instant{}) {
      result_->total.add(interval_);
    } else {
      end_interval(last_begin_, now);
      Instant end = std::min(window_begin_ + plan_.duration, now);
      // A number of requests was asked for: the window ends with the last reply.
      if (plan_.requests_max > 0) end = std::min(end, Instant{last_reply_ns});
      if (result_->interrupted) end = std::min(end, interrupted_at_);
      result_->duration_s = std::max(0.0, static_cast<double>((end - window_begin_).ns) / 1e9);
    }
    result_->rss_kib_max = std::lround(lab::usage_of(::getpid()).rss_mib_max * 1024);
    return std::move(result_);
  }

  const LoadPlan& plan_;
  RunObserver* observer_;
  std::unique_ptr<RunResult> result_;
  Interrupts interrupts_;
  Doorbell doorbell_;
  Statistics interval_;
  Instant window_begin_;
  Instant last_begin_;
  Instant interrupted_at_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::jthread> threads_;
};

// Each thread needs sockets, an epoll instance and a doorbell; the process has some more.
Result<void> raise_descriptor_limit(const LoadPlan& plan) {
  const rlim_t wanted = plan.connections + 2 * plan.threads + 32;
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return {};
  limit.rlim_cur = std::min(limit.rlim_max, wanted);
  if (limit.rlim_cur < wanted || setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return fail(Code::resource_exhausted,
                fmt::format("{} connections need {} descriptors, {} are allowed; raise it with "
                            "ulimit -Hn, or use fewer connections",
                            plan.connections, wanted, limit.rlim_max));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<RunResult>> run_load(const LoadPlan& plan, const Target& target,
                                            RunObserver* observer) {
  KATANA_REQUIRE(plan.threads > 0 && plan.threads <= plan.connections && plan.pipeline > 0);
  KATANA_REQUIRE(plan.connection_ramp.empty() || !plan.is_open_loop());
  KATANA_REQUIRE(!target.requests.empty() && plan.duration.ns > 0 && plan.interval.ns > 0);
  if (auto raised = raise_descriptor_limit(plan); !raised) return std::unexpected(raised.error());
  return Run(plan, target, observer)();
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
