#include "katana/stores/database/postgres/copy.hpp"

#include <fmt/format.h>

#include <cmath>
#include <coroutine>
#include <iterator>
#include <optional>

#include "katana/base/text/format.hpp"

namespace katana::database::postgres {
namespace {

// The outcome of a call of a copy. The cursor goes with the request, and comes back.
class Copied final : public Outcome {
 public:
  ~Copied() {
    if (cursor != nullptr) backend->close(*cursor);
  }
  TypeMismatch take(const Row&) override {
    return {"is read by Database::stream(): the statement gives rows"};
  }
  void clear() noexcept override {}
  bool wants_more() const noexcept override { return false; }
};

class CopyCall {
 public:
  CopyCall(Backend& backend, const Request& request, Cursor* cursor) noexcept
      : backend_(backend), request_(request), cursor_(cursor) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    if (request_.order != Order::copy) {
      observation_.begin(backend_.observed(), request_.order, request_.sql, current_activity);
    }
    request_.cursor = cursor_;
    waiter_.prepare(backend_, request_);
    waiter_.shape().cursor = cursor_;
    waiter_.submit(waiting);
  }
  database::Result<std::int64_t> await_resume() {
    Copied& shape = waiter_.shape();
    next_ = std::exchange(shape.cursor, nullptr);
    if (shape.error) {
      observation_.end(0, shape.error->kind());
      return std::unexpected(*std::move(shape.error));
    }
    observation_.end(shape.rows_changed, std::nullopt);
    return shape.rows_changed;
  }
  // The cursor of a copy that goes on; null: it is over.
  Cursor* next() const noexcept { return next_; }

 private:
  Backend& backend_;
  Request request_;
  Cursor* cursor_;
  Cursor* next_ = nullptr;
  database::detail::Waiter<Copied> waiter_;
  database::detail::Observation observation_;
};

Error copy_is_over() {
  return Error(Kind::syntax, "the copy is over: it was finished, or it failed");
}

}  // namespace

Task<database::Result<CopyIn>> copy_in(Database& database, Sql statement) {
  Backend& backend = database.backend();
  CopyCall call(backend, {.order = Order::open, .sql = &statement}, nullptr);
  const database::Result<std::int64_t> opened = co_await call;
  if (!opened) co_return std::unexpected(opened.error());
  if (call.next() == nullptr) {
    co_return fail(Kind::syntax, "copy_in() is for COPY … FROM STDIN", statement.text());
  }
  co_return CopyIn(backend, call.next());
}

Task<database::Result<void>> CopyIn::write(std::string data) {
  for (std::size_t at = 0; at < data.size(); at += copy_piece_bytes) {
    if (cursor_ == nullptr) co_return std::unexpected(copy_is_over());
    const Value piece = Value::of_blob(Bytes(data).substr(at, copy_piece_bytes));
    CopyCall call(*backend_, {.order = Order::copy, .values = {&piece, 1}},
                  std::exchange(cursor_, nullptr));
    const database::Result<std::int64_t> taken = co_await call;
    cursor_ = call.next();
    if (!taken) co_return std::unexpected(taken.error());
  }
  co_return database::Result<void>();
}

Task<database::Result<std::int64_t>> CopyIn::finish() {
  if (cursor_ == nullptr) co_return std::unexpected(copy_is_over());
  CopyCall call(*backend_, {.order = Order::copy_end}, std::exchange(cursor_, nullptr));
  const database::Result<std::int64_t> stored = co_await call;
  cursor_ = call.next();
  co_return stored;
}

// Source: PostgreSQL 15, documentation of COPY, "Text Format".
void append_copy_field(std::string& line, const Value& value) {
  switch (value.type) {
    case Value::Type::broken:
    case Value::Type::null: line += "\\N"; return;
    case Value::Type::integer: line += fmt::format_int(value.integer).str(); return;
    case Value::Type::real:
      line += std::isnan(value.real)   ? "NaN"
              : std::isinf(value.real) ? (value.real > 0 ? "Infinity" : "-Infinity")
                                       : fmt::format("{}", value.real);
      return;
    case Value::Type::blob:
      line += "\\\\x";
      for (const char c : value.octets) {
        fmt::format_to(std::back_inserter(line), "{:02x}", static_cast<unsigned char>(c));
      }
      return;
    case Value::Type::text:
      for (const char c : value.octets) {
        switch (c) {
          case '\\': line += "\\\\"; break;
          case '\t': line += "\\t"; break;
          case '\n': line += "\\n"; break;
          case '\r': line += "\\r"; break;
          default: line += c;
        }
      }
  }
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
