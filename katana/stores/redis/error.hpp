// Error of Redis: a katana::Error that also has a kind, and the server's error text.
//
//   if (answer.error().kind() == redis::Kind::server && answer.error().prefix() == "WRONGTYPE") …
//
// Owns       its texts.
// Thread     a value.
// Allocates  when made.
// Fails      never.
// Invariant  describe() has the command's name, but no keys, values or scripts, and no password.
//            A client may be shown message(), which does not have the server's text either.
//
// Result<T> of this namespace turns into katana::Result<T> wherever one is expected.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "katana/base/system/result.hpp"

namespace katana::redis {

// The cause of a failure, and whether the command may have taken effect.
enum class Kind : std::uint8_t {
  server,           // the server refused the command: prefix() says how
  timeout,          // the deadline came, and nothing was done: it was not sent, or only reads
  unavailable,      // no server, or it cannot serve now (LOADING, OOM, …): nothing was done
  unknown_outcome,  // it was sent, and the answer is lost or late: it may have taken effect
  lost_reply,       // the connection was lost before the answer to a command that only reads
  overloaded,       // a limit of the client's: commands_max, queued_bytes_max, connections_max
  mismatch,         // the answer is not what the call can give: another type, or another command
  refused,          // a command that must not go over a shared connection
};
// The enumerator's name, as metrics and messages have it.
std::string_view kind_name(Kind kind) noexcept;

// The error of one call. Slices into a katana::Error, whose code follows from the kind.
class Error : public katana::Error {
 public:
  // `command`: its name alone. `detail` is for the log.
  Error(Kind kind, std::string_view what, std::string_view command = {},
        std::string_view detail = {});
  // The error of a server's text, as "WRONGTYPE Operation against a key holding the wrong kind".
  static Error of_server(std::string_view line, std::string_view command);

  // The kind of the failure, for the caller to branch on.
  Kind kind() const noexcept { return kind_; }
  // The first word of the server's text, as "WRONGTYPE" or "NOSCRIPT"; otherwise empty.
  std::string_view prefix() const noexcept { return prefix_; }
  // Nothing was done, or nothing that matters: the same call may succeed now.
  bool retryable() const noexcept {
    return kind_ == Kind::timeout || kind_ == Kind::unavailable || kind_ == Kind::lost_reply ||
           kind_ == Kind::overloaded;
  }

 private:
  Kind kind_;
  std::string prefix_;
};

// The result of calls of this namespace.
template <class T>
using Result = std::expected<T, Error>;

// Makes an Error; the parameters are those of its constructor.
inline std::unexpected<Error> fail(Kind kind, std::string_view what, std::string_view command = {},
                                   std::string_view detail = {}) {
  return std::unexpected(Error(kind, what, command, detail));
}

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
