// Stream<R>: the rows of a large result, some at a time.
//
//   auto users = database.stream<User>("SELECT id, name FROM users");
//   while (true) {
//     Result<std::optional<User>> user = co_await users.next();
//     if (!user) co_return std::unexpected(user.error());
//     if (!*user) break;  // the end
//     …
//   }
//
// Owns       its parameters, one batch of rows, and a connection of the pool from the first next()
//            until its end.
// Borrows    the database, which must outlive it.
// Thread     its executor's.
// Allocates  its batch.
// Fails      next() with an Error, once; after that the stream is at its end. A stream that is not
//            read for longer than its database allows has lost its connection: Kind::timeout.
// Invariant  only the rest of a batch is read ahead of next(): a slow reader stops the statement,
//            and holds no thread. All rows are of one snapshot.
#pragma once

#include <coroutine>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "katana/stores/database/call.hpp"

namespace katana::database {

inline constexpr std::size_t stream_batch_rows = 128;  // fetched and kept at a time

// Some rows of a stream. Closes the cursor when it is destroyed before the end.
template <class R>
class Batch final : public Outcome {
 public:
  ~Batch() {
    if (cursor != nullptr) backend->close(*cursor);
  }
  TypeMismatch take(const Row& row) override { return reader_.read(row, rows.emplace_back()); }
  void clear() noexcept override { rows.clear(); }
  bool wants_more() const noexcept override { return rows.size() < stream_batch_rows; }

  std::vector<R> rows;  // at most stream_batch_rows

 private:
  RowReader<R> reader_;
};

template <class R>
class [[nodiscard]] Stream {
 public:
  template <class... Arguments>
  Stream(Backend& backend, Duration timeout, const Sql& sql, const Arguments&... arguments)
      : backend_(backend), timeout_(timeout), sql_(sql) {
    const Parameters<parameters_of<Arguments...>, texts_of<Arguments...>> parameters(arguments...);
    waiter_.prepare(
        backend,
        {.order = Order::open, .sql = &sql, .values = parameters.values(), .timeout = timeout});
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    // The reader has read as much as it wanted.
    if (cursor_ != nullptr) observation_.end(rows_read_, std::nullopt);
    if (cursor_ != nullptr) backend_.close(*cursor_);
  }

  // The awaitable of `co_await stream.next()`.
  class Next {
   public:
    explicit Next(Stream& stream) noexcept : stream_(stream) {}
    bool await_ready() const noexcept {
      return stream_.position_ < stream_.rows_.size() || stream_.ended_;
    }
    void await_suspend(std::coroutine_handle<> waiting) {
      stream_.fetch(waiting);
      fetched_ = true;
    }
    Result<std::optional<R>> await_resume() {
      return fetched_ ? stream_.take_batch() : stream_.take_row();
    }

   private:
    Stream& stream_;
    bool fetched_ = false;
  };
  // The next row; no value at the end. REQUIRES that no other next() is awaited.
  [[nodiscard]] Next next() noexcept { return Next(*this); }

 private:
  void fetch(std::coroutine_handle<> waiting) {
    // Its reader may be another activity by the end.
    if (waiter_.prepared()) {
      observation_.begin(backend_.observed(), Order::open, &sql_, nullptr);
    } else {
      observation_.resume();
      // The stream's cursor goes with the request and comes back with the batch.
      waiter_.prepare(backend_, {.order = Order::fetch, .cursor = cursor_, .timeout = timeout_});
      waiter_.shape().cursor = std::exchange(cursor_, nullptr);
    }
    waiter_.submit(waiting);
  }
  Result<std::optional<R>> take_batch() {
    Batch<R>& batch = waiter_.shape();
    cursor_ = std::exchange(batch.cursor, nullptr);
    rows_ = std::move(batch.rows);
    position_ = 0;
    rows_read_ += static_cast<std::int64_t>(rows_.size());
    ended_ = cursor_ == nullptr;
    std::optional<Error> error = std::move(batch.error);
    waiter_.reset();
    if (error) {
      ended_ = true;
      rows_.clear();
      observation_.end(rows_read_, error->kind());
      return std::unexpected(*std::move(error));
    }
    ended_ ? observation_.end(rows_read_, std::nullopt) : observation_.pause();
    return take_row();
  }
  std::optional<R> take_row() {
    if (position_ == rows_.size()) return std::nullopt;
    return std::move(rows_[position_++]);
  }

  Backend& backend_;
  Duration timeout_;
  Sql sql_;
  Cursor* cursor_ = nullptr;
  std::vector<R> rows_;
  std::size_t position_ = 0;
  bool ended_ = false;
  std::int64_t rows_read_ = 0;
  detail::Waiter<Batch<R>> waiter_;
  detail::Observation observation_;
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
