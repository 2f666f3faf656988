// Machine: the client side of a PostgreSQL session behind its start (startup.hpp).
//
//   Machine machine(memory);                      // room for the pending requests
//   machine.parse({.sql = "SELECT $1::int4"}, output);
//   machine.bind({.values = values}, output);
//   machine.execute({}, output);
//   machine.sync(output);                         // all leave in one send
//   for each piece of input:
//     Step step = machine.next(input);            // parsed, bound, row, complete, ready
//
// Requests may be sent without waiting for replies. Each has a number, in the order of calls, which
// its events repeat. The server answers in that order:
//
//   Query            one ready, behind any number of results
//   Parse … Close    one event each, but for Describe of a statement and Execute. The requests up
//                    to a Sync are one group
//   Sync             ready
//
// A failed request of a group gives `error`. The server ignores the others before the next Sync.
// The next event is the `ready` of that Sync, with its number: the server executed no request
// between the two.
//
// COPY FROM STDIN: the server closes the connection when a request stands behind it. Send nothing
// until the event `copy_in` has come. A Sync is the exception: the server ignores it, and it never
// gives `ready`. After end_copy() or fail_copy() of an Execute, call sync(). A COPY that fails
// before the server has read the earlier Sync leaves one `ready` too many. The machine refuses it.
//
// Owns       the state of one request, and counters.
// Borrows    the memory. The input and the output of a call for that call: a step's body is a view
//            of the input, and was checked whole.
// Thread     one at a time.
// Allocates  never.
// Fails      a request with a Submitted; replies with Event::refused, and nothing follows.
// Invariant  a reply is attributed to the request that it answers, or the machine refuses. However
//            the bytes are cut, the events are the same.
// Source     PostgreSQL 18, "Message Flow"
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/postgres/frame.hpp"
#include "katana/wire/postgres/limits.hpp"
#include "katana/wire/postgres/messages.hpp"
#include "katana/wire/postgres/requests.hpp"
#include "katana/wire/postgres/states.hpp"

namespace katana::postgres {

// The result of one call of Machine::next().
struct Step {
  // The result of the call.
  Event event = Event::need_bytes;
  bool is_fatal = false;      // of error: the server closes the connection
  std::size_t consumed = 0;   // bytes of the input
  std::size_t size = 0;       // of need_bytes: the least size of the input for a next step
  std::uint64_t request = 0;  // the number of the request that it answers; of notice, notification
                              // and setting without a meaning
  // The content of the message, without its type and length; in the input.
  Bytes body = {};
};

// The arguments of an Execute.
struct Execute {
  // The name of the portal; empty: the unnamed one.
  Bytes portal = {};
  std::uint32_t rows_max = 0;  // 0: all
  // The columns of each row, if they are known: a row with others is refused. Without it the first
  // row decides.
  std::optional<std::uint16_t> columns = std::nullopt;
};

class Machine {
 public:
  // A request that has no answer yet.
  struct Pending {
    // The present stage of the request.
    Stage stage = Stage::idle;
    // True after a RowDescription: rows may follow.
    bool has_columns = false;
    // The columns of each row, by the RowDescription.
    std::uint16_t columns = 0;
    // The row limit of its Execute; zero: none.
    std::uint32_t rows_max = 0;
  };

  // As many requests can be pending as `memory` has room for. REQUIRES room for one.
  explicit Machine(std::span<Pending> memory, const Limits& limits = {}) noexcept;

  // The number of requests that can be pending.
  std::size_t capacity() const noexcept { return memory_.size(); }
  // Goes on with other memory; the pending requests move there. REQUIRES room for pending() and for
  // one.
  void move_to(std::span<Pending> memory) noexcept;

  // Each writes one message. The requests count as pending until they are answered.
  Submitted query(Bytes sql, const Output& output) noexcept;
  Submitted parse(const Parse& request, const Output& output) noexcept;
  Submitted bind(const Bind& request, const Output& output) noexcept;
  Submitted describe(Kind kind, Bytes name, const Output& output) noexcept;
  Submitted execute(const Execute& request, const Output& output) noexcept;
  Submitted close(Kind kind, Bytes name, const Output& output) noexcept;
  Submitted sync(const Output& output) noexcept;
  // Makes the server send the replies that it has. It is not a request, and has no number.
  Submitted flush(const Output& output) noexcept;
  // Ends the session in order; nothing may follow.
  Submitted terminate(const Output& output) noexcept;

  // While is_copying().
  Submitted copy_data(Bytes data, const Output& output) noexcept;
  Submitted end_copy(const Output& output) noexcept;
  // The server answers with an error that has these words.
  Submitted fail_copy(Bytes why, const Output& output) noexcept;

  // At most one event. Unconsumed bytes are to come again, in front of the following ones.
  Step next(Bytes input) noexcept;
  // Takes one more row of the request whose row was the last event, with exactly so many values,
  // which are as of read_row(). Returns the bytes that were taken. 0: next() says what is in front.
  std::size_t next_row(Bytes input, std::span<Bytes> values) noexcept;

  // `none`: nothing is refused, or the session ended by a fatal error or terminate().
  Refusal refusal() const noexcept { return refusal_; }
  Stage stage() const noexcept { return stage_; }
  // The state of the last `ready`.
  Transaction transaction() const noexcept { return transaction_; }
  // COPY FROM STDIN waits for data.
  bool is_copying() const noexcept {
    return stage_ == Stage::copy_in || stage_ == Stage::query_copy_in;
  }
  // The number of the next request. The first one has 0.
  std::uint64_t next_request() const noexcept { return submitted_; }
  // Requests that have no answer yet.
  std::size_t pending() const noexcept { return count_; }
  // A Sync is to follow before a Query, or before the session can be lent to another caller.
  bool needs_sync() const noexcept { return needs_sync_; }

 private:
  Submitted may_submit() const noexcept;
  Submitted submit(Submitted written, Pending pending) noexcept;
  void push(Pending pending) noexcept;
  void pop() noexcept;
  bool pop_to_sync() noexcept;
  Pending& at(std::size_t index) noexcept { return memory_[(head_ + index) % memory_.size()]; }
  void begin_answer() noexcept;
  bool begin_copy_in() noexcept;
  void end_copy_in() noexcept;
  Step refuse(Refusal why) noexcept;
  Step step(Event event, const Frame& frame) const noexcept;
  Step on_reply(const Frame& frame) noexcept;
  Step on_error(const Frame& frame) noexcept;
  Refusal check_reply(const Frame& frame, Event event) noexcept;
  Refusal count_row(Bytes body) noexcept;

  std::span<Pending> memory_;
  const Limits limits_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
  std::uint64_t submitted_ = 0;
  std::uint64_t answered_ = 0;       // the number of the request at head_
  std::uint64_t ignored_syncs_ = 0;  // behind it
  Stage stage_ = Stage::idle;
  Refusal refusal_ = Refusal::none;
  Transaction transaction_ = Transaction::idle;
  bool needs_sync_ = false;
  bool has_columns_ = false;  // columns_ is known
  std::uint16_t columns_ = 0;
  std::uint32_t rows_ = 0;  // of this Execute, if it has a limit
};

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
