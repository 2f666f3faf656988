#include "katana/database/postgres/shared.hpp"

#include "katana/base/check.hpp"
#include "katana/database/postgres/pool_wake.hpp"

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

void move_all(WorkList& from, WorkList& to) noexcept {
  while (Work* const work = from.pop()) to.push(*work);
}

}  // namespace

Shared::Shared(Options given) : options(std::move(given)) {}

Shared::~Shared() { KATANA_REQUIRE(handed_over_.empty()); }

bool Shared::take_permit() noexcept {
  std::uint32_t out = permits_.load(std::memory_order_relaxed);
  do {
    if (out >= options.connections_max) return false;
  } while (!permits_.compare_exchange_weak(out, out + 1, std::memory_order_relaxed));
  return true;
}

void Shared::return_permit() noexcept {
  permits_.fetch_sub(1, std::memory_order_relaxed);
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

// Under the mutex: the pool, and so its executor, is there.
void Shared::poke(Enrolled& enrolled) {
  if (enrolled.pool == nullptr || std::exchange(enrolled.poked, true)) return;
  enrolled.executor->post(*new Poke(enrolled.handle));
}

void Shared::poke_all() {
  const std::lock_guard lock(mutex_);
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

void Shared::take_handed_over(WorkList& works, std::size_t most) {
  const std::lock_guard lock(mutex_);
  for (; most > 0 && !handed_over_.empty(); --most) works.push(*handed_over_.pop());
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

void Shared::report_usable() noexcept {
  const std::lock_guard lock(mutex_);
  usable_.store(true, std::memory_order_relaxed);
}

void Shared::report_failure(std::string_view why) {
  const std::lock_guard lock(mutex_);
  if (usable_.exchange(false, std::memory_order_relaxed)) add(tallies.outages);
  failure_ = why;
}

katana::Result<void> Shared::health() const {
  if (usable()) return {};
  return std::unexpected(katana::Error(Error::unusable(failure()).within(options.describe())));
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
