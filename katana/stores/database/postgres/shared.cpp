#include "katana/stores/database/postgres/shared.hpp"

#include <algorithm>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/stores/database/postgres/pool_wake.hpp"

namespace katana::database::postgres {
namespace {

// A message that outlives its pool does nothing.
struct Poke : Message {
  explicit Poke(std::shared_ptr<PoolHandle> to) noexcept
      : Message(&arrive), handle(std::move(to)) {}
  static void arrive(Message& message) noexcept {
    const std::unique_ptr<Poke> poke(&static_cast<Poke&>(message));
    if (poke->handle->pool != nullptr) wake(*poke->handle->pool);
  }
  std::shared_ptr<PoolHandle> handle;
};

std::string on_one_line(std::string_view text) {
  std::string line(text);
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  std::ranges::replace(line, '\n', ' ');
  return line;
}

void move_all(WorkList& from, WorkList& to) noexcept {
  while (Work* const work = from.pop()) to.push(*work);
}

}  // namespace

Shared::Shared(Options given, std::shared_ptr<Topology> of_topology, bool as_replica)
    : options(std::move(given)),
      topology(std::move(of_topology)),
      of_replica(as_replica),
      where_(options.describe()) {}

Shared::~Shared() { KATANA_REQUIRE(handed_over_.empty()); }

bool Shared::take_permit() noexcept {
  std::uint32_t out = permits_.load(std::memory_order_relaxed);
  do {
    if (out >= options.connections_max) return false;
  } while (!permits_.compare_exchange_weak(out, out + 1, std::memory_order_relaxed));
  return true;
}

void Shared::return_permit() noexcept {
  KATANA_CHECK(permits_.fetch_sub(1, std::memory_order_relaxed) > 0);
  if (has_handed_over()) poke_all();
}

std::uint32_t Shared::enrol(ConnectionPool& pool, std::shared_ptr<PoolHandle> handle,
                            Executor& executor) {
  const std::lock_guard lock(mutex_);
  auto made = std::make_unique<Enrolled>();
  made->pool = &pool;
  made->handle = std::move(handle);
  made->executor = &executor;
  pools_.push_back(std::move(made));
  return static_cast<std::uint32_t>(pools_.size());
}

void Shared::leave(std::uint32_t number) noexcept {
  const std::lock_guard lock(mutex_);
  pools_[number - 1]->pool = nullptr;
}

bool Shared::send(std::uint32_t number, Work& work) {
  const std::lock_guard lock(mutex_);
  if (number == 0 || number > pools_.size()) return false;
  Enrolled& enrolled = *pools_[number - 1];
  if (enrolled.pool == nullptr) return false;
  enrolled.inbox.works.push(work);
  poke(enrolled);
  return true;
}

void Shared::send(std::uint32_t number, const Command& command) {
  const std::lock_guard lock(mutex_);
  if (number == 0 || number > pools_.size()) return;
  Enrolled& enrolled = *pools_[number - 1];
  if (enrolled.pool == nullptr) return;
  enrolled.inbox.commands.push_back(command);
  poke(enrolled);
}

void Shared::receive(std::uint32_t number, WorkList& works, std::vector<Command>& commands) {
  const std::lock_guard lock(mutex_);
  Enrolled& enrolled = *pools_[number - 1];
  enrolled.poked = false;
  move_all(enrolled.inbox.works, works);
  commands.swap(enrolled.inbox.commands);
}

// Called with the mutex held: the pool, and therefore its executor, is there.
void Shared::poke(Enrolled& enrolled) {
  if (enrolled.pool == nullptr || std::exchange(enrolled.poked, true)) return;
  enrolled.executor->post(*new Poke(enrolled.handle));
}

void Shared::poke_all() {
  const std::lock_guard lock(mutex_);
  poke_each();
}

void Shared::poke_each() {
  for (const auto& enrolled : pools_) poke(*enrolled);
}

void Shared::hand_over(WorkList& works) {
  {
    const std::lock_guard lock(mutex_);
    move_all(works, handed_over_);
    handed_over_count_ = handed_over_.size();
  }
  poke_all();
}

void Shared::take_handed_over(WorkList& works, std::size_t most, Instant begin_by) {
  const std::lock_guard lock(mutex_);
  for (; most > 0 && !handed_over_.empty(); --most) {
    if (handed_over_.first()->begin_by > begin_by) break;
    works.push(*handed_over_.pop());
  }
  handed_over_count_ = handed_over_.size();
}

void Shared::take_expired(WorkList& works, Instant now) {
  const std::lock_guard lock(mutex_);
  for (Work* work = handed_over_.first(); work != nullptr;) {
    Work* const next = work->next_in_list();
    if (now >= work->begin_by || work->abandoned_by_now()) {
      handed_over_.remove(*work);
      works.push(*work);
    }
    work = next;
  }
  handed_over_count_ = handed_over_.size();
}

void Shared::take_all_handed_over(WorkList& works) {
  const std::lock_guard lock(mutex_);
  move_all(handed_over_, works);
  handed_over_count_ = 0;
}

void Shared::report_usable(Instant now) noexcept {
  if (usable()) return;
  const std::lock_guard lock(mutex_);
  if (known_down_.exchange(false, std::memory_order_relaxed)) {
    recoveries_.fetch_add(1, std::memory_order_relaxed);
    poke_each();
  }
  if (usable_.exchange(true, std::memory_order_relaxed) || failed_at_ == never) return;
  // `now` is the time of a reactor's turn. The reactor that noted the failure may be ahead.
  const Duration lasted = std::max(now - std::exchange(failed_at_, never), Duration());
  if (observer_) observer_({.where = where_, .lasted = lasted});
}

void Shared::report_failure(std::string_view why, Instant now) {
  const std::lock_guard lock(mutex_);
  if (usable_.exchange(false, std::memory_order_relaxed)) add(tallies.outages);
  std::string line = on_one_line(why);
  if (!known_down_.exchange(true, std::memory_order_relaxed)) poke_each();
  const bool is_new = failed_at_ == never || line != failure_;
  if (failed_at_ == never) failed_at_ = now;
  failure_ = std::move(line);
  if (is_new && observer_) observer_({.where = where_, .why = failure_});
}

void Shared::observe_outages(OutageObserver observer) {
  const std::lock_guard lock(mutex_);
  observer_ = std::move(observer);
  if (observer_ && failed_at_ != never) observer_({.where = where_, .why = failure_});
}

void Shared::note_schema_change(Instant now) noexcept {
  constexpr Duration apart = seconds(1);
  std::int64_t last_ns = schema_changed_ns_.load(std::memory_order_relaxed);
  if (last_ns != INT64_MIN && now.ns - last_ns < apart.ns) return;
  // relaxed: the two values only decide which caller counts. A connection that sees the change late
  // meets it in its own statements.
  if (!schema_changed_ns_.compare_exchange_strong(last_ns, now.ns, std::memory_order_relaxed))
    return;
  schema_changes_.fetch_add(1, std::memory_order_relaxed);
}

void Shared::renew_connections() {
  generation_.fetch_add(1, std::memory_order_relaxed);
  poke_all();
}

katana::Result<void> Shared::health() const {
  if (usable()) return {};
  return std::unexpected(katana::Error(Error::unusable(failure()).within(where_)));
}

std::string Shared::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

katana::Result<thread::Pool*> Shared::helper() {
  const std::lock_guard lock(mutex_);
  if (helper_ == nullptr) {
    auto made = thread::Pool::create({.name = "db-helper", .threads_min = 2, .queue_max = 1024});
    if (!made) return std::unexpected(made.error().within("threads of the database"));
    helper_ = *std::move(made);
  }
  return helper_.get();
}

void Shared::close() {
  closed_.store(true, std::memory_order_release);
  poke_all();
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
