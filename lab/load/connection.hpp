// Connection: one of a worker's connections, and the requests in flight on it.
//
// Owns       its descriptor and the beginning of a line of a head that has not ended yet.
// Thread     its worker's.
// Invariant  the first `in_flight` places of its ring of requests, from `first`, are in flight in
//            the order sent. The last `unwritten` of them are not wholly written; `written_bytes`
//            of the first of these are written.
#pragma once

#include <cstdint>
#include <string>

#include "katana/wire/http1/response_machine.hpp"

namespace katana::load {

using http1::HeadMemo;
using http1::ResponseMachine;

struct InFlight {
  std::int64_t due_ns;   // open loop: when it was to be sent; closed loop: when it was
  std::int64_t sent_ns;  // when its first byte was handed to the kernel
  std::uint32_t request;
  bool closing;  // it asks the server to close
};

// The result of one reply.
struct Answer {
  std::uint64_t content_bytes = 0;
  std::uint16_t status = 0;
  bool body_differs = false;
};

struct Connection {
  enum class State : std::uint8_t { closed, queued, connecting, securing, open };

  int fd = -1;
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  std::uint32_t first = 0;
  std::uint32_t in_flight = 0;
  std::uint32_t unwritten = 0;
  std::uint32_t written_bytes = 0;
  std::uint32_t asked = 0;  // requests begun since it was opened
  State state = State::closed;
  std::uint8_t failures = 0;  // in a row
  bool is_in_ready = false;
  bool is_in_again = false;
  bool is_hungry = false;
  Answer answer;  // HTTP/1.1: of the present reply
  // connecting, securing (the TLS handshake): when that began; closed: when to open it again
  std::int64_t since_ns = 0;
  ResponseMachine machine;
  std::string carry;
};

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
