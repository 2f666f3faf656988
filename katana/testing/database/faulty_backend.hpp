// FaultyBackend: a database with the faults that a test requests.
//
// Owns       the real backend, and delayed calls.
// Borrows    the faults, which outlive it.
// Thread     as Backend, on one reactor: the test's.
// Allocates  for each call that is delayed.
// Fails      as the faults say.
// Invariant  a call that fails here never reaches the backend. A delayed call reaches it when
//            virtual time has passed. Calls outside of a reactor are not delayed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>

#include "katana/stores/database/backend.hpp"
#include "katana/testing/database/database_faults.hpp"

namespace katana::testing {

class FaultyBackend final : public database::Backend {
 public:
  // `on_call`, if given, runs before each call that reaches `backend`.
  FaultyBackend(std::unique_ptr<database::Backend> backend, DatabaseFaults& faults,
                std::function<void()> on_call = {});
  ~FaultyBackend() override;

  database::Attempt try_here(const database::Request& request,
                             database::Outcome& outcome) noexcept override;
  void submit(database::Work& work) noexcept override;
  void withdraw(database::Work& work) noexcept override;
  void roll_back(std::uint64_t transaction) noexcept override;
  void close(database::Cursor& cursor) noexcept override { backend_->close(cursor); }
  void observe_outages(database::OutageObserver observer) override {
    backend_->observe_outages(std::move(observer));
  }
  Bytes system() const noexcept override { return backend_->system(); }
  Result<void> health() const override;
  database::Statistics statistics() const override;
  bool runs_in_turns() const noexcept override { return backend_->runs_in_turns(); }
  Duration timeout_default() const noexcept override { return backend_->timeout_default(); }

 private:
  class Delayed;

  bool is_delayed() const noexcept;
  void go_on(database::Work& work) noexcept;
  void pass_on(database::Work& work) noexcept;
  void refuse(database::Work& work, database::Error error) noexcept;

  const std::unique_ptr<database::Backend> backend_;
  DatabaseFaults& faults_;
  const std::function<void()> on_call_;
  std::map<const database::Work*, std::unique_ptr<Delayed>> delayed_;
  std::set<std::uint64_t> conflicted_;  // transactions that a conflict rolled back
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
