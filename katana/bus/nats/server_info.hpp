// ServerInfo: what a NATS server says of itself. write_connect(): what we say in return.
//
// Owns       its texts.
// Thread     a value.
// Allocates  its texts.
// Fails      read_server_info() with an Error when it is no JSON of an object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/bytes.hpp"
#include "katana/base/result.hpp"
#include "katana/bus/nats/credentials.hpp"

namespace katana::bus {

struct ServerInfo {
  std::string name;
  std::string version;
  std::string nonce;
  std::vector<std::string> connect_urls;
  std::uint64_t max_payload = 1024 * 1024;
  bool has_headers = false;
  bool auth_required = false;
  bool tls_required = false;
  bool tls_available = false;
  bool is_lame_duck = false;
  bool has_jetstream = false;
};

Result<ServerInfo> read_server_info(Bytes json);

struct ConnectOptions {
  Bytes client_name;
  bool echo = false;
  bool tls = false;
};
// "CONNECT {…}\r\n"
Result<std::string> write_connect(const ConnectOptions& options, const Credentials& credentials,
                                  const ServerInfo& info);

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
