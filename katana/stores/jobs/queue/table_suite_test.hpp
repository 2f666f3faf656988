// Rules of the job queue's table that hold on every database. They are about the fence of a lost
// lease, and about the order, the keys, the dead letters and the ends of rows.
//
//   EXPECT_EQ(run(check_fences(queue)), "");
//
// Thread     the caller's, or that of the loop which runs it.
// Fails      with a text that names the rule; "" is right.
// Invariant  no rule waits: a lease ends because its row is changed.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/stores/jobs/queue/job_queue.hpp"

namespace katana::queue {

// A row of the table; the key is empty where there is none.
struct TableRow {
  std::int64_t state = 0;
  std::int64_t attempts = 0;
  std::int64_t fence = 0;
  std::int64_t rank_us = 0;
  std::int64_t due_us = 0;
  std::int64_t until_us = 0;
  std::string job_key;
  std::string failure;
  std::string worker;
  bool operator==(const TableRow&) const = default;
};
KATANA_DESCRIBE(TableRow, state, attempts, fence, rank_us, due_us, until_us, job_key, failure,
                worker)

// The way in which a worker ends the lease that it has.
enum class Deed : std::uint8_t { finish, keep, retry, bury, release };
inline constexpr Deed all_deeds[] = {Deed::finish, Deed::keep, Deed::retry, Deed::bury,
                                     Deed::release};
constexpr const char* name_of(Deed deed) noexcept {
  switch (deed) {
    case Deed::finish: return "finish";
    case Deed::keep: return "finish, and keep the row";
    case Deed::retry: return "retry";
    case Deed::bury: return "bury";
    case Deed::release: break;
  }
  return "release";
}

inline constexpr Duration suite_lease = seconds(300);
inline constexpr std::int64_t priority_step_us = 60'000'000;

class TableCheck {
 public:
  explicit TableCheck(JobQueue& queue) : queue_(queue), table_(queue.table()) {}
  const std::string& said() const noexcept { return said_; }

  void expect(bool right, const std::string& what) {
    if (!right) said_ += what + "; ";
  }

  Task<std::int64_t> put(std::string name, int priority = 0, Duration delay = Duration()) {
    const EnqueueOptions options{.delay = delay, .priority = priority};
    co_return co_await put_with(name, options);
  }
  Task<std::int64_t> put_with(std::string name, EnqueueOptions options) {
    const std::string payload = "{}";
    const Result<Enqueued> queued = co_await queue_.enqueue_json(name, payload, options);
    expect(queued && queued->is_new, "a job is queued");
    co_return queued ? queued->id : 0;
  }
  Task<std::vector<ClaimedJob>> claim(std::string name, std::int64_t count, std::string worker) {
    auto claimed = co_await table_.claim(name, count, suite_lease, worker);
    expect(claimed.has_value(), "jobs can be claimed");
    co_return claimed ? *std::move(claimed) : std::vector<ClaimedJob>();
  }
  Task<Lease> claim_one(std::string name, std::string worker) {
    const std::vector<ClaimedJob> claimed = co_await claim(name, 1, worker);
    expect(claimed.size() == 1, "a job is claimed");
    co_return claimed.empty() ? Lease() : Lease{claimed[0].id, claimed[0].fence};
  }
  Task<TableRow> row(std::int64_t id) {
    const database::Queries& queries = table_.database();
    const auto found = co_await queries.query_one<TableRow>(
        "SELECT state, attempts, fence, rank_us, due_us, until_us, coalesce(job_key, '') AS "
        "job_key, failure, worker FROM katana_queue_jobs WHERE id = $1",
        id);
    expect(found.has_value(), "a row can be read");
    TableRow none;
    none.state = -1;
    co_return found && *found ? **found : none;
  }
  // Moves the end of a job's lease, or the time at which the job ended, to `time` earlier.
  Task<void> bring_forward(std::int64_t id, Duration time) {
    const std::int64_t time_us = time.ns / 1000;
    const database::Queries& queries = table_.database();
    const auto changed = co_await queries.execute(
        "UPDATE katana_queue_jobs SET until_us = until_us - $2 WHERE id = $1", id, time_us);
    expect(changed && *changed == 1, "a row can be changed");
  }
  Task<std::vector<ExpiredJob>> expire(std::string name, std::int64_t attempts_max) {
    auto expired = co_await table_.expire(name, attempts_max);
    expect(expired.has_value(), "leases that are over are found");
    co_return expired ? *std::move(expired) : std::vector<ExpiredJob>();
  }
  Task<bool> act(Deed deed, Lease lease) {
    const database::Queries& queries = table_.database();
    const std::string words = "by a worker";
    database::Result<bool> done = false;
    if (deed == Deed::finish) done = co_await table_.finish(queries, lease, false);
    if (deed == Deed::keep) done = co_await table_.finish(queries, lease, true);
    if (deed == Deed::retry) done = co_await table_.retry(lease, Duration{}, words);
    if (deed == Deed::bury) done = co_await table_.bury(lease, words);
    if (deed == Deed::release) done = co_await table_.release(lease);
    expect(done.has_value(), std::string(name_of(deed)) + ": its statement runs");
    co_return done.value_or(false);
  }
  Task<std::vector<Lease>> renew(std::string name, std::string worker, std::int64_t id,
                                 Duration lease) {
    const std::vector<std::int64_t> ids = {id};
    auto renewed = co_await table_.renew(name, worker, ids, lease);
    expect(renewed.has_value(), "leases can be renewed");
    co_return renewed ? *std::move(renewed) : std::vector<Lease>();
  }

  JobQueue& queue_;
  JobTable& table_;

 private:
  std::string said_;
};

// ---- fences

// A worker whose lease is over changes nothing when another worker has the job, or when the job
// waits again. A worker that ended its lease already changes nothing either.
inline Task<std::string> check_fence(JobQueue& queue, Deed deed) {
  TableCheck check(queue);
  const std::string what = name_of(deed);
  const std::int64_t id = co_await check.put("fences");
  const Lease lost = co_await check.claim_one("fences", "first");
  co_await check.bring_forward(id, suite_lease);
  const std::vector<ExpiredJob> expired = co_await check.expire("fences", 100);
  check.expect(expired.size() == 1, what + ": the lease is over");
  const TableRow waiting = co_await check.row(id);
  bool done = co_await check.act(deed, lost);
  TableRow after = co_await check.row(id);
  check.expect(!done && after == waiting, what + ": a job that waits again is left");
  const Lease held = co_await check.claim_one("fences", "second");
  check.expect(held.id == lost.id && held.fence == lost.fence + 1, what + ": a claim fences");
  const TableRow running = co_await check.row(id);
  done = co_await check.act(deed, lost);
  after = co_await check.row(id);
  check.expect(!done && after == running, what + ": the job of another worker is left");
  const Lease other = {held.id + 1, held.fence};
  done = co_await check.act(deed, other);
  check.expect(!done, what + ": a job that is not there is none");
  done = co_await check.act(deed, held);
  after = co_await check.row(id);
  check.expect(done && after != running, what + ": the worker that has the lease ends the job");
  done = co_await check.act(deed, held);
  const TableRow twice = co_await check.row(id);
  check.expect(!done && twice == after, what + ": once");
  (void)co_await check.queue_.discard("fences", id);
  co_return check.said();
}

inline Task<std::string> check_fences(JobQueue& queue) {
  std::string said;
  for (const Deed deed : all_deeds) said += co_await check_fence(queue, deed);
  co_return said;
}

// A renewal reaches the worker's own running jobs of its queue, and returns their fences.
inline Task<std::string> check_renewals(JobQueue& queue) {
  TableCheck check(queue);
  const std::int64_t id = co_await check.put("renewals");
  const Lease first = co_await check.claim_one("renewals", "first");
  const TableRow begun = co_await check.row(id);
  std::vector<Lease> renewed = co_await check.renew("renewals", "second", id, seconds(900));
  TableRow after = co_await check.row(id);
  check.expect(renewed.empty() && after == begun, "another worker renews nothing");
  renewed = co_await check.renew("others", "first", id, seconds(900));
  after = co_await check.row(id);
  check.expect(renewed.empty() && after == begun, "nor does a worker of another queue");
  renewed = co_await check.renew("renewals", "first", id + 1, seconds(900));
  after = co_await check.row(id);
  check.expect(renewed.empty() && after == begun, "nor one that names another job");
  renewed = co_await check.renew("renewals", "first", id, seconds(900));
  after = co_await check.row(id);
  check.expect(renewed.size() == 1 && renewed[0].id == id && renewed[0].fence == first.fence,
               "its worker renews it");
  check.expect(after.until_us >= begun.until_us + 600'000'000, "for so long from now on");
  co_await check.bring_forward(id, seconds(900));
  (void)co_await check.expire("renewals", 100);
  const TableRow waiting = co_await check.row(id);
  renewed = co_await check.renew("renewals", "first", id, seconds(900));
  after = co_await check.row(id);
  check.expect(renewed.empty() && after == waiting, "a lost lease is not renewed");
  (void)co_await check.claim_one("renewals", "first");
  renewed = co_await check.renew("renewals", "first", id, seconds(900));
  check.expect(renewed.size() == 1 && renewed[0].fence == first.fence + 1,
               "a renewal tells which claim it renewed");
  co_return check.said();
}

// ---- ends of leases

inline Task<std::string> check_expiry(JobQueue& queue) {
  TableCheck check(queue);
  const std::int64_t id = co_await check.put("expiry");
  const std::int64_t elsewhere = co_await check.put("expiry_elsewhere");
  const std::vector<ClaimedJob> claimed = co_await check.claim("expiry", 1, "first");
  (void)co_await check.claim_one("expiry_elsewhere", "first");
  co_await check.bring_forward(elsewhere, suite_lease);
  TableRow row = co_await check.row(id);
  if (claimed.size() == 1) {
    const std::int64_t now_us = row.due_us + claimed[0].waited_us;
    check.expect(row.until_us == now_us + suite_lease.ns / 1000, "a lease begins with its claim");
    check.expect(claimed[0].attempts == 1 && row.attempts == 1, "a claim is an attempt");
    check.expect(row.state == 1 && row.worker == "first", "the row says who has the job");
  }
  std::vector<ExpiredJob> expired = co_await check.expire("expiry", 2);
  check.expect(expired.empty(), "a lease that is not over is left, as is one of another queue");
  co_await check.bring_forward(id, suite_lease);
  expired = co_await check.expire("expiry", 2);
  row = co_await check.row(id);
  check.expect(expired.size() == 1 && expired[0].id == id && expired[0].attempts == 1 &&
                   expired[0].state == JobState::waiting,
               "a lease that is over is found");
  check.expect(row.state == 0 && row.worker.empty() && row.until_us == 0, "its job waits again");
  check.expect(row.failure.starts_with("the lease ended"), "its row says why");
  expired = co_await check.expire("expiry", 2);
  check.expect(expired.empty(), "once");
  (void)co_await check.claim_one("expiry", "second");
  co_await check.bring_forward(id, suite_lease);
  expired = co_await check.expire("expiry", 2);
  row = co_await check.row(id);
  check.expect(expired.size() == 1 && expired[0].state == JobState::dead && row.state == 3,
               "after its last attempt a job is a dead letter");
  check.expect(row.until_us > 0 && row.worker.empty(), "which says when it ended");
  co_return check.said();
}

// The second before the end of a lease belongs to its worker. True: it was seen before its end; the
// server's clock may have passed it meanwhile.
inline Task<bool> check_last_second(TableCheck& check, std::int64_t id) {
  const TableRow row = co_await check.row(id);
  const std::vector<ExpiredJob> expired = co_await check.expire("seconds", 100);
  if (expired.empty()) co_return true;
  // The lease was over if the next claim begins behind its end.
  const std::vector<ClaimedJob> claimed = co_await check.claim("seconds", 1, "second");
  const TableRow again = co_await check.row(id);
  const bool is_early = claimed.size() == 1 && again.due_us + claimed[0].waited_us < row.until_us;
  check.expect(!is_early, "a lease is not taken away within its last second");
  co_return is_early;
}

inline Task<std::string> check_last_seconds(JobQueue& queue) {
  TableCheck check(queue);
  const std::int64_t id = co_await check.put("seconds");
  (void)co_await check.claim_one("seconds", "first");
  for (int round = 0; round < 100; ++round) {
    co_await check.bring_forward(id, milliseconds(299'100));
    const bool is_judged = co_await check_last_second(check, id);
    if (is_judged) break;
  }
  co_return check.said();
}

// ---- texts about the end of an attempt

inline Task<std::string> check_ends(JobQueue& queue) {
  TableCheck check(queue);
  const std::int64_t id = co_await check.put("ends", 2);
  Lease lease = co_await check.claim_one("ends", "first");
  const TableRow begun = co_await check.row(id);
  const std::string words = "away";
  (void)co_await check.table_.retry(lease, seconds(40), words);
  TableRow row = co_await check.row(id);
  check.expect(row.state == 0 && row.worker.empty() && row.until_us == 0, "a retry waits");
  check.expect(row.due_us >= begun.due_us + 40'000'000, "for so long");
  check.expect(row.due_us - row.rank_us == 2 * priority_step_us, "and keeps its priority");
  check.expect(row.attempts == 1 && row.failure == "away", "the attempt counts, with its failure");
  const std::vector<ClaimedJob> early = co_await check.claim("ends", 10, "first");
  check.expect(early.empty(), "it is not claimed before");
  (void)co_await check.queue_.discard("ends", id);

  const std::int64_t given_back = co_await check.put("ends", -1);
  const TableRow waiting = co_await check.row(given_back);
  lease = co_await check.claim_one("ends", "first");
  (void)co_await check.act(Deed::release, lease);
  row = co_await check.row(given_back);
  check.expect(row.state == 0 && row.attempts == 0 && row.worker.empty(),
               "what is given back has lost no attempt");
  check.expect(row.due_us == waiting.due_us && row.rank_us == waiting.rank_us, "nor its place");
  lease = co_await check.claim_one("ends", "first");
  check.expect(lease.fence == 2, "but its fence has grown");
  (void)co_await check.act(Deed::bury, lease);
  row = co_await check.row(given_back);
  check.expect(row.state == 3 && row.failure == "by a worker" && row.worker.empty(),
               "a dead letter says why");
  check.expect(row.until_us >= waiting.due_us, "and when");

  const std::int64_t kept = co_await check.put("ends");
  lease = co_await check.claim_one("ends", "first");
  (void)co_await check.act(Deed::keep, lease);
  row = co_await check.row(kept);
  check.expect(row.state == 2 && row.worker.empty() && row.until_us >= row.due_us, "done is kept");
  const std::int64_t removed = co_await check.put("ends");
  lease = co_await check.claim_one("ends", "first");
  (void)co_await check.act(Deed::finish, lease);
  row = co_await check.row(removed);
  check.expect(row.state == -1, "or removed");
  co_return check.said();
}

// ---- tables of earlier versions

// Version 0.2 had no column `trace`: its table gets the column, and its rows stay.
inline Task<std::string> check_old_table(JobQueue& queue, JobQueue& next_version) {
  TableCheck check(queue);
  const std::int64_t old = co_await check.put("versions");
  const database::Queries& queries = queue.table().database();
  const auto dropped = co_await queries.execute("ALTER TABLE katana_queue_jobs DROP COLUMN trace");
  check.expect(dropped.has_value(), "the column can be dropped");
  TableCheck next(next_version);
  const std::int64_t added = co_await next.put("versions");
  const std::vector<ClaimedJob> claimed = co_await next.claim("versions", 10, "first");
  check.expect(claimed.size() == 2 && claimed[0].id == old && claimed[1].id == added,
               "jobs of both versions are claimed");
  check.expect(std::ranges::all_of(claimed, [](const auto& job) { return job.trace.empty(); }),
               "neither was queued by a span");
  const auto again = co_await next_version.table().make();
  check.expect(again.has_value(), "the table is whole");
  co_return check.said() + next.said();
}

// ---- dead letters

inline Task<std::int64_t> put_dead(TableCheck& check, std::string name, int priority = 0) {
  const std::int64_t id = co_await check.put(name, priority);
  const Lease lease = co_await check.claim_one(name, "first");
  (void)co_await check.act(Deed::bury, lease);
  co_return id;
}

inline Task<std::string> check_dead_letters(JobQueue& queue) {
  TableCheck check(queue);
  const std::int64_t first = co_await put_dead(check, "dead", 3);
  const std::int64_t second = co_await put_dead(check, "dead");
  const std::int64_t elsewhere = co_await put_dead(check, "dead_elsewhere");
  const TableRow buried = co_await check.row(first);
  for (const std::int64_t none : {std::int64_t{0}, std::int64_t{-1}, elsewhere}) {
    const Result<void> retried = co_await queue.retry("dead", none);
    check.expect(!retried && retried.error().code() == Code::not_found,
                 "an id that is no dead letter of the queue is not found");
  }
  TableRow row = co_await check.row(first);
  check.expect(row == buried, "and revives no other");
  const Result<void> retried = co_await queue.retry("dead", first);
  row = co_await check.row(first);
  check.expect(retried && row.state == 0 && row.until_us == 0, "a dead letter waits again");
  check.expect(row.attempts == 0, "with all of its attempts");
  check.expect(row.fence == buried.fence, "and the fence of its last claim");
  check.expect(row.due_us >= buried.due_us && row.due_us - row.rank_us == 3 * priority_step_us,
               "from now on, with its priority");
  row = co_await check.row(second);
  check.expect(row.state == 3, "the others stay dead");
  (void)co_await check.claim_one("dead", "first");
  const database::Result<std::int64_t> all = co_await check.table_.revive("dead", 0, 1);
  check.expect(all && *all == 1, "zero stands for each dead letter of the queue");
  row = co_await check.row(first);
  check.expect(row.state == 1, "a job that runs is not revived");
  row = co_await check.row(elsewhere);
  check.expect(row.state == 3, "nor one of another queue");
  const std::int64_t third = co_await put_dead(check, "dead_count");
  const std::int64_t fourth = co_await put_dead(check, "dead_count");
  const database::Result<std::int64_t> one = co_await check.table_.revive("dead_count", 0, 1);
  const TableRow older = co_await check.row(third), younger = co_await check.row(fourth);
  check.expect(one && *one == 1 && older.state == 0 && younger.state == 3,
               "the count limits it, and the oldest comes first");
  co_return check.said();
}

inline Task<std::string> check_discards(JobQueue& queue) {
  TableCheck check(queue);
  const std::int64_t id = co_await check.put("discards");
  Result<void> gone = co_await queue.discard("others", id);
  check.expect(!gone && gone.error().code() == Code::not_found, "a job of another queue stays");
  const Lease lease = co_await check.claim_one("discards", "first");
  gone = co_await queue.discard("discards", id);
  TableRow row = co_await check.row(id);
  check.expect(!gone && gone.error().code() == Code::not_found && row.state == 1,
               "a job that runs is not discarded");
  (void)co_await check.act(Deed::keep, lease);
  gone = co_await queue.discard("discards", id);
  row = co_await check.row(id);
  check.expect(gone && row.state == -1, "a job that is done is discarded");
  const std::int64_t waiting = co_await check.put("discards");
  gone = co_await queue.discard("discards", waiting);
  check.expect(gone.has_value(), "as is one that waits");
  const std::int64_t dead = co_await put_dead(check, "discards");
  gone = co_await queue.discard("discards", dead);
  check.expect(gone.has_value(), "and a dead letter");
  co_return check.said();
}

// ---- order and keys

inline Task<std::string> check_order(JobQueue& queue) {
  TableCheck check(queue);
  const std::int64_t plain = co_await check.put("order");
  const std::int64_t late = co_await check.put("order", 100, seconds(30));
  const std::int64_t low = co_await check.put("order", -100);
  const std::int64_t high = co_await check.put("order", 100);
  const std::int64_t second = co_await check.put("order");
  (void)co_await check.put("order_elsewhere");
  const TableRow row = co_await check.row(high);
  check.expect(row.due_us - row.rank_us == 100 * priority_step_us, "a priority is a head start");
  const std::vector<ClaimedJob> first = co_await check.claim("order", 2, "first");
  check.expect(first.size() == 2 && first[0].id == high && first[1].id == plain,
               "a claim takes so many, in their order");
  const std::vector<ClaimedJob> rest = co_await check.claim("order", 10, "first");
  check.expect(rest.size() == 2 && rest[0].id == second && rest[1].id == low,
               "the lowest priority is claimed, and what is due later is not");
  const database::Result<QueueDepth> depth = co_await check.table_.depth("order");
  check.expect(depth && depth->ready == 0 && depth->delayed == 1 && depth->running == 4 &&
                   depth->dead == 0 && depth->waited_us == 0,
               "the depth counts them");
  const auto running = co_await queue.list("order", JobState::running, plain, 2);
  check.expect(
      running && running->size() == 2 && (*running)[0].id == low && (*running)[1].id == high,
      "a list goes on behind an id, and has so many");
  const auto waiting = co_await queue.list("order", JobState::waiting, 0, 10);
  check.expect(waiting && waiting->size() == 1 && (*waiting)[0].id == late,
               "a list has the jobs of its state and queue");
  co_return check.said();
}

inline Task<std::optional<std::int64_t>> key_owner(TableCheck& check, std::string name) {
  const std::string key = "k";
  const database::Queries& queries = check.table_.database();
  auto found = co_await check.table_.find_key(queries, name, key);
  check.expect(found.has_value(), "keys can be looked up");
  co_return found ? *found : std::nullopt;
}

inline Task<std::string> check_key(JobQueue& queue, KeyLasts lasts, std::string name) {
  TableCheck check(queue);
  const EnqueueOptions options{.key = "k", .key_lasts = lasts};
  const std::int64_t id = co_await check.put_with(name, options);
  const std::string other = name + "_elsewhere";
  const std::int64_t elsewhere = co_await check.put_with(other, options);
  check.expect(id != elsewhere, "a key is of its queue");
  const std::string payload = "{}";
  const Result<Enqueued> second = co_await queue.enqueue_json(name, payload, options);
  check.expect(second && !second->is_new && second->id == id, "a key lets one job in");
  std::optional<std::int64_t> owner = co_await key_owner(check, name);
  check.expect(owner == id, "which has it while it waits");
  Lease lease = co_await check.claim_one(name, "first");
  owner = co_await key_owner(check, name);
  check.expect(owner.has_value() == (lasts != KeyLasts::until_begun), "a running job's key");
  (void)co_await check.act(Deed::keep, lease);
  owner = co_await key_owner(check, name);
  check.expect(owner.has_value() == (lasts == KeyLasts::until_removed), "a done job's key");
  if (owner) (void)co_await queue.discard(name, id);
  const std::int64_t dying = co_await check.put_with(name, options);
  lease = co_await check.claim_one(name, "first");
  (void)co_await check.act(Deed::bury, lease);
  owner = co_await key_owner(check, name);
  check.expect(!owner && dying != id, "a dead letter's key is free");
  co_return check.said();
}

inline Task<std::string> check_keys(JobQueue& queue) {
  std::string said = co_await check_key(queue, KeyLasts::until_begun, "key_begun");
  said += co_await check_key(queue, KeyLasts::until_done, "key_done");
  said += co_await check_key(queue, KeyLasts::until_removed, "key_removed");
  co_return said;
}

// ---- removal of rows

inline Task<std::string> check_purges(JobQueue& queue) {
  TableCheck check(queue);
  std::vector<std::int64_t> ids;
  for (int count = 0; count < 4; ++count) {
    const std::int64_t id = co_await put_dead(check, "purges");
    co_await check.bring_forward(id, seconds(1000 * (4 - count)));
    ids.push_back(id);
  }
  const std::int64_t elsewhere = co_await put_dead(check, "purges_elsewhere");
  co_await check.bring_forward(elsewhere, seconds(9000));
  database::Result<std::int64_t> gone =
      co_await check.table_.purge("purges", JobState::done, Duration{}, 0);
  check.expect(gone && *gone == 0, "rows of another state stay");
  gone = co_await check.table_.purge("purges", JobState::dead, seconds(5000), 4);
  check.expect(gone && *gone == 0, "what is neither old nor too many stays");
  gone = co_await check.table_.purge("purges", JobState::dead, seconds(3500), 4);
  TableRow row = co_await check.row(ids[0]);
  check.expect(gone && *gone == 1 && row.state == -1, "what ended so long ago goes");
  gone = co_await check.table_.purge("purges", JobState::dead, seconds(5000), 1);
  row = co_await check.row(ids[3]);
  check.expect(gone && *gone == 2 && row.state == 3, "of too many those that ended last stay");
  row = co_await check.row(elsewhere);
  check.expect(row.state == 3, "another queue's stay");
  co_return check.said();
}

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
