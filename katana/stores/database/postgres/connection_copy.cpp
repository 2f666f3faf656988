// COPY on a connection that carries nothing else.
//
//   begun ──copy_out──► out ──last row──► ended ──ready──► none
//         ──copy_in───► in ──copy_end───► ended
//
// Out: rows go to the stream as it asks for them. In: a piece is written when the socket has taken
// all of it. Therefore no more than one piece waits here. The server reports errors at the end. The
// sync follows when the server has begun or refused. A sync that the server reads while it waits
// for data is ignored, and it is not known earlier whether the server will wait.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "katana/stores/database/postgres/connection.hpp"

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
  copy_is_synced_ = false;
  if (!send_own(sql.text()) || link_.machine().flush(link_) != protocol::Submitted::ok) {
    return lose_unsent();
  }
  stage_ = Stage::streaming;
  copy_ = Copy::begun;
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
  protocol::Machine& machine = link_.machine();
  const protocol::Submitted taken = order == Order::copy
                                        ? machine.copy_data(work.request.values[0].octets, link_)
                                        : machine.end_copy(link_);
  if (taken != protocol::Submitted::ok) {
    return lose(Kind::unavailable, "the data of a COPY cannot be sent");
  }
  if (order == Order::copy_end) {
    copy_ = Copy::ended;
    sync_copy();
  }
  read_stream();
}

// False: events are not read now. A piece that the socket has taken is the end of its write.
bool Connection::may_go_on_copying() {
  if (copy_ != Copy::in) return true;
  link_.take_asides();
  if (!link_.wants_write()) park_stream();
  return false;
}

void Connection::sync_copy() {
  if (!std::exchange(copy_is_synced_, true) && sync()) flush();
}

void Connection::take_copied(Bytes octets) {
  Work& work = *stream_work_;
  const CopiedRow row(octets, copy_is_binary_);
  if (const TypeMismatch misfit = work.outcome.take(row)) {
    work.outcome.error.emplace(Kind::mismatch, fmt::format("a row of COPY {}", misfit.why),
                               text_of(work));
    stream_work_ = nullptr;
    finish_stream(work);
    return lose(Kind::cancelled, "the COPY was given up because a row did not fit");
  }
  if (!work.outcome.wants_more()) park_stream();
}

void Connection::take_copy_event(const Event& event) {
  Work& work = *stream_work_;
  switch (event.event) {
    case protocol::Event::copy_out:
      copy_ = Copy::out;
      copy_is_binary_ = protocol::CopyFormats(event.body).is_binary();
      return sync_copy();
    case protocol::Event::copy_in:
      copy_ = Copy::in;
      if (work.outcome.wants_more()) refuse_copy(work);  // a stream's
      return;
    case protocol::Event::data: return take_copied(event.body);
    case protocol::Event::copy_out_ended: copy_ = Copy::ended; return;
    case protocol::Event::complete:
      work.outcome.rows_changed =
          static_cast<std::int64_t>(protocol::tag_of(event.body).rows.value_or(0));
      return sync_copy();
    case protocol::Event::error: {
      const protocol::Report report = protocol::report_of(event.body);
      work.outcome.error = with_line(error_of(complaint_of(report), text_of(work)), report.where);
      copy_ = Copy::ended;
      if (!report.is_fatal()) sync_copy();
      return;
    }
    case protocol::Event::ready: return end_stream(std::nullopt);
    case protocol::Event::row:
    case protocol::Event::suspended:
      return lose(Kind::unavailable, "the server answered a COPY with something else");
    default: return;
  }
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
