// FakeServer: a PostgreSQL of a few statements, which speaks protocol 3.0 byte by byte as a test
// wants it: cut, flipped, silent, one byte at a time, with lengths that are wrong.
//
//   FakeServer server;
//   server.plan([](int connection) { return Plan{.cut_at = connection == 0 ? 17 : npos}; });
//
// It knows SELECT n (gives n as int4), SELECT wide (a row of many types, one of them a composite,
// which it is asked for), INSERT … $1 with RETURNING or without, BEGIN, COMMIT,
// ROLLBACK, SET, DEALLOCATE; whatever else it takes for a command. Committed inserts are counted
// by their parameter, whether the answer was delivered or not.
//
// Owns       its socket in a temporary folder, its thread.
// Thread     any.
// Fails      by std::runtime_error when it is made.
// Invariant  an insert is counted when its sync or COMMIT was received whole, and only then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/stores/database/postgres/options.hpp"

namespace katana::database::postgres {

// What goes wrong with the answers of one connection; offsets are of all that it is sent.
struct Plan {
  static constexpr std::size_t npos = SIZE_MAX;
  std::size_t cut_at = npos;     // the connection ends before this byte
  std::size_t flip_at = npos;    // this byte is another one,
  unsigned char flip = 0x81;     // in these bits
  std::size_t silent_at = npos;  // nothing is sent from this byte on, and nothing is closed
  int lie_at = -1;               // the number of the message whose length is wrong
  std::int32_t lie = 0;          // by so much
  int wrong_at = -1;             // the number of the message before which
  std::string wrong = {};        // this is sent
  int notices = 0;               // before each message but the first
  bool single_bytes = false;
};

class FakeServer {
 public:
  using Planner = std::function<Plan(int connection)>;

  FakeServer();
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  Options options() const;
  // Of connections from now on, which are counted from 0 again.
  void plan(Planner planner);
  // How often the parameter was inserted and committed.
  int inserted(std::int64_t id) const;
  // The longest that a connection was sent, and its messages, since plan().
  std::size_t bytes_sent() const;
  int messages_sent() const;
  // The byte that a plan flipped was a part of a value of a row: only the server knows what it
  // means. Said by the connection that flipped it, as a probe that comes first moves what
  // follows.
  bool value_flipped() const;

 private:
  class Session;
  void run();

  std::string folder_;
  int listener_ = -1;
  int wake_ = -1;
  std::vector<std::unique_ptr<Session>> sessions_;
  mutable std::mutex mutex_;  // what follows
  Planner planner_;
  int connections_ = 0;
  bool ends_ = false;
  std::map<std::int64_t, int> inserted_;
  std::size_t bytes_sent_ = 0;
  int messages_sent_ = 0;
  bool value_flipped_ = false;
  std::thread thread_;
};

// A message of the protocol.
std::string wire_message(char type, const std::string& payload);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
