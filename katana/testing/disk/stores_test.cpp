// KATANA's own tables on a disk that crashes at any operation: the job queue, sessions, idempotency
// keys. A queued job is there, and a finished one is not done again. A session that was removed
// stays removed. A key that is done is not claimed again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "katana/identity/idempotency/database/key_table.hpp"
#include "katana/identity/idempotency/store_suite_test.hpp"
#include "katana/identity/sessions/database/session_table.hpp"
#include "katana/identity/sessions/store_suite_test.hpp"
#include "katana/stores/jobs/queue/job_queue.hpp"
#include "katana/testing/disk/disk_scene_test.hpp"

namespace katana::testing {
namespace {

constexpr std::int64_t now_s = 1'000'000;
constexpr Duration lease = seconds(100'000);

// The state of a job, a session or a key as its caller knows it. It is open from the call until the
// acknowledgement.
enum class Known : std::uint8_t { open, begun, ended };

class Stores {
 public:
  explicit Stores(std::uint64_t seed, DiskOptions disk) : scene(seed, std::move(disk), options()) {}

  bool open() {
    if (!scene.open()) return false;
    sessions_.emplace(scene.db());
    keys_.emplace(scene.db());
    queue_.emplace(scene.db());
    return true;
  }
  void work(int callers, int rounds) {
    DiskScene::Tasks tasks;
    for (int caller = 0; caller < callers; ++caller) {
      tasks.push_back(std::make_unique<Task<void>>(call(rounds)));
    }
    scene.run(tasks);
  }
  void restart() {
    scene.restart();
    queue_.reset();
    keys_.reset();
    sessions_.reset();
  }
  // Returns the rules that are broken. REQUIRES an open database.
  std::string compare() { return scene.finish(compare_all()); }

  int acknowledged = 0;
  DiskScene scene;

 private:
  static database::sqlite::Options options() {
    database::sqlite::Options options;
    options.checkpoint_pages = 30;
    return options;
  }

  Task<void> call(int rounds) {
    for (int round = 0; round < rounds && !scene.disk.is_down(); ++round) {
      switch (scene.below(3)) {
        case 0: co_await use_queue(); break;
        case 1: co_await use_session(); break;
        default: co_await use_key();
      }
    }
  }

  // ---- jobs: by their payloads

  Task<void> use_queue() {
    if (scene.below(2) == 0) {
      const std::int64_t job = ++last_;
      jobs_[job] = Known::open;
      const auto queued = co_await queue_->enqueue_json("mail", std::to_string(job));
      if (queued) note(jobs_[job], Known::begun);
      co_return;
    }
    const auto claimed = co_await queue_->table().claim("mail", 2, lease, "worker");
    if (!claimed) co_return;
    const database::Queries& queries = scene.db();
    for (const queue::ClaimedJob& job : *claimed) {
      Known& known = jobs_[std::stoll(job.payload)];
      if (known == Known::ended) broken_ += fmt::format("job {} is done twice; ", job.payload);
      const bool keeps = scene.below(2) == 0;
      known = Known::open;
      const queue::Lease held{job.id, job.fence};
      const auto finished = co_await queue_->table().finish(queries, held, keeps);
      if (finished && *finished) note(jobs_[std::stoll(job.payload)], Known::ended);
    }
  }

  // ---- sessions: by their names

  Task<void> use_session() {
    const std::int64_t number = ++last_;
    const std::string name = std::to_string(number);
    sessions_known_[number] = Known::open;
    sessions::SessionWrite write = sessions::write_of(name, "user" + name, now_s);
    const sessions::SessionKey key = write.key;
    const auto made = co_await sessions_->compare_and_set(write);
    if (!made) co_return;
    note(sessions_known_[number], Known::begun);
    if (scene.below(2) == 0) co_return;
    sessions_known_[number] = Known::open;
    if (scene.below(2) == 0) {
      const auto removed = co_await sessions_->remove(key);
      if (removed) note(sessions_known_[number], Known::ended);
    } else {
      const auto removed = co_await sessions_->remove_all("test", "user" + name);
      if (removed) note(sessions_known_[number], Known::ended);
    }
  }

  // ---- idempotency keys: by their names; the token is the number

  Task<void> use_key() {
    const std::int64_t number = ++last_;
    const std::string name = std::to_string(number);
    keys_known_[number] = Known::open;
    const idempotency::Claim claim = idempotency::suite_claim(name, number);
    const auto claimed = co_await keys_->claim(claim, lease);
    if (!claimed) co_return;
    note(keys_known_[number], Known::begun);
    if (scene.below(3) == 0) co_return;
    keys_known_[number] = Known::open;
    const auto kept = co_await keys_->keep(claim, "reply " + name, lease);
    if (kept && *kept) note(keys_known_[number], Known::ended);
  }

  void note(Known& known, Known now) {
    known = now;
    ++acknowledged;
  }

  Task<std::string> compare_all() {
    co_await compare_jobs();
    for (const auto& [number, known] : sessions_known_) {
      const sessions::SessionKey key = crypto::sha256(std::to_string(number));
      const auto found = co_await sessions_->load(key, now_s);
      expect(found.has_value(), number, "cannot be loaded");
      if (!found) continue;
      expect(known != Known::begun || found->has_value(), number, "is a session that is lost");
      expect(known != Known::ended || !found->has_value(), number, "is a session that lives again");
    }
    for (auto& [number, known] : keys_known_) {
      const std::string name = std::to_string(number);
      const auto claimed = co_await keys_->claim(idempotency::suite_claim(name, ++last_), lease);
      expect(claimed.has_value(), number, "cannot be claimed");
      if (!claimed) continue;
      const idempotency::ClaimState state = claimed->state;
      expect(known != Known::begun || state == idempotency::ClaimState::in_progress, number,
             "is a key that is claimed twice");
      expect(known != Known::ended || state == idempotency::ClaimState::done, number,
             "is a key whose reply is lost");
      expect(known != Known::ended || claimed->reply == "reply " + name, number,
             "is a key with another reply");
      if (state == idempotency::ClaimState::claimed) known = Known::begun;
    }
    co_return std::exchange(broken_, {});
  }

  Task<void> compare_jobs() {
    std::map<std::int64_t, queue::JobState> there;
    for (const queue::JobState state :
         {queue::JobState::waiting, queue::JobState::running, queue::JobState::done}) {
      const auto listed = co_await queue_->list("mail", state, 0, 1000);
      expect(listed.has_value(), 0, "jobs cannot be listed");
      if (!listed) co_return;
      for (const queue::JobInfo& job : *listed) there[std::stoll(job.payload)] = state;
    }
    for (const auto& [number, known] : jobs_) {
      const auto found = there.find(number);
      const bool is_left = found != there.end() && found->second != queue::JobState::done;
      expect(known != Known::begun || is_left, number, "is a job that is lost");
      expect(known != Known::ended || !is_left, number, "is a job that is done twice");
    }
  }
  void expect(bool right, std::int64_t number, std::string_view what) {
    if (!right) broken_ += fmt::format("{} {}; ", number, what);
  }

  std::optional<sessions::DatabaseSessionStore> sessions_;
  std::optional<idempotency::DatabaseStore> keys_;
  std::optional<queue::JobQueue> queue_;
  std::int64_t last_ = 0;
  std::map<std::int64_t, Known> jobs_, sessions_known_, keys_known_;
  std::string broken_;
};

// The rules that are broken, and how many changes were acknowledged.
std::pair<std::string, int> live_stores(std::uint64_t seed, DiskOptions disk = {}) {
  Stores stores(seed, std::move(disk));
  for (int life = 0; life < 4; ++life) {
    SimulatedDisk& files = stores.scene.disk;
    files.crash_at(files.operations() + 1 + stores.scene.below(300));
    if (stores.open()) stores.work(1 + static_cast<int>(stores.scene.below(6)), 8);
    stores.restart();
    if (!stores.open()) return {"it does not open: " + stores.scene.refusal(), 0};
    if (std::string broken = stores.compare(); !broken.empty()) return {broken, 0};
    stores.restart();
  }
  return {"", stores.acknowledged};
}

TEST(StoresTest, keep_what_they_acknowledged_through_a_crash_at_any_operation) {
  int acknowledged = 0;
  for (const std::uint64_t seed : seeds(25)) {
    const auto [broken, count] = live_stores(seed);
    ASSERT_EQ(broken, "") << "seed " << seed;
    acknowledged += count;
  }
  EXPECT_GT(acknowledged, 500);
}

TEST(StoresTest, on_a_disk_that_lies_are_found_to_lose_what_they_acknowledged) {
  std::string all;
  for (const std::uint64_t seed : seeds(60)) {
    all += live_stores(seed, {.ignores_sync = true}).first;
  }
  for (const char* what :
       {"is a job that is lost", "is a session that is lost", "is a session that lives again",
        "is a key that is claimed twice", "is a key whose reply is lost"}) {
    EXPECT_TRUE(all.contains(what)) << what;
  }
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
