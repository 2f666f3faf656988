// COPY on a connection outside of pipeline mode.
//
//   begun ──COPY_OUT──► out ──last row──► ended ──result──► none
//         ──COPY_IN───► in ──copy_end───► ended
//
// Out: rows go to the stream as it asks for them. In: a piece is written when the socket has taken
// all of it. Therefore no more than one piece waits here. The server reports errors at the end.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "katana/stores/database/postgres/connection.hpp"
#include "katana/stores/database/postgres/result_row.hpp"

namespace katana::database::postgres {
namespace {

// One message of COPY TO STDOUT: a row in the format of the statement, its line end included.
class CopiedRow final : public Row {
 public:
  CopiedRow(Bytes octets, bool is_binary) noexcept
      : value_(is_binary ? Value::of_blob(octets) : Value::of_text(octets)) {}
  std::size_t columns() const noexcept override { return 1; }
  Value value(std::size_t) const noexcept override { return value_; }
  Bytes name(std::size_t) const noexcept override { return "COPY"; }

 private:
  Value value_;
};

std::int64_t rows_in(PGresult& result) noexcept {
  std::int64_t rows = 0;
  const Bytes digits(PQcmdTuples(&result));
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), rows);
  return rows;
}

// The place in "COPY users, line 3, column age: "x"", without the value.
Error with_line(const Error& error, Bytes context) {
  constexpr Bytes line_mark = ", line ";
  constexpr Bytes column_mark = ", column ";
  const Bytes first = context.substr(0, context.find('\n'));
  if (!first.starts_with("COPY ") || first.find(line_mark) == Bytes::npos) return error;
  Bytes rest = first.substr(first.find(line_mark) + line_mark.size());
  std::size_t line = 0;
  const auto [behind, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), line);
  if (failure != std::errc() || line == 0) return error;
  rest.remove_prefix(static_cast<std::size_t>(behind - rest.data()));
  if (!rest.starts_with(column_mark)) {
    return error.in_line(line - 1, fmt::format("line {} of the data", line));
  }
  rest.remove_prefix(column_mark.size());
  return error.in_line(line - 1, fmt::format("line {} of the data, column {}", line,
                                             rest.substr(0, rest.find(':'))));
}

}  // namespace

void Connection::advance_copy() {
  const Sql& sql = *stream_work_->request.sql;
  if (!stream_work_->request.values.empty()) {
    return end_stream(Error(Kind::syntax, "COPY takes no parameters", sql.text()));
  }
  ensure_timeout(0);  // as of a stream
  if (stage_ != Stage::open || !in_flight_.empty()) return;
  stream_opening_ = false;
  stage_ = Stage::streaming;
  copy_ = Copy::begun;
  const std::string text(sql.text());  // with a zero behind it
  if (PQexitPipelineMode(pg_.get()) == 0 ||
      PQsendQueryParams(pg_.get(), text.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0) == 0) {
    return lose(Kind::unavailable, PQerrorMessage(pg_.get()));
  }
  flush();
}

// Closes the connection, because the data of the COPY is on the way, or the server waits for it.
void Connection::refuse_copy(Work& work) {
  work.outcome.error.emplace(Kind::syntax,
                             copy_ == Copy::in
                                 ? "COPY FROM STDIN is written, by postgres::copy_in()"
                                 : "COPY TO STDOUT is read, by Database::stream()",
                             text_of(work));
  stream_work_ = nullptr;
  finish_stream(work);
  lose(Kind::cancelled, "its COPY was used the wrong way round");
}

void Connection::fetch_copy(Work& work) {
  const Order order = work.request.order;
  if (copy_ == Copy::out && order == Order::fetch) return read_stream();
  if (copy_ != Copy::in || order == Order::fetch) return refuse_copy(work);
  const Bytes data = order == Order::copy ? work.request.values[0].octets : Bytes();
  const int taken = order == Order::copy
                        ? PQputCopyData(pg_.get(), data.data(), static_cast<int>(data.size()))
                        : PQputCopyEnd(pg_.get(), nullptr);
  if (taken != 1) {
    return lose(Kind::unavailable,
                taken == 0 ? "no memory for the data of a COPY" : PQerrorMessage(pg_.get()));
  }
  if (order == Order::copy_end) copy_ = Copy::ended;
  read_stream();
}

void Connection::read_copy() {
  while (stage_ == Stage::streaming && stream_work_ != nullptr) {
    if (copy_ == Copy::in) {
      if (wants_write_) return;
      park_stream();
    } else if (copy_ == Copy::out) {
      if (!take_copied()) break;
    } else {
      if (PQisBusy(pg_.get()) != 0) return;
      const Result result(PQgetResult(pg_.get()));
      if (result == nullptr) return end_stream(std::nullopt);
      take_copy_result(*result);
    }
  }
  // No caller asks: rows stay at the server.
  if (stage_ == Stage::streaming && stream_work_ == nullptr) watch(false, false);
}

// Takes one row. False: there is none at present, or the connection is lost.
bool Connection::take_copied() {
  char* octets = nullptr;
  const int size = PQgetCopyData(pg_.get(), &octets, 1);
  if (size == 0) return false;
  if (size == -1) {
    copy_ = Copy::ended;
    return true;
  }
  if (size < 0) {
    lose(Kind::unavailable, PQerrorMessage(pg_.get()));
    return false;
  }
  const std::unique_ptr<char, decltype(&PQfreemem)> kept(octets, &PQfreemem);
  Work& work = *stream_work_;
  const CopiedRow row(Bytes(octets, static_cast<std::size_t>(size)), copy_is_binary_);
  if (const TypeMismatch misfit = work.outcome.take(row)) {
    work.outcome.error.emplace(Kind::mismatch, fmt::format("a row of COPY {}", misfit.why),
                               text_of(work));
    stream_work_ = nullptr;
    finish_stream(work);
    lose(Kind::cancelled, "the COPY was given up because a row did not fit");
    return false;
  }
  if (!work.outcome.wants_more()) park_stream();
  return true;
}

void Connection::take_copy_result(const PGresult& result) {
  Work& work = *stream_work_;
  switch (PQresultStatus(&result)) {
    case PGRES_COPY_OUT:
      copy_ = Copy::out;
      copy_is_binary_ = PQbinaryTuples(&result) != 0;
      return;
    case PGRES_COPY_IN:
      copy_ = Copy::in;
      if (work.outcome.wants_more()) refuse_copy(work);  // a stream's
      return;
    case PGRES_COMMAND_OK:
      // libpq asks for a result that can be changed, and does not change it.
      work.outcome.rows_changed = rows_in(const_cast<PGresult&>(result));
      return;
    case PGRES_FATAL_ERROR: {
      const Complaint complaint = complaint_of(result);
      if (complaint.state.empty()) return lose(Kind::unavailable, PQerrorMessage(pg_.get()));
      const char* const context = PQresultErrorField(&result, PG_DIAG_CONTEXT);
      work.outcome.error = with_line(error_of(complaint, text_of(work)),
                                     context == nullptr ? Bytes() : Bytes(context));
      return;
    }
    default: lose(Kind::unavailable, "the server answered a COPY with something else");
  }
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
