// Error of Redis: a katana::Error that also knows its kind, and what the server said.
//
//   if (answer.error().kind() == redis::Kind::server && answer.error().prefix() == "WRONGTYPE") …
//
// Owns       its texts.
// Thread     a value.
// Allocates  when made.
// Fails      never.
// Invariant  describe() has the command's name, never its keys, values or scripts, and never the
//            password. message(), which a client may be shown, has not even what the server said.
//
// Result<T> of this namespace turns into katana::Result<T> wherever one is expected.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "katana/base/system/result.hpp"

namespace katana::redis {

// Why a call failed, and whether anything was done.
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

// For one call. Slices into a katana::Error, whose code follows from the kind.
class Error : public katana::Error {
 public:
  // `command`: its name alone. `detail` is for the log.
  Error(Kind kind, std::string_view what, std::string_view command = {},
        std::string_view detail = {});
  // What the server said, as in "WRONGTYPE Operation against a key holding the wrong kind".
  static Error of_server(std::string_view line, std::string_view command);

  // What to branch on.
  Kind kind() const noexcept { return kind_; }
  // Of what the server said its first word, as in "WRONGTYPE", "NOSCRIPT"; else empty.
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

// What calls of this namespace give.
template <class T>
using Result = std::expected<T, Error>;

// As the constructor of Error.
inline std::unexpected<Error> fail(Kind kind, std::string_view what, std::string_view command = {},
                                   std::string_view detail = {}) {
  return std::unexpected(Error(kind, what, command, detail));
}

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
