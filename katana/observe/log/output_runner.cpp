#include "katana/observe/log/output_runner.hpp"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/quiet_thread.hpp"

namespace katana::log {
namespace {

thread_local bool here_is_output_thread = false;

// An output and its state, for the thread that does its jobs.
class OutputState {
 public:
  OutputState(std::shared_ptr<Output> output, LayoutKind layout)
      : output_(std::move(output)), layout_(make_layout(layout)) {}

  OutputDone run(OutputJob job) {
    OutputDone done{.job = std::move(job)};
    done.result = result_of(done.job);
    if (!done.result && done.job.kind != OutputJob::Kind::rotate) failure_ = done.result.error();
    done.size = output_->size();
    done.begun_wall_ns = output_->begun_wall_ns();
    return done;
  }

 private:
  Result<void> result_of(const OutputJob& job) {
    try {
      if (job.kind == OutputJob::Kind::open) {
        failure_.reset();
        return output_->open(*layout_);
      }
      if (failure_) return std::unexpected(*failure_);
      if (job.kind == OutputJob::Kind::rotate) return output_->rotate(job.keep, *layout_);
      return output_->write({job.bytes.data(), job.bytes.size()});
    } catch (const std::exception& thrown) {
      return fail(Code::internal, thrown.what());
    }
  }

  const std::shared_ptr<Output> output_;
  const std::unique_ptr<Layout> layout_;  // for open() and rotate(), which examine existing files
  std::optional<Error> failure_;
};

class InlineRunner final : public OutputRunner {
 public:
  InlineRunner(std::shared_ptr<Output> output, LayoutKind layout)
      : state_(std::move(output), layout) {}
  void give(OutputJob job) override { done_.push_back(state_.run(std::move(job))); }
  std::optional<OutputDone> take() override {
    if (done_.empty()) return std::nullopt;
    OutputDone first = std::move(done_.front());
    done_.pop_front();
    return first;
  }
  Instant wait(Instant now, Duration) override { return now; }

 private:
  OutputState state_;
  std::deque<OutputDone> done_;
};

// Shared by the thread and its runner; the last of the two frees it.
struct Shared {
  Shared(std::shared_ptr<Output> output, LayoutKind layout)
      : state(std::make_unique<OutputState>(std::move(output), layout)) {}

  std::mutex mutex;  // guards the next members, but not `state`
  std::condition_variable given;
  std::condition_variable told;
  std::deque<OutputJob> jobs;
  std::deque<OutputDone> done;
  std::function<void()> on_done;
  bool wants_told = false;
  bool is_over = false;                // no more jobs come
  bool has_ended = false;              // the thread uses only this object any more
  std::unique_ptr<OutputState> state;  // of the thread, or without one of the runner
};

void tell(Shared& shared) {
  shared.told.notify_all();
  if (std::exchange(shared.wants_told, false) && shared.on_done) shared.on_done();
}

void run_jobs(const std::shared_ptr<Shared>& shared) {
  here_is_output_thread = true;
  std::unique_lock lock(shared->mutex);
  while (true) {
    shared->given.wait(lock, [&] { return shared->is_over || !shared->jobs.empty(); });
    if (shared->jobs.empty()) break;
    OutputJob job = std::move(shared->jobs.front());
    shared->jobs.pop_front();
    lock.unlock();
    OutputDone done = shared->state->run(std::move(job));
    lock.lock();
    shared->done.push_back(std::move(done));
    tell(*shared);
  }
  lock.unlock();
  shared->state.reset();  // closes the file, which may hang as well
  lock.lock();
  shared->has_ended = true;
  tell(*shared);
}

class ThreadRunner final : public OutputRunner {
 public:
  ThreadRunner(std::shared_ptr<Output> output, LayoutKind layout, std::function<void()> on_done)
      : shared_(std::make_shared<Shared>(std::move(output), layout)) {
    shared_->on_done = std::move(on_done);
  }

  // Jobs without a waiting caller are abandoned.
  ~ThreadRunner() override {
    if (!thread_.joinable()) return;
    bool has_ended = false;
    {
      std::unique_lock lock(shared_->mutex);
      shared_->on_done = nullptr;
      shared_->is_over = true;
      shared_->jobs.clear();
      shared_->given.notify_all();
      has_ended = shared_->told.wait_for(lock, end_max, [&] { return shared_->has_ended; });
    }
    has_ended ? thread_.join() : thread_.detach();
  }
  ThreadRunner(const ThreadRunner&) = delete;
  ThreadRunner& operator=(const ThreadRunner&) = delete;

  void give(OutputJob job) override {
    if (!thread_.joinable() && !start()) {
      OutputDone done{.job = std::move(job)};
      done.result = fail(Code::resource_exhausted,
                         "the system has no thread for it: raise the limit of threads");
      const std::lock_guard lock(shared_->mutex);
      shared_->done.push_back(std::move(done));
      return;
    }
    const std::lock_guard lock(shared_->mutex);
    shared_->jobs.push_back(std::move(job));
    shared_->given.notify_one();
  }

  std::optional<OutputDone> take() override {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->done.empty()) return std::nullopt;
    OutputDone first = std::move(shared_->done.front());
    shared_->done.pop_front();
    return first;
  }

  Instant wait(Instant, Duration wait_max) override {
    std::unique_lock lock(shared_->mutex);
    shared_->told.wait_for(lock, std::chrono::nanoseconds(wait_max.ns),
                           [&] { return !shared_->done.empty(); });
    return monotonic_now();
  }

  void tell_next() noexcept override {
    const std::lock_guard lock(shared_->mutex);
    shared_->wants_told = true;
    // A job may be done already.
    if (!shared_->done.empty()) tell(*shared_);
  }

 private:
  // The time limit of the last job and of closing the file, beyond earlier waits.
  static constexpr std::chrono::milliseconds end_max{50};

  bool start() {
    try {
      thread_ = quiet_thread([shared = shared_] { run_jobs(shared); });
    } catch (const std::system_error&) {
      return false;
    }
    pthread_setname_np(thread_.native_handle(), "katana-log-out");
    return true;
  }

  const std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<OutputRunner> inline_runner(std::shared_ptr<Output> output, LayoutKind layout) {
  return std::make_unique<InlineRunner>(std::move(output), layout);
}

std::unique_ptr<OutputRunner> thread_runner(std::shared_ptr<Output> output, LayoutKind layout,
                                            std::function<void()> on_done) {
  return std::make_unique<ThreadRunner>(std::move(output), layout, std::move(on_done));
}

bool is_output_thread() noexcept { return here_is_output_thread; }

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
