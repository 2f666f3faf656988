// Streams of JSON: an array or JSON lines, item by item, in bounded memory, both ways.
//
//   Task<void> all_users(ReplyWriter reply) {
//     auto users = db.stream<User>("SELECT id, name FROM users");
//     co_await send_json_lines(reply, users);           // or send_json_array
//   }
//
//   Task<void> readings(Request, ContentReader content, ReplyWriter reply) {
//     JsonLinesReader<Reading> items(content);          // or JsonArrayReader
//     while (true) {
//       Result<std::optional<Reading>> item = co_await items.next();
//       if (!item) co_return co_await send(reply, problem(item.error()));
//       if (!*item) break;                              // the end
//       …
//     }
//     co_await send(reply, Reply::no_content());
//   }
//
//   JsonArrayWriter(reply).write(item), flush(), finish()   item by item, by hand
//
// Owns       a writer the bytes that are not sent yet, a reader the received bytes that are not
//            read yet.
// Thread     their reactor's.
// Allocates  from the recycler.
// Fails      an item that does not fit is an error of next() with its place: "/3/email" of an
//            array, "line 4: /email" of lines. The next item can then be read. Content that is no
//            array and an item that is too long end the reading. Rows that fail before anything was
//            sent are answered with a problem; later the connection is reset.
// Invariant  a writer holds one item and flush_bytes, and waits for the client to take them. A
//            reader holds an item and a piece of the body, and reads only when next() is called.
#pragma once

#include <coroutine>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/data/container/json_items.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/streaming.hpp"

namespace katana {

// The media type of send_json_lines(): one value of JSON on each line.
inline constexpr Literal json_lines_type = "application/x-ndjson";

namespace detail {

// REQUIRES that each of its calls is awaited before the next one.
class JsonItemsWriter {
 public:
  using Form = container::JsonItems::Form;
  // At most this many bytes and one item wait to be sent.
  static constexpr std::size_t flush_bytes = 8 * 1024;

  JsonItemsWriter(Form form, ReplyWriter reply, Reply head)
      : form_(form), reply_(reply), head_(std::move(head)) {}
  JsonItemsWriter(const JsonItemsWriter&) = delete;
  JsonItemsWriter& operator=(const JsonItemsWriter&) = delete;

  class [[nodiscard]] Sent {
   public:
    Sent(JsonItemsWriter& writer, bool is_wanted) : writer_(writer), is_wanted_(is_wanted) {}
    bool await_ready() {
      if (!is_wanted_) return true;
      writer_.begin();
      sending_.emplace(writer_.reply_.write(writer_.unsent_.bytes()));
      return sending_->await_ready();
    }
    void await_suspend(std::coroutine_handle<> handle) { sending_->await_suspend(handle); }
    void await_resume() {
      if (is_wanted_) writer_.unsent_.clear();
    }

   private:
    JsonItemsWriter& writer_;
    bool is_wanted_;
    std::optional<Stream::WriteAwaiter> sending_;
  };

  // Returns when there is room for the next item.
  template <class T>
  Sent write(const T& item) {
    if (form_ == Form::array) unsent_.push_back(count_ == 0 ? '[' : ',');
    container::write_json(item, unsent_);
    if (form_ == Form::lines) unsent_.push_back('\n');
    ++count_;
    return Sent(*this, unsent_.size() >= flush_bytes);
  }
  // Sends the waiting bytes, for a client that waits for each item.
  Sent flush() { return Sent(*this, true); }
  // Ends the array, and waits until everything is sent. REQUIRED.
  Sent finish() {
    if (form_ == Form::array) unsent_.append(count_ == 0 ? "[]" : "]");
    return Sent(*this, true);
  }
  // The head is sent: it is too late for a problem.
  bool has_begun() const noexcept { return has_begun_; }
  std::size_t count() const noexcept { return count_; }

 private:
  void begin() {
    if (!std::exchange(has_begun_, true)) reply_.begin(head_);
  }

  Form form_;
  ReplyWriter reply_;
  Reply head_;
  Text unsent_;
  std::size_t count_ = 0;
  bool has_begun_ = false;
};

// "/3/email: is missing; /3/name: …"
std::string json_item_fault(const std::string& place, const container::Findings& findings);

template <class T>
class JsonItemsReader {
 public:
  JsonItemsReader(container::JsonItems::Form form, ContentReader content,
                  std::size_t item_bytes_max) noexcept
      : content_(content), items_(form, item_bytes_max) {}

  // The next item; no value at the end.
  Task<Result<std::optional<T>>> next() {
    while (true) {
      const Result<std::optional<Bytes>> item = items_.next();
      if (!item) co_return std::unexpected(item.error());
      if (*item) co_return read(**item);
      if (items_.done()) co_return std::nullopt;
      const Text piece = co_await content_.read();
      if (piece.empty()) items_.end();
      items_.append(piece.bytes());
      content_.note_kept(items_.held_bytes());
    }
  }
  // The number of items, including those that did not fit.
  std::size_t count() const noexcept { return items_.count(); }

 private:
  Result<std::optional<T>> read(Bytes text) const {
    std::optional<T> value(std::in_place);
    container::Findings findings;
    if (container::read_json(text, *value, findings)) return value;
    return fail(Code::invalid_argument, json_item_fault(items_.place(), findings));
  }

  ContentReader content_;
  container::JsonItems items_;
};

template <class Rows>
Task<void> send_json_items(container::JsonItems::Form form, ReplyWriter reply, Rows& rows,
                           Reply head) {
  JsonItemsWriter writer(form, reply, std::move(head));
  while (true) {
    auto row = co_await rows.next();
    if (!row && !writer.has_begun()) co_return co_await send(reply, problem(row.error()));
    if (!row) throw std::runtime_error(row.error().describe());
    if (!*row) break;
    co_await writer.write(**row);
  }
  co_await writer.finish();
}

}  // namespace detail

// Writes an array item by item. `head`: status, type and fields of the reply.
class JsonArrayWriter : public detail::JsonItemsWriter {
 public:
  explicit JsonArrayWriter(ReplyWriter reply, Reply head = Reply(200, "application/json", Text()))
      : JsonItemsWriter(Form::array, reply, std::move(head)) {}
};
// Writes a line for each item.
class JsonLinesWriter : public detail::JsonItemsWriter {
 public:
  explicit JsonLinesWriter(ReplyWriter reply, Reply head = Reply(200, json_lines_type, Text()))
      : JsonItemsWriter(Form::lines, reply, std::move(head)) {}
};

// Reads the items of an array in the body as they arrive.
template <class T>
class JsonArrayReader : public detail::JsonItemsReader<T> {
 public:
  explicit JsonArrayReader(ContentReader content, std::size_t item_bytes_max = 64 * 1024) noexcept
      : detail::JsonItemsReader<T>(container::JsonItems::Form::array, content, item_bytes_max) {}
};
// Reads one item from each line; empty lines are ignored.
template <class T>
class JsonLinesReader : public detail::JsonItemsReader<T> {
 public:
  explicit JsonLinesReader(ContentReader content, std::size_t item_bytes_max = 64 * 1024) noexcept
      : detail::JsonItemsReader<T>(container::JsonItems::Form::lines, content, item_bytes_max) {}
};

// Sends all items of `rows.next()`, which returns a Result<std::optional<…>> as database::Stream
// does. It reads the next row when the client has taken the bytes before it. `rows` must live until
// all is sent.
template <class Rows>
Task<void> send_json_array(ReplyWriter reply, Rows& rows,
                           Reply head = Reply(200, "application/json", Text())) {
  return detail::send_json_items(container::JsonItems::Form::array, reply, rows, std::move(head));
}
template <class Rows>
Task<void> send_json_lines(ReplyWriter reply, Rows& rows,
                           Reply head = Reply(200, json_lines_type, Text())) {
  return detail::send_json_items(container::JsonItems::Form::lines, reply, rows, std::move(head));
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
