// Call<Shape>: the awaitable of `co_await database.query<User>(…)`. One<R>, Many<R>, Changes: the
// shapes of its result.
//
// Owns       its outcome, or its work when it went to another thread.
// Borrows    its arguments, until the end of the expression that it is awaited in: it is awaited
//            where it is made.
// Thread     its executor's.
// Allocates  nothing when the answer is found here and its values need nothing; otherwise one piece
//            of the recycler.
// Fails      a Result; see error.hpp.
// Invariant  destroying the coroutine is safe at any time. A call that has not begun is not done,
//            a read that runs is interrupted, a write that runs ends on its own.
#pragma once

#include <algorithm>
#include <array>
#include <coroutine>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "katana/base/coroutine/needs_co_await.hpp"
#include "katana/base/memory/recycler.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/misuse.hpp"
#include "katana/stores/database/backend.hpp"
#include "katana/stores/database/work.hpp"

namespace katana::database {

// One row, or none.
template <class R>
class One final : public Outcome {
 public:
  using Value = std::optional<R>;  // empty: the statement returned no row
  TypeMismatch take(const Row& row) override {
    if (value_) return {"one row is wanted, and the statement has more"};
    return reader_.read(row, value_.emplace());
  }
  void clear() noexcept override {
    value_.reset();
    reader_.begin();
  }
  std::int64_t rows() const noexcept { return value_ ? 1 : 0; }
  Value result(Backend&) { return std::move(value_); }

 private:
  RowReader<R> reader_;
  Value value_;
};

// Every row. A backend limits their number; more are for a stream.
template <class R>
class Many final : public Outcome {
 public:
  using Value = std::vector<R>;  // in the order of the database
  TypeMismatch take(const Row& row) override { return reader_.read(row, rows_.emplace_back()); }
  void expect(std::size_t rows) override {  // a guess: a wrong one costs 64 KiB
    rows_.reserve(std::min(rows, 1 + std::size_t{64 * 1024} / sizeof(R)));
  }
  void clear() noexcept override {
    rows_.clear();
    reader_.begin();
  }
  std::int64_t rows() const noexcept { return static_cast<std::int64_t>(rows_.size()); }
  Value result(Backend&) { return std::move(rows_); }

 private:
  RowReader<R> reader_;
  Value rows_;
};

// The number of rows that a statement changed. Rows that it returns are dropped.
class Changes final : public Outcome {
 public:
  using Value = std::int64_t;  // number of rows
  TypeMismatch take(const Row&) override { return {}; }
  void clear() noexcept override {}
  std::int64_t rows() const noexcept { return rows_changed; }
  Value result(Backend&) noexcept { return rows_changed; }
};

namespace detail {

// A work, its outcome, and behind both its parameters.
template <class Shape>
class ShapedWork final : public Work {
 public:
  static ShapedWork* make(Executor& home, const Request& request) {
    std::size_t bytes = sizeof(ShapedWork) + request.values.size_bytes();
    for (const Value& value : request.values) bytes += value.octets.size();
    return new (recycler::allocate(bytes)) ShapedWork(home, request, bytes);
  }

  Shape shape;

 private:
  ShapedWork(Executor& home, const Request& asked, std::size_t bytes) noexcept
      : Work(home, asked, shape, &destroy_this), bytes_(bytes) {
    if (asked.sql != nullptr) {
      sql_ = *asked.sql;
      request.sql = &*sql_;
    }
    auto* const values = reinterpret_cast<Value*>(this + 1);
    char* octets = reinterpret_cast<char*>(values + asked.values.size());
    for (std::size_t index = 0; index < asked.values.size(); ++index) {
      Value& value = *new (values + index) Value(asked.values[index]);
      if (value.octets.empty()) continue;
      std::memcpy(octets, value.octets.data(), value.octets.size());
      value.octets = {octets, value.octets.size()};
      octets += value.octets.size();
    }
    request.values = {values, asked.values.size()};
  }
  static void destroy_this(Work* work) noexcept {
    auto* const self = static_cast<ShapedWork*>(work);
    const std::size_t bytes = self->bytes_;
    self->~ShapedWork();
    recycler::release(self, bytes);
  }

  std::size_t bytes_;
  std::optional<Sql> sql_;
};

// The timeout of a call, cut to the time that its caller has left (base/coroutine/deadline.hpp).
// Zero: `usual`, as for the backend.
Duration within_deadline(Duration timeout, Duration usual) noexcept;

// Submits and withdraws a work, for a Call and for a stream's batch.
template <class Shape>
class Waiter {
 public:
  Waiter() noexcept = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter() {
    if (work_ == nullptr) return;
    if (work_->waiting) {
      backend_->withdraw(*work_);
    } else {
      work_->destroy(work_);
    }
  }

  // Copies the request. Throws std::logic_error without an executor, for the coroutine has to have
  // somewhere to go on.
  void prepare(Backend& backend, const Request& request) {
    Executor* const executor = Executor::current();
    if (executor == nullptr) [[unlikely]] {
      throw_misuse("a database call was awaited on a thread without a reactor",
                   "await it in a handler or another coroutine that a reactor or a thread::Loop "
                   "runs; a job on a pool runs thread::Loop for it");
    }
    backend_ = &backend;
    work_ = ShapedWork<Shape>::make(*executor, request);
    work_->request.timeout = within_deadline(request.timeout, backend.timeout_default());
    work_->shape.backend = &backend;
    work_->run_in_turns = backend.runs_in_turns();
  }
  void submit(std::coroutine_handle<> waiting) {
    work_->waiting = waiting;
    work_->expect();
    backend_->submit(*work_);
  }
  bool prepared() const noexcept { return work_ != nullptr; }
  Shape& shape() noexcept { return work_->shape; }
  // The awaited call is over and read.
  void reset() noexcept {
    Work* const work = std::exchange(work_, nullptr);
    work->destroy(work);
  }

 private:
  Backend* backend_ = nullptr;
  ShapedWork<Shape>* work_ = nullptr;
};

}  // namespace detail

template <class Shape, std::size_t count = 0, std::size_t text_count = 0>
class [[nodiscard]] Call : public NeedsCoAwait {
 public:
  using Value = typename Shape::Value;  // what co_await returns, in a Result

  template <class... Arguments>
  Call(Backend& backend, Order order, std::uint64_t transaction, Duration timeout, const Sql* sql,
       const Arguments&... arguments) noexcept(text_count == 0)
      : backend_(backend), parameters_(arguments...) {
    if (sql != nullptr) sql_ = *sql;
    request_.order = order;
    request_.transaction = transaction;
    request_.timeout = timeout;
  }
  Call(Backend& backend, const Request& request) noexcept : backend_(backend), request_(request) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Made by co_await. It lives in the coroutine's frame, and withdraws the call if that is
  // destroyed.
  class Awaiter {
   public:
    explicit Awaiter(Call& call) noexcept : call_(call) {}
    bool await_ready() noexcept { return call_.answer_here(); }
    void await_suspend(std::coroutine_handle<> waiting) {
      call_.waiter_.prepare(call_.backend_, call_.request_);
      call_.waiter_.submit(waiting);
    }
    Result<Value> await_resume() { return call_.result(); }

   private:
    Call& call_;
  };
  // Awaited where it is made: its borrowed arguments live as long as that expression.
  Awaiter operator co_await() && noexcept { return Awaiter(*this); }

 private:
  bool answer_here() noexcept {
    if (sql_) request_.sql = &*sql_;
    request_.values = parameters_.values();
    observation_.begin(backend_.observed(), request_.order, request_.sql, current_activity);
    if (request_.order != Order::read) return false;
    switch (backend_.try_here(request_, shape_)) {
      case Attempt::done: return true;
      case Attempt::writes: request_.order = Order::write; break;
      case Attempt::elsewhere: break;
    }
    return false;
  }
  Result<Value> result() {
    Shape& shape = waiter_.prepared() ? waiter_.shape() : shape_;
    if (shape.error) [[unlikely]] {
      observation_.end(0, shape.error->kind());
      return std::unexpected(*std::move(shape.error));
    }
    observation_.end(shape.rows(), std::nullopt);
    return shape.result(backend_);
  }

  Backend& backend_;
  std::optional<Sql> sql_;
  Request request_;
  Parameters<count, text_count> parameters_;
  Shape shape_;
  detail::Waiter<Shape> waiter_;
  detail::Observation observation_;
};

// The Call whose parameters have these types.
template <class Shape, class... Arguments>
using CallFor = Call<Shape, parameters_of<Arguments...>, texts_of<Arguments...>>;

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
