#include "katana/stores/database/sqlite/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "katana/base/system/alarm.hpp"
#include "katana/base/system/check.hpp"
#include "katana/stores/database/sqlite/waiting.hpp"

namespace katana::database::sqlite {

// A statement of a stream between two batches. Without a connection: it was taken away.
class Readers::ReadCursor final : public Cursor {
 public:
  ReadCursor(std::unique_ptr<Connection> with, Statement& at) noexcept
      : connection(std::move(with)), statement(&at) {}

  std::unique_ptr<Connection> connection;
  Statement* statement;
  Instant parked_at = never;  // never: a slot reads it
};

Readers::Readers(const Options& options, Watch& watch, const std::function<Instant()>& clock)
    : options_(options), watch_(watch), clock_(clock) {
  for (unsigned index = 0; index < options.readers; ++index) {
    slots_.push_back(std::make_unique<Slot>(*this));
  }
}

Readers::~Readers() { KATANA_REQUIRE(queue_.empty() && cursors_.empty()); }

void Readers::submit(WorkList& works) noexcept {
  const Instant now = clock_();
  watch_.note_use();
  Completions done;
  const std::lock_guard lock(mutex_);
  while (Work* const work = works.pop()) {
    begin_waiting(*work, options_, now);
    std::optional<Error>& error = work->outcome.error;
    if (closed_) {
      error = closing();
    } else if (!watch_.usable()) {
      ++refused_unusable_;
      error = watch_.error();
    } else if (queue_.size() >= options_.reads_waiting_max) {
      ++refused_full_;
      error.emplace(Kind::unavailable,
                    fmt::format("the database is busy: {} reads wait", queue_.size()),
                    text_of(*work));
    }
    if (error) {
      done.add(*work);
    } else {
      queue_.push(*work);
      watch_.alarm().set(work->begin_by);
    }
  }
  schedule();
}

void Readers::withdraw(Work& work) noexcept {
  {
    const std::lock_guard lock(mutex_);
    ++cancelled_;
    if (queue_.has(work)) {
      queue_.remove(work);
      work.unexpect();
      work.waiting = {};
    }
  }
  if (work.waiting) return work.abandon();
  work.destroy(&work);
}

void Readers::close(Cursor& cursor) noexcept {
  auto& closed = static_cast<ReadCursor&>(cursor);
  std::unique_ptr<Connection> connection;
  {
    const std::lock_guard lock(mutex_);
    connection = std::move(closed.connection);
    forget(closed);
  }
  if (connection) {
    closed.statement->reset();
    give_back(std::move(connection));
  }
  delete &closed;
  const std::lock_guard lock(mutex_);
  schedule();
}

void Readers::forget(ReadCursor& cursor) noexcept {
  KATANA_CHECK(std::erase(cursors_, &cursor) == 1);
  KATANA_CHECK(streams_ > 0);
  --streams_;
}

void Readers::tick(Instant now) noexcept {
  WorkList expired;
  std::vector<std::unique_ptr<Connection>> freed;
  {
    const std::lock_guard lock(mutex_);
    take_expired(queue_, now, expired);
    for (const Work* work = expired.first(); work != nullptr; work = work->next_in_list()) {
      ++(work->begin_by == work->deadline ? timeouts_ : refused_waited_);
    }
    for (ReadCursor* const cursor : cursors_) {
      if (cursor->parked_at == never || now - cursor->parked_at < options_.stream_idle) continue;
      if (!cursor->connection) continue;
      cursor->statement->reset();
      freed.push_back(std::move(cursor->connection));
    }
  }
  for (auto& connection : freed) give_back(std::move(connection));
  Completions done;
  while (Work* const work = expired.pop()) {
    work->outcome.error = waited_too_long(*work, options_);
    done.add(*work);
  }
}

Instant Readers::next_due() const noexcept {
  const std::lock_guard lock(mutex_);
  Instant due = first_expiry(queue_);
  for (const ReadCursor* const cursor : cursors_) {
    if (cursor->parked_at == never || !cursor->connection) continue;
    due = std::min(due, cursor->parked_at + options_.stream_idle);
  }
  return due;
}

void Readers::stop() noexcept {
  WorkList left;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    while (Work* const work = queue_.pop()) left.push(*work);
  }
  {
    Completions done;
    while (Work* const work = left.pop()) {
      work->outcome.error = closing();
      done.add(*work);
    }
  }
  // Again and again: a statement that was about to run did not notice.
  const auto at_rest = [this] {
    const std::lock_guard lock(mutex_);
    for (const auto& slot : slots_) {
      if (slot->connection != nullptr) slot->connection->interrupt();
    }
    return std::none_of(slots_.begin(), slots_.end(), [](const auto& slot) { return slot->busy; });
  };
  while (!at_rest()) std::this_thread::yield();
  idle_.clear();
}

void Readers::schedule() noexcept {
  std::size_t waiting = queue_.size();
  for (const auto& slot : slots_) {
    if (waiting == 0) return;
    if (slot->busy) continue;
    slot->busy = true;
    --waiting;
    executor_->post(*slot);
  }
}

// The first that may begin: a new stream needs a place.
Work* Readers::take() noexcept {
  for (Work* work = queue_.first(); work != nullptr; work = work->next_in_list()) {
    const bool opens = work->request.order == Order::open;
    if (opens && streams_ >= options_.streams_max) continue;
    queue_.remove(*work);
    streams_ += opens ? 1 : 0;
    KATANA_CHECK(streams_ <= options_.streams_max);
    ++pooled_;
    return work;
  }
  return nullptr;
}

void Readers::Slot::serve(Message& message) noexcept {
  auto& slot = static_cast<Slot&>(message);
  slot.readers.serve(slot);
}

void Readers::serve(Slot& slot) noexcept {
  for (;;) {
    Work* work = nullptr;
    {
      const std::lock_guard lock(mutex_);
      work = take();
      if (work == nullptr) {
        KATANA_CHECK(slot.connection == nullptr);  // stop() would interrupt one that may be gone
        slot.busy = false;
        return;
      }
    }
    run(slot, *work);
    Completions done;
    done.add(*work);
  }
}

void Readers::run(Slot& slot, Work& work) noexcept {
  if (work.request.order == Order::fetch) return fetch(slot, work);
  const bool opens = work.request.order == Order::open;
  auto connection = connect();
  if (!connection) {
    watch_.report(connection.error().describe());
    work.outcome.error = watch_.error();
  } else if (opens) {
    open_stream(slot, work, *connection);
  } else {
    read(slot, work, *connection);
  }
  if (connection && *connection) give_back(*std::move(connection));
  if (opens && work.outcome.cursor == nullptr) {
    const std::lock_guard lock(mutex_);
    --streams_;
  }
}

void Readers::read(Slot& slot, Work& work, std::unique_ptr<Connection>& connection) noexcept {
  const auto statement = connection->find(*work.request.sql);
  if (!statement) {
    work.outcome.error = statement.error();
    return;
  }
  KATANA_CHECK((*statement)->reads_only());  // the station knew
  enter(slot, connection.get());
  const int code =
      work.abandoned_by_now()
          ? SQLITE_INTERRUPT
          : connection->run(
                **statement, work.request.values, work.outcome,
                {.rows_max = options_.rows_max, .deadline = work.deadline, .work = &work});
  enter(slot, nullptr);
  if (code != SQLITE_DONE) conclude(work, code, *connection);
}

void Readers::open_stream(Slot& slot, Work& work,
                          std::unique_ptr<Connection>& connection) noexcept {
  const auto statement = connection->find(*work.request.sql);
  if (!statement || !(*statement)->reads_only()) {
    work.outcome.error = statement ? Error(Kind::syntax, "a stream is of a statement that reads",
                                           work.request.sql->text())
                                   : statement.error();
    return;
  }
  enter(slot, connection.get());
  const int code = connection->run(**statement, work.request.values, work.outcome,
                                   {.deadline = work.deadline, .work = &work, .keep_values = true});
  enter(slot, nullptr);
  if (code != SQLITE_ROW && code != SQLITE_DONE) return conclude(work, code, *connection);
  if (code == SQLITE_DONE) return;
  auto* const cursor = new ReadCursor(std::move(connection), **statement);
  cursor->parked_at = clock_();
  const std::lock_guard lock(mutex_);
  cursors_.push_back(cursor);
  watch_.alarm().set(cursor->parked_at + options_.stream_idle);
  work.outcome.cursor = cursor;
}

void Readers::fetch(Slot& slot, Work& work) noexcept {
  auto& cursor = static_cast<ReadCursor&>(*work.request.cursor);
  {
    const std::lock_guard lock(mutex_);
    if (!cursor.connection) {
      work.outcome.error.emplace(Kind::timeout, "the stream was not read for too long, and closed");
      return;
    }
    cursor.parked_at = never;
  }
  Connection& connection = *cursor.connection;
  enter(slot, &connection);
  const int code = connection.resume(*cursor.statement, work.outcome,
                                     {.deadline = work.deadline, .work = &work});
  enter(slot, nullptr);
  if (code != SQLITE_ROW && code != SQLITE_DONE) conclude(work, code, connection);
  if (code == SQLITE_ROW) {
    const std::lock_guard lock(mutex_);
    cursor.parked_at = clock_();
    watch_.alarm().set(cursor.parked_at + options_.stream_idle);
  } else {
    work.outcome.cursor = nullptr;
    close(cursor);
  }
}

// Sets the error of a work that failed.
void Readers::conclude(Work& work, int code, const Connection& connection) {
  const Bytes text = text_of(work);
  work.outcome.clear();
  if (is_outage(code)) {
    watch_.report(words_of(code), is_corrupt(code));
    work.outcome.error = watch_.error();
  } else if (!work.outcome.error) {
    work.outcome.error = connection.error(code, text);
  }
  const std::lock_guard lock(mutex_);
  timeouts_ += work.outcome.error->kind() == Kind::timeout ? 1 : 0;
}

Result<std::unique_ptr<Connection>> Readers::connect() noexcept {
  const std::uint64_t generation = watch_.generation();
  for (;;) {
    std::unique_ptr<Connection> connection;
    {
      const std::lock_guard lock(mutex_);
      if (idle_.empty()) break;
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
    if (connection->generation == generation) return connection;
    connection->leave_log();
  }
  auto opened = Connection::open(options_, Access::read, clock_);
  if (opened) (*opened)->generation = generation;
  return opened;
}

void Readers::give_back(std::unique_ptr<Connection> connection) noexcept {
  if (connection->generation != watch_.generation()) {
    connection->leave_log();
    return;
  }
  const std::lock_guard lock(mutex_);
  if (idle_.size() < slots_.size()) idle_.push_back(std::move(connection));
}

void Readers::enter(Slot& slot, Connection* connection) noexcept {
  const std::lock_guard lock(mutex_);
  slot.connection = connection;
}

void Readers::add_figures(Statistics& statistics) const {
  const std::lock_guard lock(mutex_);
  statistics.reads_pooled += pooled_;
  statistics.refused_full += refused_full_;
  statistics.refused_waited += refused_waited_;
  statistics.refused_unusable += refused_unusable_;
  statistics.timeouts += timeouts_;
  statistics.cancelled += cancelled_;
  statistics.reads_waiting += static_cast<std::uint32_t>(queue_.size());
  statistics.readers += static_cast<std::uint32_t>(slots_.size());
  for (const auto& slot : slots_) statistics.readers_busy += slot->busy ? 1 : 0;
  statistics.streams_open += static_cast<std::uint32_t>(cursors_.size());
}

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
