#include "katana/app/database_start.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <stop_token>
#include <utility>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/quiet_thread.hpp"
#include "katana/base/values/backoff.hpp"

namespace katana::app {
namespace {

constexpr Duration at_a_terminal = seconds(5);
constexpr Duration for_ever = {never.ns};
constexpr std::chrono::milliseconds end_max{300};

bool is_passing(const Error& error) noexcept { return error.code() == Code::unavailable; }

}  // namespace

Duration database_wait(const std::optional<Duration>& told,
                       const std::function<const char*(const char* name)>& variables) {
  if (told) return *told;
  for (const char* const name : {"NOTIFY_SOCKET", "INVOCATION_ID", "KUBERNETES_SERVICE_HOST"}) {
    const char* const value = variables(name);
    if (value != nullptr && *value != 0) return for_ever;
  }
  return at_a_terminal;
}

struct DatabaseStart::Shared {
  explicit Shared(DatabaseStartOptions given) : options(std::move(given)) {}

  const DatabaseStartOptions options;
  std::stop_source stop;
  std::mutex mutex;  // of the members below
  std::condition_variable changed;
  bool is_reached = false;  // by the attempt that goes on: what follows is no wait
  bool has_failed = false;  // an attempt has
  bool has_ended = false;   // the thread uses nothing any more but this
  std::optional<database::Database> found;
  std::optional<Error> failure;  // the last word
  std::string why = "it has not answered yet";
  database::AwaitedBackend* place = nullptr;  // of the program's database
  std::optional<DatabaseNews> news;
};

DatabaseStart::DatabaseStart(DatabaseStartOptions options)
    : shared_(std::make_shared<Shared>(std::move(options))) {}

DatabaseStart::~DatabaseStart() { stop(); }

Result<database::Database> DatabaseStart::start() {
  Shared& shared = *shared_;
  if (shared.options.wait_max <= Duration{})
    return shared.options.open({.on_migrated = shared.options.on_migrated});
  thread_ = quiet_thread([shared = shared_] { run(shared); });
  pthread_setname_np(thread_.native_handle(), "katana-database");
  std::unique_lock lock(shared.mutex);
  const auto is_over = [&] { return shared.found || shared.failure; };
  shared.changed.wait_for(lock, std::chrono::nanoseconds(shared.options.answer_max.ns),
                          [&] { return is_over() || shared.has_failed || shared.is_reached; });
  // It answers, and its migrations are applied: the program begins behind them.
  if (shared.is_reached) shared.changed.wait(lock, [&] { return is_over() || shared.has_failed; });
  if (shared.failure) return std::unexpected(*shared.failure);
  if (shared.found) {
    database::Database found = *std::move(shared.found);
    shared.found.reset();
    return found;
  }
  auto awaited = std::make_unique<database::AwaitedBackend>(shared.options.system,
                                                            shared.options.timeout, shared.why);
  shared.place = awaited.get();
  return database::Database(std::move(awaited));
}

std::optional<std::string> DatabaseStart::awaits() const {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->place == nullptr || shared_->place->has_come()) return std::nullopt;
  return shared_->why;
}

void DatabaseStart::go_on(DatabaseNews news) {
  const std::lock_guard lock(shared_->mutex);
  shared_->news = std::move(news);
  shared_->changed.notify_all();
}

void DatabaseStart::stop() noexcept {
  if (!thread_.joinable()) return;
  shared_->stop.request_stop();
  bool has_ended = false;
  {
    std::unique_lock lock(shared_->mutex);
    shared_->changed.notify_all();
    has_ended = shared_->changed.wait_for(lock, end_max, [&] { return shared_->has_ended; });
    shared_->place = nullptr;
    shared_->news.reset();
  }
  has_ended ? thread_.join() : thread_.detach();
}

namespace {

// One more line of the log for each attempt that fails, and in the end one each minute.
class AttemptLog {
 public:
  explicit AttemptLog(log::Logger logger) : logger_(std::move(logger)) {}
  void tell(const Error& error, Duration pause) {
    logger_.warn(limit_, "not there yet, and awaited: {}; next attempt in {} ms", error.describe(),
                 pause.count_ms());
  }
  void tell_there() { logger_.info("there after {} ms", (monotonic_now() - began_).count_ms()); }
  Duration waited() const { return monotonic_now() - began_; }

 private:
  const log::Logger logger_;
  log::RateLimit limit_{5, seconds(60)};
  const Instant began_ = monotonic_now();
};

}  // namespace

void DatabaseStart::run(const std::shared_ptr<Shared>& shared) {
  const DatabaseStartOptions& options = shared->options;
  const std::stop_token stop = shared->stop.get_token();
  AttemptLog attempts(options.logger);
  std::minstd_rand random(std::random_device{}());
  std::unique_lock lock(shared->mutex);
  for (unsigned failures = 0; !stop.stop_requested();) {
    shared->is_reached = false;
    lock.unlock();
    database::Opening opening{.stop = stop,
                              .on_reached =
                                  [&] {
                                    const std::lock_guard reached(shared->mutex);
                                    shared->is_reached = true;
                                    shared->changed.notify_all();
                                  },
                              .on_migrated = options.on_migrated,
                              .is_repeated = true};
    auto opened = options.open(opening);
    const Duration waited = attempts.waited();
    lock.lock();
    if (stop.stop_requested()) break;
    if (opened) {
      shared->found = *std::move(opened);
    } else if (!is_passing(opened.error())) {
      shared->failure = opened.error();
    } else if (waited >= options.wait_max) {
      shared->failure = opened.error().within(
          fmt::format("not there after {} ms (database.start_wait)", waited.count_ms()));
    }
    if (shared->found || shared->failure) break;
    ++failures;
    const Duration pause =
        std::min(backoff(failures, options.backoff_min, options.backoff_max, random()),
                 Duration{options.wait_max.ns - waited.ns});
    shared->why = "it is awaited: " + opened.error().describe();
    if (shared->place != nullptr) shared->place->set_reason(shared->why);
    attempts.tell(opened.error(), pause);
    shared->has_failed = true;
    shared->changed.notify_all();
    shared->changed.wait_for(lock, std::chrono::nanoseconds(pause.ns),
                             [&] { return stop.stop_requested(); });
  }
  shared->changed.notify_all();
  // Where start() has taken the result, there is nothing to report.
  shared->changed.wait(lock, [&] {
    return stop.stop_requested() || (!shared->found && !shared->failure) || shared->news;
  });
  if (shared->news && shared->place != nullptr && !stop.stop_requested()) {
    if (shared->found) {
      attempts.tell_there();
      shared->place->adopt(*std::move(shared->found));
      shared->found.reset();
      if (shared->news->on_there) shared->news->on_there();
    } else if (shared->failure && shared->news->on_failed) {
      shared->news->on_failed(*shared->failure);
    }
  }
  std::optional<database::Database> unused = std::move(shared->found);
  shared->found.reset();
  lock.unlock();
  unused.reset();
  lock.lock();
  shared->has_ended = true;
  shared->changed.notify_all();
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
