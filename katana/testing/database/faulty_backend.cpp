#include "katana/testing/database/faulty_backend.hpp"

#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::testing {

using database::Attempt, database::Order, database::Work;

// A call that waits for virtual time.
class FaultyBackend::Delayed final : private net::TimerEntry {
 public:
  Delayed(FaultyBackend& owner, Work& of) noexcept
      : TimerEntry([](net::TimerEntry& entry) noexcept { static_cast<Delayed&>(entry).on_time(); }),
        owner_(owner),
        work_(of) {
    const Duration timeout =
        work_.request.timeout > Duration{} ? work_.request.timeout : owner_.timeout_default();
    const Duration delay = owner_.faults_.draw_delay();
    is_late_ = timeout <= delay;
    net::Reactor& reactor = *net::Reactor::current();
    reactor.timers().arm(*this, reactor.now() + (is_late_ ? timeout : delay));
  }

 private:
  void on_time() noexcept {
    FaultyBackend& owner = owner_;
    Work& work = work_;
    const bool is_late = is_late_;
    const auto self = owner.delayed_.extract(&work);  // this, until the end of the call
    if (is_late) {
      owner.refuse(work, database::Error(database::Kind::timeout, "deadline exceeded"));
    } else {
      owner.go_on(work);
    }
  }

  FaultyBackend& owner_;
  Work& work_;
  bool is_late_ = false;
};

FaultyBackend::FaultyBackend(std::unique_ptr<database::Backend> backend, DatabaseFaults& faults,
                             std::function<void()> on_call)
    : backend_(std::move(backend)), faults_(faults), on_call_(std::move(on_call)) {}

FaultyBackend::~FaultyBackend() { KATANA_REQUIRE(delayed_.empty()); }

bool FaultyBackend::is_delayed() const noexcept {
  return faults_.delays() && net::Reactor::current() != nullptr &&
         net::Reactor::current() == Executor::current();
}

Attempt FaultyBackend::try_here(const database::Request& request,
                                database::Outcome& outcome) noexcept {
  faults_.note_call();
  if (is_delayed()) return Attempt::elsewhere;  // submit() is next
  if (auto failure = faults_.take_failure()) {
    outcome.error = std::move(failure);
    return Attempt::done;
  }
  if (on_call_) on_call_();
  return backend_->try_here(request, outcome);
}

void FaultyBackend::submit(Work& work) noexcept {
  // These calls came by try_here(), which has counted them.
  const bool is_counted = work.request.order == Order::read || work.request.order == Order::write;
  if (!is_counted) faults_.note_call();
  if (work.request.order == Order::rollback && conflicted_.erase(work.request.transaction) != 0) {
    work.outcome.rows_changed = 1;  // a database reports so that it may run again
    return database::Completions().add(work);
  }
  if (is_delayed()) {
    delayed_.emplace(&work, std::make_unique<Delayed>(*this, work));
    return;
  }
  is_counted ? pass_on(work) : go_on(work);
}

void FaultyBackend::go_on(Work& work) noexcept {
  // A rollback needs nothing of a failing database, and uses up no failure of the next call.
  const bool undoes = work.request.order == Order::rollback || work.request.order == Order::undo;
  if (undoes) return pass_on(work);
  if (auto failure = faults_.take_failure()) return refuse(work, *std::move(failure));
  if (work.request.order != Order::read) return pass_on(work);
  switch (backend_->try_here(work.request, work.outcome)) {
    case Attempt::done: {
      database::Completions().add(work);
      return;
    }
    case Attempt::writes: work.request.order = Order::write; break;
    case Attempt::elsewhere: break;
  }
  pass_on(work);
}

void FaultyBackend::pass_on(Work& work) noexcept {
  if (on_call_) on_call_();
  backend_->submit(work);
}

void FaultyBackend::refuse(Work& work, database::Error error) noexcept {
  const std::uint64_t transaction = work.request.transaction;
  if (transaction != 0) {
    backend_->roll_back(transaction);
    if (error.kind() == database::Kind::conflict && work.request.order != Order::commit) {
      conflicted_.insert(transaction);
    }
  }
  work.outcome.error = std::move(error);
  database::Completions().add(work);
}

void FaultyBackend::roll_back(std::uint64_t transaction) noexcept {
  conflicted_.erase(transaction);
  backend_->roll_back(transaction);
}

void FaultyBackend::withdraw(Work& work) noexcept {
  if (delayed_.erase(&work) == 0) return backend_->withdraw(work);
  const std::uint64_t transaction = work.request.transaction;
  work.unexpect();
  work.destroy(&work);
  if (transaction != 0) backend_->roll_back(transaction);
}

Result<void> FaultyBackend::health() const {
  if (faults_.outage()) return std::unexpected(katana::Error(*faults_.outage()));
  return backend_->health();
}

database::Statistics FaultyBackend::statistics() const {
  database::Statistics statistics = backend_->statistics();
  if (faults_.outage()) statistics.usable = false;
  return statistics;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
