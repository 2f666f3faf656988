// Point reads by primary key, as three clients do them: this framework, and libpq in two ways.
//
//   SELECT id, name, email, age FROM users WHERE id = $1, with ids 1 to `rows`, at random.
//
// Owns       values only.
// Thread     each function returns when its time is over; blocking ones have threads within.
// Allocates  freely, before it begins to count.
// Fails      ends the program with the reason: a figure of a run that failed is no figure.
// Invariant  each row is checked against the id that was asked for, so no client can be quick by
//            reading nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace katana::lab {

struct PointReads {
  std::string client;
  std::string folder;  // folder with the server's Unix socket
  std::uint16_t port = 5432;
  std::string database = "bench";
  unsigned callers = 64;  // reads in flight, of all connections together
  unsigned connections = 1;
  double seconds = 3;
  std::uint32_t rows = 10'000;

  std::string connection_string() const {
    return "host=" + folder + " port=" + std::to_string(port) + " dbname=" + database +
           " user=katana";
  }
};

inline constexpr const char* point_read_text =
    "SELECT id, name, email, age FROM users WHERE id = $1";

// Ids at random, the same ones in each client.
class Ids {
 public:
  Ids(std::uint32_t seed, std::uint32_t rows) noexcept
      : state_(seed * 2'654'435'761U), rows_(rows) {}
  std::uint32_t next() noexcept {
    state_ = state_ * 1'664'525U + 1'013'904'223U;
    return 1 + static_cast<std::uint32_t>((std::uint64_t{state_} * rows_) >> 32U);
  }

 private:
  std::uint32_t state_;
  std::uint32_t rows_;
};

class Until {
 public:
  explicit Until(double seconds)
      : end_(std::chrono::steady_clock::now() +
             std::chrono::duration_cast<std::chrono::nanoseconds>(
                 std::chrono::duration<double>(seconds))) {}
  bool over() const noexcept { return std::chrono::steady_clock::now() >= end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "postgres_point_reads: %s\n", why.c_str());
  std::exit(1);
}

// Each warms up, tells `begin()` that it measures from now on, and returns the number of reads.
using Begin = void (*)();
std::uint64_t read_by_katana(const PointReads& options, Begin begin);
std::uint64_t read_by_libpq_pipeline(const PointReads& options, Begin begin);
std::uint64_t read_by_libpq_blocking(const PointReads& options, Begin begin);

}  // namespace katana::lab

// SPDX-License-Identifier: Apache-2.0
