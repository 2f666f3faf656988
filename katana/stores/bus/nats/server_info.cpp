#include "katana/stores/bus/nats/server_info.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"

namespace katana::bus {
namespace info_json {

// As it comes; servers leave out what they do not have.
struct Info {
  std::optional<std::string> server_name;
  std::optional<std::string> version;
  std::optional<std::string> nonce;
  std::optional<std::vector<std::string>> connect_urls;
  std::optional<std::uint64_t> max_payload;
  std::optional<bool> headers;
  std::optional<bool> auth_required;
  std::optional<bool> tls_required;
  std::optional<bool> tls_available;
  std::optional<bool> ldm;
  std::optional<bool> jetstream;
};
KATANA_DESCRIBE(Info, server_name, version, nonce, connect_urls, max_payload, headers,
                auth_required, tls_required, tls_available, ldm, jetstream)

}  // namespace info_json

namespace {

void add(std::string& json, Bytes name, Bytes value) {
  json += fmt::format(",\"{}\":", name);
  json += container::to_json(std::string(value));
}

void add_bool(std::string& json, Bytes name, bool value) {
  json += fmt::format(",\"{}\":{}", name, value);
}

}  // namespace

Result<ServerInfo> read_server_info(Bytes json) {
  auto read = container::read_json<info_json::Info>(json);
  if (!read) return std::unexpected(read.error().within("INFO of a NATS server"));
  ServerInfo info;
  info.name = read->server_name.value_or("");
  info.version = read->version.value_or("");
  info.nonce = read->nonce.value_or("");
  info.connect_urls = read->connect_urls.value_or(std::vector<std::string>());
  info.max_payload = read->max_payload.value_or(info.max_payload);
  info.has_headers = read->headers.value_or(false);
  info.auth_required = read->auth_required.value_or(false);
  info.tls_required = read->tls_required.value_or(false);
  info.tls_available = read->tls_available.value_or(false);
  info.is_lame_duck = read->ldm.value_or(false);
  info.has_jetstream = read->jetstream.value_or(false);
  return info;
}

Result<std::string> write_connect(const ConnectOptions& options, const Credentials& credentials,
                                  const ServerInfo& info) {
  std::string json =
      "CONNECT {\"verbose\":false,\"pedantic\":false,\"lang\":\"katana\","
      "\"protocol\":1";
  // A server without headers ends a connection that wants no_responders.
  add_bool(json, "headers", info.has_headers);
  add_bool(json, "no_responders", info.has_headers);
  add(json, "version", "0.2");
  add(json, "name", options.client_name);
  add_bool(json, "echo", options.echo);
  add_bool(json, "tls_required", options.tls);
  if (!credentials.user.empty()) {
    add(json, "user", credentials.user);
    add(json, "pass", credentials.password.reveal());
  }
  if (!credentials.token.empty()) add(json, "auth_token", credentials.token.reveal());
  if (!credentials.nkey.empty()) {
    auto key = credentials.nkey.public_key();
    auto signature = credentials.nkey.sign(info.nonce);
    if (!key) return std::unexpected(key.error());
    if (!signature) return std::unexpected(signature.error());
    if (credentials.jwt.empty()) {
      add(json, "nkey", *key);
    } else {
      add(json, "jwt", credentials.jwt.reveal());
    }
    add(json, "sig", *signature);
  }
  return json + "}\r\n";
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
