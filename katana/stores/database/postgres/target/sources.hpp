// Sources: the surroundings of a connection, beside the connection string: variables of the
// environment, files, the user of the operating system. Tests give other functions; programs use
// system_sources().
//
// Owns       its functions and texts.
// Thread     as its functions are. system_sources() reads the environment, which no other thread
//            may change in that time.
// Allocates  its texts, and the content of files.
// Fails      a file that cannot be read has a state that says so.
// Source     PostgreSQL 18, "Environment Variables", "The Password File"
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/system/function.hpp"
#include "katana/base/values/secrets.hpp"

namespace katana::database::postgres::target {

// The largest service or password file.
inline constexpr std::size_t source_file_bytes_max = 1024 * 1024;

// A file as it was found.
struct SourceFile {
  // The reason why there is no content.
  enum class State : std::uint8_t { read, missing, unreadable, too_large };
  // Why there is no content, if there is none.
  State state = State::missing;
  bool is_plain = true;     // no device, folder or pipe
  bool is_private = true;   // only its owner has access
  SecretText content = {};  // of State::read
};

struct Sources {
  // The value of a variable; nothing: it is not set.
  std::function<std::optional<std::string>(const char* name)> variable = {};
  // Reads a file, which may block.
  std::function<SourceFile(const std::string& path)> file = {};
  std::string user = {};           // of the operating system; empty: unknown
  std::string home = {};           // the folder of that user; empty: unknown
  std::string socket_folder = {};  // of the server's Unix socket; empty: localhost by TCP
  std::string system_folder = {};  // of pg_service.conf, unless PGSYSCONFDIR is set
};

// The process's own: getenv(), files, the effective user. The socket's folder is
// /var/run/postgresql if it exists; that of services /etc/postgresql-common.
Sources system_sources();

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
