// BlockingSession: one session of PostgreSQL for a thread that waits for it: for migrations, and
// for `katana sql check`. It can be told to stop. The Code of a failure says whether a retry may
// help.
//
// Owns       the link, and its buffers.
// Borrows    the stop token's state.
// Thread     one at a time; blocks.
// Allocates  as Link does, and the rows.
// Fails      with Code::unavailable when the server is not there, does not answer, is not ready,
//            has no room or only reads. Also when it undid the work for another session. With
//            Code::cancelled when the session was stopped. With another Code when a retry would
//            fail the same way: a wrong password, an unknown database, a wrong statement. SQLSTATE
//            decides, because texts are in the language of the server.
// Invariant  a call ends within wait_step of a stop, but for the look-up of a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/stores/database/postgres/options.hpp"

namespace katana::database::postgres {

// PostgreSQL's report of a failure.
struct Refusal {
  std::string state = {};  // SQLSTATE; empty: the server has said nothing
  std::string text = {};   // all of it, on one line
  // The parts of the text that say what is wrong, and what to do; as the server wrote them.
  std::string message = {};
  std::string hint = {};
  std::size_t character = 0;  // of the statement, counted from 1; 0: none is to blame
};

// True when a retry would fail again.
bool is_lasting(const Refusal& refusal) noexcept;
katana::Error as_error(const Refusal& refusal);

// A column of a statement's result.
struct StatementColumn {
  std::string name = {};    // of the result
  std::uint32_t type = 0;   // OID
  std::uint32_t table = 0;  // OID; 0: it is no column of a table
  int column = 0;           // its number in that table, from 1
};

// The server's description of a prepared statement.
struct StatementShape {
  std::vector<std::uint32_t> parameters = {};  // the OIDs of their types
  std::vector<StatementColumn> columns = {};   // empty: it gives no rows
};

class BlockingSession {
 public:
  // A wait for the server looks for a stop this often.
  static constexpr Duration wait_step = milliseconds(50);
  using Rows = std::vector<std::vector<std::string>>;  // values as text; a null is empty

  // Connects to the first server that accepts; tries each for up to connect_timeout.
  static katana::Result<BlockingSession> connect(const Options& options, std::stop_token stop);

  // The rows of the last statement of `text`; values are given as text.
  katana::Result<Rows> ask(Bytes text, const std::vector<std::string>& values = {});
  // Prepares a statement under this name, and returns the description of the server.
  katana::Result<StatementShape> prepare(Bytes name, Bytes text);
  // The server's report of the last call that failed.
  const Refusal& refusal() const noexcept;
  bool in_transaction() const noexcept;

  BlockingSession(BlockingSession&& other) noexcept;
  BlockingSession& operator=(BlockingSession&& other) noexcept;
  ~BlockingSession();

 private:
  class Parts;
  explicit BlockingSession(std::unique_ptr<Parts> parts) noexcept;

  std::unique_ptr<Parts> parts_;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
