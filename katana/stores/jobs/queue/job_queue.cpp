#include "katana/stores/jobs/queue/job_queue.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/coroutine/activity.hpp"
#include "katana/observe/trace/root.hpp"
#include "katana/observe/trace/trace_parent.hpp"

namespace katana::queue {
namespace {

constexpr std::size_t listed_max = 1000;
constexpr std::size_t request_id_bytes_max = 128;
// A key's job may end between the two statements, so they are tried again.
constexpr int rounds_max = 3;

Error within_queue(const database::Error& error, const std::string& queue) {
  return katana::Error(error).within(fmt::format("the queue '{}'", queue));
}

// The work that this thread is at. A worker links its attempts to the span.
Producer current_producer() {
  Producer producer;
  if (current_activity == nullptr) return producer;
  producer.request_id = std::string(current_activity->name.substr(0, request_id_bytes_max));
  const trace::CurrentSpan* const span = current_activity->span;
  if (span != nullptr && span->context.is_valid()) {
    const auto text = trace::trace_parent_of(span->context);
    producer.trace.assign(text.data(), text.size());
  }
  return producer;
}

}  // namespace

JobQueue::JobQueue(database::Database& database, QueueOptions options)
    : options_(options), table_(database) {
  if (!options_.make_table) table_.assume_made();
}

Result<void> JobQueue::check(const std::string& queue, const std::string& payload,
                             const EnqueueOptions& options) const {
  if (auto name = check_name(queue); !name) return name;
  if (auto checked = options.check(); !checked) return checked;
  if (payload.size() > options_.payload_bytes_max) {
    return fail(Code::out_of_range,
                fmt::format("a job of '{}' has {} bytes, more than {}: queue the key of what it "
                            "needs, or raise payload_bytes_max",
                            queue, payload.size(), options_.payload_bytes_max));
  }
  if (payload.find('\0') != std::string::npos) {
    return fail(Code::invalid_argument, fmt::format("a job of '{}' has a zero byte", queue));
  }
  return {};
}

Task<Result<Enqueued>> JobQueue::enqueue_json(const database::Nestable& transaction,
                                              std::string queue, std::string payload,
                                              const EnqueueOptions& options) {
  const database::Queries& queries = transaction;
  return put(queries, true, std::move(queue), std::move(payload), options);
}

Task<Result<Enqueued>> JobQueue::enqueue_json(std::string queue, std::string payload,
                                              const EnqueueOptions& options) {
  const database::Queries& queries = table_.database();
  return put(queries, false, std::move(queue), std::move(payload), options);
}

Task<Result<Enqueued>> JobQueue::put(database::Queries in, bool in_transaction, std::string queue,
                                     std::string payload, EnqueueOptions options) {
  const Result<void> checked = check(queue, payload, options);
  if (!checked) co_return std::unexpected(checked.error());
  const Producer producer = current_producer();
  // SQLite's one writer has the transaction: the table is made in it. A transaction of PostgreSQL
  // should not hold the locks of that.
  database::Result<void> made;
  if (in_transaction && !table_.is_postgres()) {
    made = co_await table_.make_in(in);
  } else {
    made = co_await table_.make();
  }
  if (!made) co_return std::unexpected(within_queue(made.error(), queue));
  const InsertMode mode{.in_transaction = in_transaction, .notifies = options_.notify};
  for (int round = 0; round < rounds_max; ++round) {
    const database::Result<std::optional<std::int64_t>> id =
        co_await table_.insert(in, queue, payload, options, producer, mode);
    if (!id) co_return std::unexpected(within_queue(id.error(), queue));
    if (*id) {
      queued_.fetch_add(1, std::memory_order_relaxed);
      // The claim of SQLite's worker waits for the end of this transaction.
      // PostgreSQL notifies when the transaction is committed.
      if (!in_transaction || !table_.is_postgres()) wake(queue);
      co_return Enqueued{**id, true};
    }
    const database::Result<std::optional<std::int64_t>> known =
        co_await table_.find_key(in, queue, options.key);
    if (!known) co_return std::unexpected(within_queue(known.error(), queue));
    if (*known) {
      known_.fetch_add(1, std::memory_order_relaxed);
      co_return Enqueued{**known, false};
    }
  }
  co_return fail(Code::unavailable,
                 fmt::format("the queue '{}': jobs with the key '{}' begin and end all the time; "
                             "try again",
                             queue, options.key));
}

Task<Result<std::vector<JobInfo>>> JobQueue::list(std::string queue, JobState state,
                                                  std::int64_t after, std::size_t count) {
  const database::Result<void> made = co_await table_.make();
  if (!made) co_return std::unexpected(within_queue(made.error(), queue));
  const auto most = static_cast<std::int64_t>(std::min(count, listed_max));
  database::Result<std::vector<JobInfo>> jobs = co_await table_.list(queue, state, after, most);
  if (!jobs) co_return std::unexpected(within_queue(jobs.error(), queue));
  co_return *std::move(jobs);
}

Task<Result<QueueDepth>> JobQueue::depth(std::string queue) {
  const database::Result<void> made = co_await table_.make();
  if (!made) co_return std::unexpected(within_queue(made.error(), queue));
  const database::Result<QueueDepth> depth = co_await table_.depth(queue);
  if (!depth) co_return std::unexpected(within_queue(depth.error(), queue));
  co_return *depth;
}

Task<Result<void>> JobQueue::retry(std::string queue, std::int64_t id) {
  const database::Result<void> made = co_await table_.make();
  if (!made) co_return std::unexpected(within_queue(made.error(), queue));
  if (id <= 0) {
    co_return fail(Code::not_found, fmt::format("the queue '{}' has no dead letter {}", queue, id));
  }
  const database::Result<std::int64_t> revived = co_await table_.revive(queue, id, 1);
  if (!revived) {
    if (revived.error().kind() == database::Kind::constraint_violation) {
      co_return fail(Code::already_exists,
                     fmt::format("the queue '{}': another job has the key of the dead letter {}; "
                                 "discard one of them",
                                 queue, id));
    }
    co_return std::unexpected(within_queue(revived.error(), queue));
  }
  if (*revived == 0) {
    co_return fail(Code::not_found, fmt::format("the queue '{}' has no dead letter {}", queue, id));
  }
  wake(queue);
  co_return {};
}

Task<Result<std::int64_t>> JobQueue::retry_all(std::string queue) {
  const database::Result<void> made = co_await table_.make();
  if (!made) co_return std::unexpected(within_queue(made.error(), queue));
  const database::Result<std::int64_t> revived =
      co_await table_.revive(queue, 0, static_cast<std::int64_t>(listed_max));
  if (!revived) co_return std::unexpected(within_queue(revived.error(), queue));
  wake(queue);
  co_return *revived;
}

Task<Result<void>> JobQueue::discard(std::string queue, std::int64_t id) {
  const database::Result<void> made = co_await table_.make();
  if (!made) co_return std::unexpected(within_queue(made.error(), queue));
  const database::Result<bool> gone = co_await table_.discard(queue, id);
  if (!gone) co_return std::unexpected(within_queue(gone.error(), queue));
  if (!*gone) {
    co_return fail(Code::not_found,
                   fmt::format("the queue '{}' has no job {} that does not run", queue, id));
  }
  co_return {};
}

void JobQueue::wake(const std::string& queue) noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, waker] : wakers_) {
    if (queue.empty() || name == queue) waker->wake();
  }
}

void JobQueue::add_waker(const std::string& queue, std::shared_ptr<Waker> waker) {
  const std::lock_guard lock(mutex_);
  wakers_.emplace_back(queue, std::move(waker));
}

void JobQueue::remove_waker(const std::shared_ptr<Waker>& waker) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(wakers_, [&](const auto& each) { return each.second == waker; });
}

JobQueue::Counts JobQueue::counts() const noexcept {
  return {queued_.load(std::memory_order_relaxed), known_.load(std::memory_order_relaxed)};
}

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
