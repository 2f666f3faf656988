// BlockingSession: one session of PostgreSQL for a thread that waits for it, as migrations do. It
// can be told to stop. The Code of a failure says whether a retry may help.
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
  std::string state = {};     // SQLSTATE; empty: the server has said nothing
  std::string text = {};      // on one line
  std::size_t character = 0;  // of the statement, counted from 1; 0: none is to blame
};

// True when a retry would fail again.
bool is_lasting(const Refusal& refusal) noexcept;
katana::Error as_error(const Refusal& refusal);

class BlockingSession {
 public:
  // A wait for the server looks for a stop this often.
  static constexpr Duration wait_step = milliseconds(50);
  using Rows = std::vector<std::vector<std::string>>;  // values as text; a null is empty

  // Connects to the first server that accepts; tries each for up to connect_timeout.
  static katana::Result<BlockingSession> connect(const Options& options, std::stop_token stop);

  // The rows of the last statement of `text`; values are given as text.
  katana::Result<Rows> ask(Bytes text, const std::vector<std::string>& values = {});
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
