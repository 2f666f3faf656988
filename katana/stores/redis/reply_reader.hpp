// ReplyReader: the replies in the bytes of one connection.
//
// Owns       the machine, and the reply that is not complete.
// Borrows    the input, for the call.
// Thread     its connection's.
// Allocates  for replies.
// Fails      problem() names bytes that are no RESP, or exceed the limits. Nothing is read after
//            that.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/stores/redis/reply.hpp"
#include "katana/wire/resp/machine.hpp"

namespace katana::redis {

class ReplyReader {
 public:
  // Begins anew, for a new connection.
  void begin(const resp::Limits& limits) {
    machine_.emplace(limits);
    builder_.clear();
  }
  // Calls `take` with each complete reply; `take` returns false to stop. Returns the number of
  // bytes consumed.
  template <class Take>
  std::size_t read(Bytes input, Take&& take) {
    Bytes rest = input;
    for (;;) {
      const resp::Step step = machine_->next(rest);
      if (step.event == resp::Event::need_bytes) return input.size() - rest.size();
      if (step.event == resp::Event::refused) return input.size();
      const bool is_complete = builder_.add(step);
      rest.remove_prefix(step.consumed);
      if (is_complete && !take(builder_.take())) return input.size();
    }
  }
  // An Error when the bytes of `server` are no RESP, or exceed the limits; none: they are right.
  std::optional<katana::Error> problem(const std::string& server) const;

 private:
  std::optional<resp::Machine> machine_;
  ReplyBuilder builder_;
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
