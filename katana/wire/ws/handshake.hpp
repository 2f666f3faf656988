// Handshake: judges whether a request may become a WebSocket connection, and writes the fields of
// the answer.
//
// Borrows    the head, for the call; a Handshake refers to it.
// Thread     any.
// Allocates  never.
// Fails      judge_handshake() gives a refusal, with its status and text.
// Source     RFC 6455 §4.2; RFC 7692 §5 and §7.1 for the extension; RFC 8441 §5 for HTTP/2.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/head.hpp"

namespace katana::ws {

// Why a handshake is refused. text_of() has the status and the sentence of each.
enum class HandshakeRefusal : std::uint8_t {
  none,              // it is accepted
  no_upgrade,        // no Upgrade: websocket with Connection: Upgrade
  no_connect,        // HTTP/2: no extended CONNECT with :protocol websocket
  bad_method,        // not GET
  old_http,          // older than HTTP/1.1
  other_version,     // Sec-WebSocket-Version is not 13
  bad_key,           // Sec-WebSocket-Key is not the base64 of 16 bytes
  bad_subprotocols,  // Sec-WebSocket-Protocol is malformed
  bad_extensions,    // Sec-WebSocket-Extensions is malformed
  foreign_origin,    // a page of another site; see HandshakeOptions::origins
  count_,
};

// Status and sentence that answer a HandshakeRefusal.
struct HandshakeRefusalText {
  unsigned status;  // 4xx
  Bytes sentence;   // for the reply
};
// Lives as long as the program.
const HandshakeRefusalText& text_of(HandshakeRefusal refusal) noexcept;

// The origins of pages that may open a connection. A browser lets every page try, with the cookies
// of the server that it connects to (RFC 6455 §10.2). It names the page's origin; other clients
// name none.
enum class Origins : std::uint8_t {
  same_host,  // pages of HandshakeOptions::host, and clients that are no browsers
  any,        // pages of all sites
};

// The conditions that a handshake must meet.
struct HandshakeOptions {
  Origins origins = Origins::same_host;  // for the header Origin
  // The name by which the client calls the server; empty: the Host field.
  Bytes host = {};
  // The request is known to have come by TLS: pages that did not may not connect.
  bool is_secure = false;
  // Further origins that are allowed, each whole, as "https://example.org".
  std::span<const Bytes> more_origins = {};
  // The subprotocols of the server; the first that the client names too is chosen.
  std::span<const Bytes> subprotocols = {};
  // On a stream of HTTP/2: neither a key nor the field Connection; see http2::HeadReader.
  bool on_stream = false;
  // Whether permessage-deflate may be agreed to; 0: it may not. See DeflateOptions.
  int deflate_window_bits = 0;
};

inline constexpr std::size_t accept_bytes = 28;  // base64 of a SHA-1

struct Handshake {
  HandshakeRefusal refusal = HandshakeRefusal::none;  // none: the handshake is accepted
  std::array<char, accept_bytes> accept{};  // value of Sec-WebSocket-Accept (RFC 6455 §4.2.2)
  Bytes subprotocol = {};                   // of the options; empty: none was agreed on
  // The window of our compression; 0: nothing is compressed.
  int window_bits = 0;
  bool window_bits_asked = false;  // the answer has to name them
};

// Sec-WebSocket-Accept for a key.
std::array<char, accept_bytes> accept_of(Bytes key) noexcept;
Handshake judge_handshake(const http::Head& head, const HandshakeOptions& options) noexcept;

// The most bytes of the answer's lines, with the longest subprotocol that is agreed on.
inline constexpr std::size_t answer_bytes_max = 384;
inline constexpr std::size_t subprotocol_bytes_max = 64;
// Writes the fields of the 101, each with its line end, and returns the end. REQUIRES no refusal.
char* write_answer(char* to, const Handshake& handshake) noexcept;
// The same for the 200 on a stream of HTTP/2, which may have no fields.
char* write_stream_answer(char* to, const Handshake& handshake) noexcept;

// The extension that is agreed on, of all that a Sec-WebSocket-Extensions field offers; for tests.
struct DeflateOffer {
  bool accepted = false;           // false: nothing is compressed
  int window_bits = 0;             // of our compression: 9 to 15
  bool window_bits_asked = false;  // the answer has to name them
};
// `window_bits`: the largest that we use. An offer that is malformed is passed over.
DeflateOffer judge_extensions(Bytes offers, int window_bits) noexcept;

}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
