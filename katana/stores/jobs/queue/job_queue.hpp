// JobQueue: jobs in a table of the program's database, queued in the same transaction as the change
// that causes them.
//
//   struct Welcome {
//     std::int64_t user = 0;
//   };
//   KATANA_DESCRIBE(Welcome, user)
//
//   auto body = [&](database::Transaction& transaction) -> Task<Result<void>> {
//     auto made = co_await transaction.execute("INSERT INTO users …", …);
//     if (!made) co_return std::unexpected(made.error());
//
//     Welcome job{7};
//     auto queued = co_await queue.enqueue(transaction, "welcome", job);
//     if (!queued) co_return std::unexpected(queued.error());
//     co_return {};
//   };
//   co_await database::transact(database, body);
//
// Either both are stored or neither is. A process that works the queue (queue_worker.hpp) does each
// job at least once; if it dies meanwhile, the job is done again.
//
// Owns       nothing: the rows are the database's.
// Borrows    the database, which must outlive it, and workers while they run.
// Thread     any executor's: those of the calls of the database. wake() any thread.
// Allocates  the text of a payload, and as the database's calls do.
// Fails      enqueue(): invalid_argument names the option; out_of_range: a payload of more than
//            payload_bytes_max; otherwise with the database's Error.
// Invariant  a job of a transaction that is rolled back is not queued.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/described.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/stores/jobs/queue/job_table.hpp"
#include "katana/stores/jobs/queue/types.hpp"
#include "katana/stores/jobs/queue/waker.hpp"

namespace katana::queue {

// Options of one JobQueue; processes that share a table may differ in them.
struct QueueOptions {
  std::size_t payload_bytes_max = std::size_t{64} << 10;  // of its text: 64 KiB
  // True: the table is made when it is first needed. False: the program's migrations make it; see
  // JobQueue::migrations().
  bool make_table = true;
  // PostgreSQL: each queued job notifies the channel notify_channel. False where no worker listens,
  // or where commits wait for the server's lock for notifications.
  bool notify = true;
};

// The channel of PostgreSQL: NOTIFY katana_queue, '<name of the queue>'.
inline constexpr const char* notify_channel = "katana_queue";

class JobQueue {
 public:
  explicit JobQueue(database::Database& database, QueueOptions options = {});
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  // The migrations that make the table, for both databases, under this number of the program's
  // migrations. Their text never changes. A program has trace_migrations() as well.
  static std::vector<database::MigrationFile> migrations(unsigned number) {
    return JobTable::migrations(number);
  }

  // The migration that adds the column `trace` to the table of migrations(). Without it the queue
  // works, and jobs have no link to the span that queued them.
  static std::vector<database::MigrationFile> trace_migrations(unsigned number) {
    return JobTable::trace_migrations(number);
  }

  // Queues a job within the transaction or savepoint, which outlives the call, and which fails with
  // it. Payloads and options are variables: g++ 12 destroys a temporary in a `co_await` twice
  // (decision 0018).
  template <Described Payload>
  Task<Result<Enqueued>> enqueue(const database::Nestable& transaction, std::string queue,
                                 const Payload& payload,
                                 const EnqueueOptions& options = EnqueueOptions()) {
    return enqueue_json(transaction, std::move(queue), container::to_json(payload), options);
  }
  // Queues a job in its own transaction.
  template <Described Payload>
  Task<Result<Enqueued>> enqueue(std::string queue, const Payload& payload,
                                 const EnqueueOptions& options = EnqueueOptions()) {
    return enqueue_json(std::move(queue), container::to_json(payload), options);
  }
  // The same for a payload that is JSON already, or another text without a zero byte.
  Task<Result<Enqueued>> enqueue_json(const database::Nestable& transaction, std::string queue,
                                      std::string payload,
                                      const EnqueueOptions& options = EnqueueOptions());
  Task<Result<Enqueued>> enqueue_json(std::string queue, std::string payload,
                                      const EnqueueOptions& options = EnqueueOptions());
  template <Described Payload>
  Task<Result<Enqueued>> enqueue(const database::Nestable&, std::string, const Payload&&,
                                 const EnqueueOptions& = EnqueueOptions()) = delete;
  template <Described Payload>
  Task<Result<Enqueued>> enqueue(const database::Nestable&, std::string, const Payload&,
                                 const EnqueueOptions&&) = delete;
  template <Described Payload>
  Task<Result<Enqueued>> enqueue(std::string, const Payload&&,
                                 const EnqueueOptions& = EnqueueOptions()) = delete;
  template <Described Payload>
  Task<Result<Enqueued>> enqueue(std::string, const Payload&, const EnqueueOptions&&) = delete;

  // Jobs in that state with an id above `after`, by id; at most 1,000.
  Task<Result<std::vector<JobInfo>>> list(std::string queue, JobState state, std::int64_t after = 0,
                                          std::size_t count = 100);
  Task<Result<QueueDepth>> depth(std::string queue);
  // Makes a dead letter wait again, with all of its attempts. not_found; already_exists: another
  // job has its key.
  Task<Result<void>> retry(std::string queue, std::int64_t id);
  // The same for all dead letters, the oldest first, at most 1,000 in a call. Returns how many.
  Task<Result<std::int64_t>> retry_all(std::string queue);
  // Removes a job that is not running. not_found.
  Task<Result<void>> discard(std::string queue, std::int64_t id);

  // Makes workers of this process look for jobs of that queue now; empty: of all queues. For a
  // program that learns of queued jobs in another way, such as NOTIFY.
  void wake(const std::string& queue = {}) noexcept;

  // ---- for workers
  JobTable& table() noexcept { return table_; }
  const QueueOptions& options() const noexcept { return options_; }
  void add_waker(const std::string& queue, std::shared_ptr<Waker> waker);
  void remove_waker(const std::shared_ptr<Waker>& waker) noexcept;
  // Jobs that were queued here, and how many of them existed already.
  struct Counts {
    std::uint64_t queued = 0;  // calls of enqueue(), rolled back ones included
    std::uint64_t known = 0;   // of these, whose key another job had: nothing was added
  };
  Counts counts() const noexcept;

 private:
  Task<Result<Enqueued>> put(database::Queries in, bool in_transaction, std::string queue,
                             std::string payload, EnqueueOptions options);
  Result<void> check(const std::string& queue, const std::string& payload,
                     const EnqueueOptions& options) const;

  const QueueOptions options_;
  JobTable table_;
  std::atomic<std::uint64_t> queued_ = 0;
  std::atomic<std::uint64_t> known_ = 0;
  std::mutex mutex_;  // guards wakers_
  std::vector<std::pair<std::string, std::shared_ptr<Waker>>> wakers_;
};

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
