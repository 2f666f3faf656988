#include "lab/load/websocket_messages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/wire/http/head.hpp"
#include "katana/wire/ws/frame.hpp"
#include "katana/wire/ws/handshake.hpp"
#include "katana/wire/ws/mask.hpp"

namespace katana::load {
namespace {

// The same for every connection: neither protects a load from anything.
constexpr Bytes key = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr std::uint32_t mask = 0x5a17c3e9;

std::string masked_frame(Bytes text) {
  char header[ws::header_bytes_max];
  char* const end =
      ws::write_header(header, ws::Opcode::text, true, false, text.size(), true, mask);
  std::string frame(header, end);
  const std::size_t at = frame.size();
  frame.resize(at + text.size());
  ws::copy_masked(frame.data() + at, text.data(), text.size(), mask);
  return frame;
}

}  // namespace

Result<void> make_messages(Target& target, const RequestSpec& spec) {
  RequestSpec handshake = spec;
  handshake.body.clear();
  handshake.headers.insert(handshake.headers.end(), {"Upgrade: websocket", "Connection: Upgrade",
                                                     fmt::format("Sec-WebSocket-Key: {}", key),
                                                     "Sec-WebSocket-Version: 13"});
  auto requests = make_requests(target.url, handshake, "");
  if (!requests) return std::unexpected(requests.error());
  target.upgrade = requests->front().octets;
  Request message;
  message.octets = message.closing_octets = masked_frame(spec.body);
  message.method = spec.method;
  message.path = target.url.path;
  target.requests.assign(1, std::move(message));
  return {};
}

bool is_upgraded(Bytes head) {
  if (!head.starts_with("HTTP/1.1 101")) return false;
  const auto accept = ws::accept_of(key);
  while (!head.empty()) {
    const Bytes line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(line.size() + 2, head.size()));
    const std::size_t colon = std::min(line.find(':'), line.size());
    if (http::equals_ignoring_case(line.substr(0, colon), "sec-websocket-accept")) {
      return http::trimmed(line.substr(std::min(colon + 1, line.size()))) ==
             Bytes(accept.data(), accept.size());
    }
  }
  return false;
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
