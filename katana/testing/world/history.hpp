// Operation, History: the requests of a world's clients, with what each client knows of them.
//
// Owns       copies of requests and replies.
// Thread     the world's.
// Allocates  for each operation.
// Fails      never.
// Invariant  an operation that is over never changes again. Numbers are those of one client, and do
//            not depend on other clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "katana/base/values/instant.hpp"
#include "katana/testing/test_reply.hpp"

namespace katana::testing {

// The outcome of a request, as far as its client knows it.
enum class Outcome : std::uint8_t {
  pending,  // in progress
  replied,  // a whole reply came
  refused,  // the connection was refused: it had no effect
  unknown,  // the connection ended or no reply came in time: it may have had its effect, or may yet
  dropped,  // it was never sent: the search for a smaller failing case left it out
};

// A request of a client, and what became of it.
struct Operation {
  std::string client;                  // "ada"
  std::size_t number = 0;              // of the client, from 1
  std::string node;                    // the name that the client asked: "api"
  std::string method;                  // "POST"
  std::string target;                  // "/bookings"
  std::string content;                 // of the request
  TestReply::Fields fields = {};       // of the request
  Instant invoked = {};                // virtual time
  Instant returned = {};               // when it was over
  Outcome outcome = Outcome::pending;  // as the client knows it
  unsigned status = 0;                 // 0: no reply
  std::string reply = {};              // body of the reply
  std::string why = {};                // the reason for refused and unknown

  // "ada#3"
  std::string key() const { return client + "#" + std::to_string(number); }
  bool is_over() const noexcept { return outcome != Outcome::pending; }
  // A whole reply with a status of 200 to 299.
  bool succeeded() const noexcept { return outcome == Outcome::replied && status / 100 == 2; }
  // It may have had an effect that the client does not know of.
  bool is_open() const noexcept {
    return outcome == Outcome::unknown || outcome == Outcome::pending;
  }
  bool is_to(std::string_view method_is, std::string_view target_prefix) const noexcept {
    return method == method_is && target.starts_with(target_prefix);
  }
};

// In the order in which they were invoked. References stay valid as long as the world.
using History = std::deque<Operation>;

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
