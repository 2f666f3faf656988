// FakeServer: a PostgreSQL server of a few statements, which speaks protocol 3.0. A test plans its
// faults: it cuts the connection, flips bits, falls silent, sends single bytes, or wrong lengths.
//
//   FakeServer server;
//   server.plan([](int connection) { return Plan{.cut_at = connection == 0 ? 17 : npos}; });
//
// It knows these statements, and takes any other text for a command:
//
//   SELECT n          gives n as int4
//   SELECT wide       gives a row of many types, one of them a composite that clients look up
//   INSERT … $1       with RETURNING or without
//   COPY …            begins, and then the server reads what read_unread() asks for
//   BEGIN, COMMIT, ROLLBACK, SET, DEALLOCATE
//
// Committed inserts are counted by their parameter, whether the answer was delivered or not.
//
// Owns       its socket in a temporary folder, its thread.
// Thread     any.
// Fails      by std::runtime_error when it is made.
// Invariant  an insert is counted when its sync or COMMIT was received whole, and only then.
#pragma once

#include <atomic>
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

// The faults in the answers of one connection; offsets count all bytes that it is sent.
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
  // Sets the plans of connections from now on, which are counted from 0 again.
  void plan(Planner planner);
  // The number of times that the parameter was inserted and committed.
  int inserted(std::int64_t id) const;
  // The most bytes, and the most messages, that a connection was sent since plan().
  std::size_t bytes_sent() const;
  int messages_sent() const;
  // The bytes that wait in the socket of a COPY; 0 before it has begun.
  std::size_t unread_bytes() const;
  // Takes bytes out of it, and returns how many.
  std::size_t read_unread(std::size_t bytes_max);
  // True when the byte that a plan flipped was a part of a row's value, which no client can notice.
  // The connection that flipped it notes this, because an earlier probe moves later bytes.
  bool value_flipped() const;

 private:
  class Session;
  void run();

  std::string folder_;
  int listener_ = -1;
  int wake_ = -1;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::atomic<int> unread_ = -1;  // the socket of a COPY
  mutable std::mutex mutex_;      // what follows
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
