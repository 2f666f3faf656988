// BlockingSession: one session of PostgreSQL for a thread that waits for it, as migrations do. It
// can be told to stop. The Code of a failure says whether a retry may help.
//
// Owns       the connection.
// Borrows    the stop token's state.
// Thread     one at a time; blocks.
// Allocates  as libpq does.
// Fails      with Code::unavailable when the server is not there, does not answer, is not ready,
//            has no room or only reads. Also when it undid the work for another session. With
//            Code::cancelled when the session was stopped. With another Code when a retry would
//            fail the same way: a wrong password, an unknown database, a wrong statement. SQLSTATE
//            decides, because texts are in the language of the server.
// Invariant  a call ends within wait_step of a stop, but for the look-up of a name.
#pragma once

#include <libpq-fe.h>

#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/stores/database/postgres/options.hpp"

namespace katana::database::postgres {

// PostgreSQL's report of a failure.
struct Refusal {
  std::string state = {};     // SQLSTATE; empty: the server has said nothing
  std::string text = {};      // on one line
  std::size_t character = 0;  // of the statement, counted from 1; 0: none is to blame
};

// Reads a text of libpq about an attempt to connect, made with PQERRORS_VERBOSE.
Refusal refusal_in(Bytes message);
// True when a retry would fail again.
bool is_lasting(const Refusal& refusal) noexcept;
katana::Error as_error(const Refusal& refusal);

class BlockingSession {
 public:
  // A wait for the server looks for a stop this often.
  static constexpr Duration wait_step = milliseconds(50);
  // Frees a result of libpq.
  struct Clear {
    void operator()(PGconn* pg) const noexcept { PQfinish(pg); }
    void operator()(PGresult* result) const noexcept { PQclear(result); }
  };
  using Rows = std::unique_ptr<PGresult, Clear>;  // owns the rows; they outlive the session

  // Connects to the first server that accepts; tries each for up to connect_timeout.
  static katana::Result<BlockingSession> connect(const Options& options, std::stop_token stop);

  // The rows of the last statement of `text`; values are given as text.
  katana::Result<Rows> ask(const char* text, std::span<const char* const> values = {});
  // The server's report of the last call that failed.
  const Refusal& refusal() const noexcept { return refusal_; }
  bool in_transaction() const noexcept { return PQtransactionStatus(pg_.get()) == PQTRANS_INTRANS; }

 private:
  explicit BlockingSession(std::stop_token stop) : stop_(std::move(stop)) {}
  // True: connected.
  katana::Result<void> try_target(const Options& options, const Target& target,
                                  const std::string& password);
  katana::Result<void> wait_for(short events, Instant until);
  katana::Result<void> send(const char* text, std::span<const char* const> values);
  katana::Result<Rows> next_result();
  std::unexpected<katana::Error> lost();
  std::unexpected<katana::Error> refused(const PGresult& result);

  std::stop_token stop_;
  std::unique_ptr<PGconn, Clear> pg_;
  Refusal refusal_;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
