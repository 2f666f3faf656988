// AwaitedBackend: a database that is not there yet. Its calls fail at once, with why, until it has
// come; from then on they are its own.
//
//   auto awaited = std::make_unique<database::AwaitedBackend>("postgresql", timeout, why);
//   database::AwaitedBackend& place = *awaited;
//   database::Database database(std::move(awaited));     // is used from here on
//   …
//   place.adopt(std::move(opened));                      // on any thread, once
//
// Owns       the database, once it was adopted.
// Thread     as Backend; adopt() and set_reason() any.
// Allocates  an Error for each call that fails.
// Fails      calls with Kind::unavailable until adopt().
// Invariant  a call is answered by one of the two: by this, which never begins it, or by the
//            backend.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "katana/stores/database/database.hpp"

namespace katana::database {

class AwaitedBackend final : public Backend {
 public:
  // `system`: a literal, as Backend::system().
  AwaitedBackend(Bytes system, Duration timeout, std::string why)
      : system_(system), timeout_(timeout), why_(std::move(why)) {}

  // Any thread. The errors of later statements say why the database is not there yet.
  void set_reason(std::string why);
  // REQUIRES that it was not called before.
  void adopt(Database database);
  bool has_come() const noexcept { return backend() != nullptr; }

  Attempt try_here(const Request& request, Outcome& outcome) noexcept override;
  void submit(Work& work) noexcept override;
  void withdraw(Work& work) noexcept override;
  void roll_back(std::uint64_t transaction) noexcept override;
  void close(Cursor& cursor) noexcept override;
  void observe_outages(OutageObserver observer) override;
  Bytes system() const noexcept override { return system_; }
  Backend& replica() noexcept override;
  katana::Result<void> health() const override;
  Statistics statistics() const override;
  Duration timeout_default() const noexcept override { return timeout_; }

 private:
  // acquire: pairs with adopt().
  Backend* backend() const noexcept { return there_.load(std::memory_order_acquire); }
  Error unusable() const;

  const Bytes system_;
  const Duration timeout_;
  std::atomic<Backend*> there_ = nullptr;
  std::atomic<std::uint64_t> refused_ = 0;
  mutable std::mutex mutex_;  // what follows
  std::string why_;
  OutageObserver observer_;
  std::optional<Database> owned_;
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
