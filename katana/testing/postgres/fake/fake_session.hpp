// FakeSession: the server's half of PostgreSQL's protocol on one connection.
//
//   starting ──StartupMessage──► open ──Terminate, end of the server──► over
//                                 │
//                                 └─end or break of the connection─► left ──messages done──► over
//
//   A message that fails makes the session skip messages until Sync. A delay holds the messages
//   behind it. A session that was left executes the complete messages that it has received, and
//   sends nothing: PostgreSQL notices a closed socket only afterwards. Then an open transaction is
//   undone.
//
// Owns       its connection's end, prepared statements, and the effects of its transaction.
// Borrows    script and server, which outlive it.
// Thread     the network's.
// Allocates  for each message.
// Fails      bytes that are not PostgreSQL's reset the connection.
// Invariant  an effect is applied when its transaction commits, before the answer leaves.
// Source     PostgreSQL 18, "Message Flow", "Message Formats"
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/net/engine/sim/sim_connection.hpp"
#include "katana/testing/postgres/fake/fake_script.hpp"
#include "katana/wire/postgres/byte_reader.hpp"

namespace katana::testing {

class FakeSession final : public std::enable_shared_from_this<FakeSession>, private engine::SimEnd {
 public:
  FakeSession(FakeScript& script, FakeServer& server,
              std::shared_ptr<engine::SimConnection> connection) noexcept
      : script_(script), server_(server), connection_(std::move(connection)) {}

  // Takes the handshake.
  void begin();
  // It does nothing any more.
  bool is_over() const noexcept { return is_over_; }
  // It has its connection.
  bool is_connected() const noexcept { return !is_over_ && !is_left_; }
  const FakeServer& server() const noexcept { return server_; }
  // Ends the session with its server: what was not executed is lost.
  void reset();
  // Handles what has arrived, as far as no fault holds it.
  void go_on();
  // Tells the client the role of the server.
  void tell_role();

 private:
  struct Statement {
    std::string text;
    std::shared_ptr<const FakeAnswer> answer;  // null: one of the built-in ones
  };
  struct Portal {
    Statement statement;
    std::vector<FakeValue> values;
    bool is_binary = false;  // the format of its columns
  };
  using Effects = std::vector<std::function<void()>>;

  void on_stream(engine::SimConnection& connection) override;
  void receive();
  void leave(bool resets);
  bool take_start();
  bool take_message();
  void log_in();
  void handle(char type, Bytes body);
  void parse(katana::postgres::ByteReader body);
  void bind(katana::postgres::ByteReader body);
  void describe(katana::postgres::ByteReader body);
  void execute(const Portal& portal);
  bool execute_built_in(const std::string& text);
  void execute_scripted(const Portal& portal);
  void give(const Portal& portal, FakeReply reply);
  bool write_rows(const Portal& portal, const std::vector<FakeRow>& rows);
  void query(Bytes text);
  void sync();
  void commit();
  void roll_back();
  void roll_back_to(const std::string& name);
  void apply_effects();
  void fail(const std::string& sqlstate, const std::string& message);
  void write_columns(const Statement& statement);
  void write_one(const std::string& value);
  void write_ready();
  void write_setting(Bytes name, Bytes value);
  void complete(const std::string& tag);
  void write(char type, const std::string& body);
  void flush();
  bool is_delayed(char type, Bytes body);

  FakeScript& script_;
  FakeServer& server_;
  const std::shared_ptr<engine::SimConnection> connection_;
  std::string input_;
  std::string output_;
  bool is_over_ = false;
  bool is_left_ = false;  // the connection is gone, and messages may remain
  bool is_started_ = false;
  bool waits_ = false;       // for the end of a delay
  bool has_waited_ = false;  // the first message of input_ has
  bool skips_ = false;       // until Sync
  char status_ = 'I';        // of the transaction: idle, in one, failed
  Effects effects_;
  std::vector<std::pair<std::string, std::size_t>> savepoints_;  // with the effects before each
  std::map<std::string, Statement> statements_;
  std::map<std::string, Portal> portals_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
