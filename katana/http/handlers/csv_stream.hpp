// CSV (RFC 4180) row by row, in requests and replies of any size.
//
//   Task<void> all_users(ReplyWriter reply, Inject<database::Database> db) {
//     auto rows = db->stream<User>("SELECT id, name FROM users");
//
//     co_await send_csv(reply, rows);
//   }
//
//   Task<Result<Reply>> import(ContentReader content, Inject<Users> users) {
//     CsvRowsReader<User> rows(content);
//
//     while (true) {
//       KATANA_CO_TRY(const std::optional<User> user, co_await rows.next());
//
//       if (!user) co_return Reply::no_content();
//       KATANA_CO_TRY_DONE(co_await users->add(*user));
//     }
//   }
// Owns       a writer the bytes that are not sent yet, a reader the received bytes that are not
//            read yet.
// Thread     their reactor's.
// Allocates  for the longest row and for flush_bytes.
// Fails      a row that does not fit is an error of next() with its number, "row 3: /email: …"; the
//            next row can then be read. Content that is no CSV ends the reading. Rows that fail
//            before anything was sent are answered with a problem; later the connection is reset.
// Invariant  a writer waits for the client to take what it has. A reader holds one row and one
//            piece of the body, and reads only when next() is called.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/data/container/csv.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/streaming.hpp"

namespace katana {

// The media type of send_csv(): the first row has the names of the columns.
inline constexpr Literal csv_type = "text/csv; charset=utf-8; header=present";

// Reads the body as rows of a described struct. The first row has the names of the columns.
template <Described T>
class CsvRowsReader {
 public:
  explicit CsvRowsReader(ContentReader content, container::CsvOptions options = {})
      : content_(content), reader_(with_header(options)) {}

  // The next row; no value at the end.
  Task<Result<std::optional<T>>> next() {
    while (true) {
      if (const container::CsvRow* const row = reader_.next()) {
        Result<T> value = container::read_row<T>(reader_, *row);
        if (!value) co_return std::unexpected(value.error());
        co_return std::optional<T>(*std::move(value));
      }
      if (!reader_.problem()) co_return std::unexpected(reader_.problem().error());
      if (is_finished_) co_return std::nullopt;
      piece_ = co_await content_.read();
      reader_.add(piece_.bytes());
      is_finished_ = piece_.empty();
      if (is_finished_) reader_.finish();
    }
  }

 private:
  static container::CsvOptions with_header(container::CsvOptions options) {
    options.has_header = true;
    return options;
  }

  ContentReader content_;
  container::CsvReader reader_;
  Text piece_;  // the reader borrows it
  bool is_finished_ = false;
};

// Sends a row with the names of the members, and then all rows of `rows.next()`, which returns a
// Result<std::optional<…>> as database::Stream does. It reads the next row when the client has
// taken the bytes before it. `rows` must live until all is sent.
template <class Rows>
Task<void> send_csv(ReplyWriter reply, Rows& rows, Reply head = Reply(200, csv_type, Text())) {
  constexpr std::size_t flush_bytes = 8 * 1024;
  std::string unsent;
  bool has_header = false, has_begun = false, is_end = false;
  while (!is_end) {
    auto row = co_await rows.next();
    if (!row && !has_begun) co_return co_await send(reply, problem(row.error()));
    if (!row) throw std::runtime_error(row.error().describe());
    using T = typename std::remove_cvref_t<decltype(*row)>::value_type;
    if (!std::exchange(has_header, true)) container::append_csv_header<T>(unsent);
    is_end = !row->has_value();
    if (!is_end) container::append_csv_row(unsent, **row);
    if (!is_end && unsent.size() < flush_bytes) continue;
    if (!std::exchange(has_begun, true)) reply.begin(head);
    co_await reply.write(unsent);
    unsent.clear();
  }
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
