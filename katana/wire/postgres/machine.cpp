#include "katana/wire/postgres/machine.hpp"

#include "katana/base/system/check.hpp"
#include "katana/wire/postgres/byte_reader.hpp"

namespace katana::postgres {

Machine::Machine(std::span<Pending> memory, const Limits& limits) noexcept
    : memory_(memory), limits_(limits) {
  KATANA_REQUIRE(!memory.empty());
}

void Machine::move_to(std::span<Pending> memory) noexcept {
  KATANA_REQUIRE(!memory.empty() && memory.size() >= count_);
  for (std::size_t index = 0; index < count_; ++index) memory[index] = at(index);
  memory_ = memory;
  head_ = 0;
}

// ---- requests ----------------------------------------------------------------------------------

Submitted Machine::may_submit() const noexcept {
  if (stage_ == Stage::ended) return Submitted::wrong_state;
  if (is_copying()) return Submitted::copying;
  return count_ < memory_.size() ? Submitted::ok : Submitted::queue_full;
}

void Machine::push(Pending pending) noexcept {
  at(count_++) = pending;
  ++submitted_;
  needs_sync_ = pending.stage != Stage::sync && pending.stage != Stage::query;
  if (count_ == 1) begin_answer();
}

Submitted Machine::submit(Submitted written, Pending pending) noexcept {
  if (written == Submitted::ok) push(pending);
  return written;
}

Submitted Machine::query(Bytes sql, const Output& output) noexcept {
  if (const Submitted may = may_submit(); may != Submitted::ok) return may;
  // Behind a failed request the server would ignore it.
  if (needs_sync_) return Submitted::sync_missing;
  return submit(write_query(sql, output), {.stage = Stage::query});
}

Submitted Machine::parse(const Parse& request, const Output& output) noexcept {
  if (const Submitted may = may_submit(); may != Submitted::ok) return may;
  return submit(write_parse(request, output), {.stage = Stage::parse});
}

Submitted Machine::bind(const Bind& request, const Output& output) noexcept {
  if (const Submitted may = may_submit(); may != Submitted::ok) return may;
  return submit(write_bind(request, output), {.stage = Stage::bind});
}

Submitted Machine::describe(Kind kind, Bytes name, const Output& output) noexcept {
  if (const Submitted may = may_submit(); may != Submitted::ok) return may;
  const Stage stage = kind == Kind::statement ? Stage::statement : Stage::portal;
  return submit(write_describe(kind, name, output), {.stage = stage});
}

Submitted Machine::execute(const Execute& request, const Output& output) noexcept {
  if (const Submitted may = may_submit(); may != Submitted::ok) return may;
  const Pending pending{.stage = Stage::execute,
                        .has_columns = request.columns.has_value(),
                        .columns = request.columns.value_or(0),
                        .rows_max = request.rows_max};
  return submit(write_execute(request.portal, request.rows_max, output), pending);
}

Submitted Machine::close(Kind kind, Bytes name, const Output& output) noexcept {
  if (const Submitted may = may_submit(); may != Submitted::ok) return may;
  return submit(write_close(kind, name, output), {.stage = Stage::close});
}

Submitted Machine::sync(const Output& output) noexcept {
  if (const Submitted may = may_submit(); may != Submitted::ok) return may;
  return submit(write_sync(output), {.stage = Stage::sync});
}

Submitted Machine::flush(const Output& output) noexcept {
  if (stage_ == Stage::ended) return Submitted::wrong_state;
  return is_copying() ? Submitted::copying : write_flush(output);
}

Submitted Machine::terminate(const Output& output) noexcept {
  if (stage_ == Stage::ended) return Submitted::wrong_state;
  const Submitted written = write_terminate(output);
  if (written == Submitted::ok) stage_ = Stage::ended;
  return written;
}

Submitted Machine::copy_data(Bytes data, const Output& output) noexcept {
  return is_copying() ? write_copy_data(data, output) : Submitted::not_copying;
}

Submitted Machine::end_copy(const Output& output) noexcept {
  if (!is_copying()) return Submitted::not_copying;
  const Submitted written = write_copy_done(output);
  if (written == Submitted::ok) end_copy_in();
  return written;
}

Submitted Machine::fail_copy(Bytes why, const Output& output) noexcept {
  if (!is_copying()) return Submitted::not_copying;
  const Submitted written = write_copy_fail(why, output);
  if (written == Submitted::ok) end_copy_in();
  return written;
}

void Machine::end_copy_in() noexcept {
  stage_ = stage_ == Stage::copy_in ? Stage::copy_in_end : Stage::query_copy_in_end;
}

// ---- replies -----------------------------------------------------------------------------------

Step Machine::refuse(Refusal why) noexcept {
  stage_ = Stage::ended;
  refusal_ = why;
  return {.event = Event::refused};
}

// The request at head_ is the next one to be answered.
void Machine::begin_answer() noexcept {
  if (count_ == 0) {
    stage_ = Stage::idle;
    return;
  }
  const Pending& first = at(0);
  stage_ = first.stage;
  has_columns_ = first.has_columns;
  columns_ = first.columns;
  rows_ = 0;
}

void Machine::pop() noexcept {
  head_ = (head_ + 1) % memory_.size();
  --count_;
  answered_ += 1 + ignored_syncs_;
  ignored_syncs_ = 0;
}

// Leaves the Sync that ends the group as the first request.
bool Machine::pop_to_sync() noexcept {
  while (count_ > 0 && at(0).stage != Stage::sync) pop();
  return count_ > 0;
}

// The server ignores each Sync that it reads while it waits for data. It closes the connection at
// any other request.
bool Machine::begin_copy_in() noexcept {
  for (std::size_t index = 1; index < count_; ++index) {
    if (at(index).stage != Stage::sync) return false;
  }
  ignored_syncs_ = count_ - 1;
  count_ = 1;
  needs_sync_ = at(0).stage == Stage::execute;
  return true;
}

Step Machine::next(Bytes input) noexcept {
  if (stage_ == Stage::ended) return {.event = Event::refused};
  const Frame frame = read_frame(input, limits_);
  if (frame.refusal != Refusal::none) return refuse(frame.refusal);
  if (frame.type == Reply::count_) return {.size = frame.size};
  if (const Refusal why = check(frame.type, frame.body); why != Refusal::none) return refuse(why);
  switch (frame.type) {
    case Reply::notice: return step(Event::notice, frame);
    case Reply::notification: return step(Event::notification, frame);
    case Reply::parameter_status: return step(Event::setting, frame);
    case Reply::error: return on_error(frame);
    default: return on_reply(frame);
  }
}

// The hottest path: a result is mostly rows. Whatever is not as usual is left to next(), which
// finds the words for it.
std::size_t Machine::next_row(Bytes input, std::span<Bytes> values) noexcept {
  if (stage_ != Stage::rows || memory_[head_].rows_max != 0 || columns_ != values.size()) return 0;
  if (input.size() < header_bytes || input.front() != 'D') return 0;
  const std::size_t size = std::size_t{ByteReader(input.substr(1, 4)).take_32()} + 1;
  if (size < header_bytes || size > input.size() || size > limits_.row_bytes_max) return 0;
  return take_row(input.substr(header_bytes, size - header_bytes), values) ? size : 0;
}

Step Machine::step(Event event, const Frame& frame) const noexcept {
  return {.event = event, .consumed = frame.size, .request = answered_, .body = frame.body};
}

Step Machine::on_error(const Frame& frame) noexcept {
  if (!report_of(frame.body).is_fatal()) return on_reply(frame);
  Step made = step(Event::error, frame);
  made.is_fatal = true;
  stage_ = Stage::ended;
  return made;
}

Step Machine::on_reply(const Frame& frame) noexcept {
  const auto [event, to] =
      detail::stage_matrix[static_cast<std::size_t>(stage_)][static_cast<std::size_t>(frame.type)];
  if (to == Stage::none) return refuse(Refusal::unexpected_message);
  if (const Refusal why = check_reply(frame, event); why != Refusal::none) return refuse(why);
  const Step made = step(event, frame);
  if (to == Stage::next) {
    pop();
    begin_answer();
  } else {
    stage_ = to;
  }
  return made;
}

// The rules that the table cannot tell.
Refusal Machine::check_reply(const Frame& frame, Event event) noexcept {
  switch (event) {
    case Event::columns:
      has_columns_ = true;
      columns_ = Fields(frame.body).count();
      return Refusal::none;
    case Event::row: return count_row(frame.body);
    case Event::suspended: {
      const std::uint32_t rows_max = at(0).rows_max;
      return rows_max > 0 && rows_ == rows_max ? Refusal::none : Refusal::unexpected_message;
    }
    case Event::copy_in: return begin_copy_in() ? Refusal::none : Refusal::copy_in_pipeline;
    case Event::ready:
      transaction_ = transaction_of(frame.body);
      if (stage_ != Stage::skip) return Refusal::none;
      return pop_to_sync() ? Refusal::none : Refusal::unexpected_message;
    default: return Refusal::none;
  }
}

Refusal Machine::count_row(Bytes body) noexcept {
  const std::uint16_t columns = Row(body).count();
  if (!has_columns_) {
    has_columns_ = true;
    columns_ = columns;
  }
  if (columns != columns_) return Refusal::wrong_columns;
  const std::uint32_t rows_max = at(0).rows_max;
  if (rows_max == 0) return Refusal::none;
  return ++rows_ <= rows_max ? Refusal::none : Refusal::too_many_rows;
}

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
