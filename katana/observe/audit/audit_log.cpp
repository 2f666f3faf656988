#include "katana/observe/audit/audit_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/system/check.hpp"
#include "katana/observe/audit/audit_file.hpp"

namespace katana::audit {
namespace {

constexpr std::size_t key_bytes_min = 32;

Error is_full() {
  return {Code::resource_exhausted,
          "audit: more events wait to be written than audit.waiting_max; what was to be recorded "
          "must not be done"};
}

}  // namespace

AuditLog::AuditLog(AuditOptions options) : options_(std::move(options)) {}

Result<std::unique_ptr<AuditLog>> AuditLog::open(AuditOptions options) {
  if (options.file.empty() || options.waiting_max == 0 || options.sync_interval <= Duration{}) {
    return fail(Code::invalid_argument,
                "audit: a file, waiting_max and sync_interval above 0 are needed");
  }
  if (!options.key.empty() && options.key.size() < key_bytes_min) {
    return fail(Code::invalid_argument,
                fmt::format("audit: the key has {} bytes, and {} are needed; make one with "
                            "`openssl rand -base64 48`",
                            options.key.size(), key_bytes_min));
  }
  std::unique_ptr<AuditLog> log(new AuditLog(std::move(options)));
  auto file = AuditFile::open(
      log->options_.file, log->options_.key,
      {.file_bytes_max = log->options_.file_bytes_max, .lock_wait = log->options_.lock_wait});
  if (!file) return std::unexpected(file.error());
  log->file_ = *std::move(file);
  log->head_ = log->file_->head();
  thread::PoolOptions how;
  how.name = "audit";
  how.threads_min = 1;
  // Jobs: a look for each waiting event, as many of the previous batch, the one writing job, and
  // the late look of each recording thread.
  how.queue_max = 2 * log->options_.waiting_max + 1 + 1024;
  auto pool = thread::Pool::create(std::move(how));
  if (!pool) return std::unexpected(pool.error().within("audit"));
  log->pool_ = *std::move(pool);
  if (log->options_.sync == Sync::interval) {
    auto flushing =
        log->pool_->every(log->options_.sync_interval, [self = log.get()] { self->sync_now(); });
    if (!flushing) return std::unexpected(flushing.error().within("audit.sync_interval"));
    log->flushing_ = *std::move(flushing);
  }
  return log;
}

AuditLog::~AuditLog() {
  if (pool_ != nullptr) pool_->stop(thread::StopMode::graceful);
  if (file_ == nullptr) return;
  write_waiting();
  // On failure FILE.head does not name lines that are not durable.
  static_cast<void>(file_->sync());
}

bool AuditLog::admit(const std::shared_ptr<Entry>& entry) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= options_.waiting_max) return false;
    waiting_.push_back(entry);
    if (std::exchange(is_write_posted_, true)) return true;  // the earlier job takes this one too
  }
  // Written even if no caller waits for it to the end.
  const auto admission = pool_->post([this] { write_waiting(); });
  if (admission == thread::Admission::accepted) return true;
  const std::lock_guard lock(mutex_);
  is_write_posted_ = false;
  return std::erase(waiting_, entry) == 0;  // unless another look has taken it already
}

Task<Result<void>> AuditLog::write(AuditEvent event) {
  if (event.request_id.empty() && current_activity != nullptr) {
    event.request_id = current_activity->name;
  }
  Result<std::string> members = render(event, current_time());
  if (!members) co_return std::unexpected(members.error());
  const auto entry = std::make_shared<Entry>();
  entry->members = *std::move(members);
  if (!admit(entry)) {
    failed_.fetch_add(1, std::memory_order_relaxed);  // only a count
    co_return std::unexpected(is_full());
  }
  // Runs behind the job that writes the entry, on the same thread. It writes the entry itself if
  // another thread has not posted the job yet.
  auto look = [this, entry]() -> Result<void> {
    if (!entry->outcome) write_waiting();
    KATANA_CHECK(entry->outcome.has_value());  // otherwise an unwritten event would be acknowledged
    return *entry->outcome;
  };
  const Result<void> outcome = co_await pool_->run(thread::give(look));
  if (!outcome) {
    co_return std::unexpected(Error(Code::unavailable, outcome.error().describe())
                                  .within("the audit log cannot be written"));
  }
  co_return {};
}

void AuditLog::write_waiting() noexcept {
  std::vector<std::shared_ptr<Entry>> entries;
  {
    const std::lock_guard lock(mutex_);
    is_write_posted_ = false;
    entries.swap(waiting_);
  }
  if (entries.empty()) return;
  std::vector<std::string> members;
  members.reserve(entries.size());
  for (const auto& entry : entries) members.push_back(std::move(entry->members));
  Result<void> outcome = file_->append(members, options_.sync == Sync::each);
  if (outcome) is_dirty_ = true;
  for (const auto& entry : entries) entry->outcome = outcome;
  // Relaxed: only counts.
  (outcome ? recorded_ : failed_).fetch_add(entries.size(), std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  head_ = file_->head();
  last_ = std::move(outcome);
}

void AuditLog::sync_now() noexcept {
  if (!is_dirty_) return;
  // A failure of the disk breaks the file: the next event is refused, with the reason. Another
  // process's lock does not, and the next interval flushes.
  Result<void> outcome = file_->sync();
  is_dirty_ = !outcome;
  const std::lock_guard lock(mutex_);
  last_ = std::move(outcome);
}

Result<void> AuditLog::health() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

AuditHead AuditLog::head() const {
  const std::lock_guard lock(mutex_);
  return head_;
}

AuditLog::Statistics AuditLog::statistics() const noexcept {
  const std::lock_guard lock(mutex_);
  return {recorded_.load(std::memory_order_relaxed), failed_.load(std::memory_order_relaxed),
          waiting_.size()};
}

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
