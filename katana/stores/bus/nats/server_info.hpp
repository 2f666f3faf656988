// ServerInfo: the INFO of a NATS server. write_connect(): the CONNECT that answers it.
//
// Owns       its texts.
// Thread     a value.
// Allocates  its texts.
// Fails      read_server_info() with an Error for text that is no JSON object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/stores/bus/nats/credentials.hpp"

namespace katana::bus {

struct ServerInfo {
  std::string name;     // server_name
  std::string version;  // shown by health(), and not compared
  std::string nonce;    // what an nkey signs; empty: the server asks for no signature
  std::vector<std::string> connect_urls;    // HOST:PORT of each server of its cluster
  std::uint64_t max_payload = 1024 * 1024;  // bytes of a message; more ends the connection
  bool has_headers = false;    // HPUB is understood; without it messages carry no numbers
  bool auth_required = false;  // without credentials CONNECT will be refused
  bool tls_required = false;   // plain connections are given up
  bool tls_available = false;  // TLS is possible, and plain as well
  bool is_lame_duck = false;   // ldm: it ends soon, and another one is to be used
  bool has_jetstream = false;  // enabled; whether our account has it only its API tells
};

// The content of INFO. Missing members have the default; unknown members are ignored.
Result<ServerInfo> read_server_info(Bytes json);

// The options in CONNECT, without the credentials.
struct ConnectOptions {
  Bytes client_name;  // shown in the server's lists of connections
  bool echo = false;  // the server sends us back what we publish and are subscribed to
  bool tls = false;   // tls_required: the connection has it already
};
// "CONNECT {…}\r\n"
Result<std::string> write_connect(const ConnectOptions& options, const Credentials& credentials,
                                  const ServerInfo& info);

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
