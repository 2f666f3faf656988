// Greeting: the first commands on a connection: HELLO 3 with user and client name, and SELECT.
//
// Owns       the facts that it has learned of the server.
// Borrows    the options.
// Thread     its connection's.
// Allocates  the text.
// Fails      take() with an Error that names the server's refusal; never the password.
// Invariant  a server that is a replica, or a Sentinel, gets no other commands.
#pragma once

#include <string>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/stores/redis/command.hpp"
#include "katana/stores/redis/options.hpp"
#include "katana/stores/redis/reply.hpp"

namespace katana::redis {

class Greeting {
 public:
  explicit Greeting(const Options& options) noexcept : options_(options) {}

  // Begins anew, and calls `say` with each command.
  template <class Say>
  void begin(Bytes password, Say&& say) {
    left_ = 1;
    said_hello_ = false;
    Command hello = make_hello(password);
    say(hello.wire());
    if (options_.database == 0) return;
    ++left_;
    Command select("SELECT", options_.database);
    say(select.wire());
  }
  // True while replies belong to the greeting.
  bool is_going() const noexcept { return left_ > 0; }
  void end() noexcept { left_ = 0; }
  // Takes the next reply of the greeting. An Error: the server cannot be used.
  katana::Result<void> take(const Reply& reply);

 private:
  Command make_hello(Bytes password) const;

  const Options& options_;
  int left_ = 0;
  bool said_hello_ = false;
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
