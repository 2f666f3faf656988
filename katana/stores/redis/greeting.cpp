#include "katana/stores/redis/greeting.hpp"

#include <fmt/format.h>

namespace katana::redis {
namespace {

std::unexpected<katana::Error> refused(Code code, std::string what) {
  return katana::fail(code, std::move(what));
}

// Checks the first reply, to HELLO.
katana::Result<void> check_hello(const Reply& reply) {
  if (reply.is_error()) {
    const std::string& said = reply.text();
    if (said.starts_with("WRONGPASS") || said.starts_with("NOAUTH") || said.starts_with("NOPERM")) {
      return refused(Code::permission_denied,
                     fmt::format("Redis refuses user and password: {}", said.substr(0, 300)));
    }
    if (said.starts_with("ERR unknown command") || said.starts_with("NOPROTO")) {
      return refused(Code::unsupported,
                     fmt::format("the server does not speak RESP3: Redis 6 or later is needed "
                                 "(it says: {})",
                                 said.substr(0, 300)));
    }
    return refused(Code::unavailable, fmt::format("Redis refuses HELLO: {}", said.substr(0, 300)));
  }
  const Reply* const mode = reply.find("mode");
  if (mode == nullptr) {
    return refused(Code::data_loss, "what answers HELLO is no Redis server");
  }
  if (mode->text() == "sentinel") {
    return refused(Code::unsupported,
                   "the server is a Sentinel, which holds no keys: name the servers themselves");
  }
  const Reply* const role = reply.find("role");
  if (role != nullptr && role->text() != "master") {
    return refused(Code::unavailable, "the server is a replica, which takes no writes");
  }
  return {};
}

}  // namespace

Command Greeting::make_hello(Bytes password) const {
  Command hello("HELLO", 3);
  if (!password.empty() || !options_.user.empty()) {
    hello.add("AUTH").add(options_.user.empty() ? Bytes("default") : Bytes(options_.user));
    hello.add(password);
  }
  if (!options_.client_name.empty()) hello.add("SETNAME").add(Bytes(options_.client_name));
  return hello;
}

katana::Result<void> Greeting::take(const Reply& reply) {
  --left_;
  if (!std::exchange(said_hello_, true)) return check_hello(reply);
  if (!reply.is_error()) return {};
  return refused(
      Code::invalid_argument,
      fmt::format("Redis refuses SELECT {}: {}", options_.database, reply.text().substr(0, 300)));
}

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
