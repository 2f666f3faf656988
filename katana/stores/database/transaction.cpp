#include "katana/stores/database/transaction.hpp"

#include <atomic>
#include <utility>

namespace katana::database {
namespace {

// A number that is unique in the process, and therefore in each transaction. Never 0.
std::uint32_t next_savepoint() noexcept {
  static std::atomic<std::uint32_t> numbers = 0;
  for (;;) {
    const std::uint32_t number = ++numbers;
    if (number != 0) return number;
  }
}

}  // namespace

Task<Result<Savepoint>> Nestable::savepoint() const {
  Backend& backend = *backend_;
  const Duration timeout = timeout_;
  const std::uint64_t transaction = transaction_;
  const std::uint32_t number = next_savepoint();
  const Result<std::int64_t> made =
      co_await Call<Changes>(backend, Request{.order = Order::savepoint,
                                              .savepoint = number,
                                              .transaction = transaction,
                                              .timeout = timeout});
  if (!made) co_return std::unexpected(made.error());
  co_return Savepoint(backend, transaction, timeout, number);
}

// Submits the undo in the order of the calls: the next statement of the transaction comes behind
// it. No caller waits for it. Outside of any executor the transaction has lost its caller, too.
void Savepoint::undo() noexcept {
  Executor* const executor = Executor::current();
  if (executor == nullptr) return backend_->roll_back(transaction_);
  const Request request{
      .order = Order::undo, .savepoint = std::exchange(number_, 0), .transaction = transaction_};
  auto* const work = detail::ShapedWork<Changes>::make(*executor, request);
  work->shape.backend = backend_;
  work->run_in_turns = backend_->runs_in_turns();
  work->expect();
  backend_->submit(*work);
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
