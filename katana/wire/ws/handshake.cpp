#include "katana/wire/ws/handshake.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "katana/base/system/check.hpp"
#include "katana/base/values/sha1.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/field_list.hpp"
#include "katana/wire/http/origin.hpp"

namespace katana::ws {
namespace {

using http::equals_ignoring_case;

constexpr Bytes key_suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr std::size_t key_bytes = 24;
constexpr Bytes alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<HandshakeRefusalText, static_cast<std::size_t>(HandshakeRefusal::count_)>
    texts = {{
        {101, ""},
        {426, "This resource speaks WebSocket: ask for it with Upgrade: websocket."},
        {400, "This resource speaks WebSocket: ask for it with CONNECT and :protocol (RFC 8441)."},
        {405, "A WebSocket handshake is a GET request (RFC 6455 §4.1)."},
        {426, "A WebSocket handshake needs HTTP/1.1 (RFC 6455 §4.1)."},
        {426, "Version 13 of WebSocket is served here, which Sec-WebSocket-Version has to name."},
        {400, "Sec-WebSocket-Key has to be the Base64 of 16 bytes, once (RFC 6455 §4.1)."},
        {400, "Sec-WebSocket-Protocol has to be a list of tokens (RFC 6455 §4.1)."},
        {400, "Sec-WebSocket-Extensions has to be a list of extensions (RFC 6455 §9.1)."},
        {403, "Pages of this Origin may not connect here."},
    }};

template <class Visit>
void for_each_value(const http::Head& head, Bytes name, Visit&& visit) {
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    if (equals_ignoring_case(head.name(index), name)) visit(head.value(index));
  }
}

bool names_token(const http::Head& head, Bytes field, Bytes wanted) noexcept {
  bool found = false;
  for_each_value(head, field, [&](Bytes value) {
    http::ListReader tokens(value);
    for (Bytes token; tokens.next(token);) found = found || equals_ignoring_case(token, wanted);
  });
  return found;
}

// The value of a field that has to be there once.
std::optional<Bytes> only_value(const http::Head& head, Bytes name) noexcept {
  std::optional<Bytes> only;
  bool repeated = false;
  for_each_value(head, name, [&](Bytes value) {
    repeated = only.has_value();
    only = value;
  });
  return repeated ? std::nullopt : only;
}

bool is_key(Bytes key) noexcept {
  return key.size() == key_bytes && key.ends_with("==") &&
         std::ranges::all_of(key.substr(0, key_bytes - 2),
                             [](char each) { return alphabet.contains(each); });
}

// False: not a list of tokens.
bool choose_subprotocol(const http::Head& head, std::span<const Bytes> ours,
                        Bytes& chosen) noexcept {
  bool well_formed = true;
  std::size_t best = ours.size();
  for_each_value(head, "Sec-WebSocket-Protocol", [&](Bytes value) {
    http::ListReader offers(value);
    for (Bytes offer; offers.next(offer);) {
      if (!http::all_are(offer, http::token_character)) well_formed = false;
      const auto at = static_cast<std::size_t>(std::ranges::find(ours, offer) - ours.begin());
      best = std::min(best, at);
    }
  });
  if (best < ours.size()) chosen = ours[best];
  return well_formed;
}

bool may_connect(const http::Head& head, const HandshakeOptions& options) noexcept {
  if (options.origins == Origins::any) return true;
  const Bytes host = options.host.empty() ? head.find("Host").value_or(Bytes()) : options.host;
  bool may = true;
  for_each_value(head, "Origin", [&](Bytes origin) {
    const bool is_listed = std::ranges::any_of(
        options.more_origins, [&](Bytes each) { return http::same_origin(each, origin); });
    may = may && (is_listed || http::is_origin_of(origin, host, options.is_secure));
  });
  return may;
}

HandshakeRefusal judge_form(const http::Head& head, bool on_stream) noexcept {
  if (on_stream) {
    if (!names_token(head, "Upgrade", "websocket")) return HandshakeRefusal::no_connect;
    return only_value(head, "Sec-WebSocket-Version") == Bytes("13")
               ? HandshakeRefusal::none
               : HandshakeRefusal::other_version;
  }
  if (!names_token(head, "Upgrade", "websocket") || !names_token(head, "Connection", "upgrade")) {
    return HandshakeRefusal::no_upgrade;
  }
  if (head.method() != http::Method::get) return HandshakeRefusal::bad_method;
  if (head.minor_version() == 0) return HandshakeRefusal::old_http;
  if (only_value(head, "Sec-WebSocket-Version") != Bytes("13")) {
    return HandshakeRefusal::other_version;
  }
  const auto key = only_value(head, "Sec-WebSocket-Key");
  return key && is_key(*key) ? HandshakeRefusal::none : HandshakeRefusal::bad_key;
}

// ---- permessage-deflate ------------------------------------------------------------------------

Bytes trim(Bytes text) noexcept {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_token(Bytes text) noexcept {
  return !text.empty() && http::all_are(text, http::token_character);
}

// A token, or a token in quotes (RFC 6455 §9.1).
bool is_parameter_value(Bytes value) noexcept {
  if (!value.starts_with('"')) return is_token(value);
  value.remove_prefix(1);
  bool has_text = false;
  while (!value.empty() && value[0] != '"') {
    if (value[0] == '\\') value.remove_prefix(1);
    if (value.empty() || !http::is(value[0], http::token_character)) return false;
    value.remove_prefix(1);
    has_text = true;
  }
  return has_text && value == "\"";
}

// A token, and parameters behind semicolons. A semicolon in quotes ends no parameter, but is not
// allowed there either.
bool is_extension(Bytes rest) noexcept {
  for (bool is_name = true;; is_name = false) {
    const std::size_t end = rest.find(';');
    const Bytes part = trim(rest.substr(0, end));
    const std::size_t equals = is_name ? Bytes::npos : part.find('=');
    if (!is_token(trim(part.substr(0, equals)))) return false;
    if (equals != Bytes::npos && !is_parameter_value(trim(part.substr(equals + 1)))) return false;
    if (end == Bytes::npos) return true;
    rest.remove_prefix(end + 1);
  }
}

// The lines of the field are one list, which has at least one extension.
bool has_valid_extensions(const http::Head& head) noexcept {
  bool is_sent = false;
  bool has_one = false;
  bool are_valid = true;
  for_each_value(head, "Sec-WebSocket-Extensions", [&](Bytes value) {
    is_sent = true;
    http::ListReader offers(value);
    for (Bytes offer; offers.next(offer); has_one = true) {
      are_valid = are_valid && is_extension(offer);
    }
  });
  return !is_sent || (has_one && are_valid);
}

// Takes the part in front of the next semicolon off `rest`, together with the semicolon.
Bytes take_part(Bytes& rest) noexcept {
  const std::size_t end = rest.find(';');
  const Bytes part = trim(rest.substr(0, end));
  rest.remove_prefix(end == Bytes::npos ? rest.size() : end + 1);
  return part;
}

// Reads 8 to 15, without leading zeros (RFC 7692 §7.1.2); 0: any other text.
int read_window_bits(Bytes value) noexcept {
  if (value.size() > 2 && value.starts_with('"') && value.ends_with('"')) {
    value = value.substr(1, value.size() - 2);
  }
  if (value == "8" || value == "9") return value[0] - '0';
  if (value.size() == 2 && value[0] == '1' && value[1] >= '0' && value[1] <= '5') {
    return 10 + (value[1] - '0');
  }
  return 0;
}

// An offer with a parameter that is unknown, repeated or malformed is declined (RFC 7692 §7.1).
DeflateOffer judge_offer(Bytes offer, int window_bits) noexcept {
  enum Seen : unsigned { server_alone = 1, client_alone = 2, server_bits = 4, client_bits = 8 };
  DeflateOffer judged{.accepted = true, .window_bits = window_bits};
  unsigned seen = 0;
  if (!equals_ignoring_case(take_part(offer), "permessage-deflate")) return {};
  while (!offer.empty()) {
    const Bytes parameter = take_part(offer);
    const std::size_t equals = parameter.find('=');
    const Bytes name = trim(parameter.substr(0, equals));
    const bool has_value = equals != Bytes::npos;
    const int bits = has_value ? read_window_bits(trim(parameter.substr(equals + 1))) : 0;
    unsigned which = 0;
    if (name == "server_no_context_takeover" && !has_value) which = server_alone;
    if (name == "client_no_context_takeover" && !has_value) which = client_alone;
    if (name == "client_max_window_bits" && (!has_value || bits != 0)) which = client_bits;
    // zlib has no raw stream with a window of 2^8.
    if (name == "server_max_window_bits" && bits > 8) which = server_bits;
    if (which == 0 || (seen & which) != 0) return {};
    seen |= which;
    if (which == server_bits) {
      judged.window_bits = std::min(window_bits, bits);
      judged.window_bits_asked = true;
    }
  }
  return judged;
}

char* put(char* to, Bytes text) noexcept {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// Writes the subprotocol and the extension that were agreed on, as whole lines.
char* put_terms(char* to, const Handshake& handshake) noexcept {
  if (!handshake.subprotocol.empty()) {
    KATANA_REQUIRE(handshake.subprotocol.size() <= subprotocol_bytes_max);
    to = put(put(put(to, "Sec-WebSocket-Protocol: "), handshake.subprotocol), "\r\n");
  }
  if (handshake.window_bits == 0) return to;
  to = put(to,
           "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; "
           "client_no_context_takeover");
  if (handshake.window_bits_asked) {
    to = put(to, "; server_max_window_bits=");
    if (handshake.window_bits > 9) *to++ = '1';
    *to++ = static_cast<char>('0' + handshake.window_bits % 10);
  }
  return put(to, "\r\n");
}

}  // namespace

const HandshakeRefusalText& text_of(HandshakeRefusal refusal) noexcept {
  return texts[static_cast<std::size_t>(refusal)];
}

std::array<char, accept_bytes> accept_of(Bytes key) noexcept {
  std::array<char, key_bytes + key_suffix.size()> text{};
  const Bytes used = key.substr(0, key_bytes);
  put(put(text.data(), used), key_suffix);
  const auto digest = sha1({text.data(), used.size() + key_suffix.size()});
  std::array<char, accept_bytes> accept;
  for (std::size_t at = 0; at < 7; ++at) {
    const auto octet = [&](std::size_t index) {
      return std::uint32_t{index < digest.size() ? digest[index] : std::uint8_t{0}};
    };
    const std::uint32_t three = octet(3 * at) << 16 | octet(3 * at + 1) << 8 | octet(3 * at + 2);
    for (std::size_t part = 0; part < 4; ++part) {
      accept[4 * at + part] = alphabet[three >> (18 - 6 * part) & 63];
    }
  }
  accept.back() = '=';  // 20 bytes leave one sextet of the last four empty
  return accept;
}

DeflateOffer judge_extensions(Bytes offers, int window_bits) noexcept {
  http::ListReader reader(offers);
  for (Bytes offer; reader.next(offer);) {
    const DeflateOffer judged = judge_offer(offer, window_bits);
    if (judged.accepted) return judged;
  }
  return {};
}

Handshake judge_handshake(const http::Head& head, const HandshakeOptions& options) noexcept {
  Handshake handshake;
  handshake.refusal = judge_form(head, options.on_stream);
  if (handshake.refusal != HandshakeRefusal::none) return handshake;
  if (!choose_subprotocol(head, options.subprotocols, handshake.subprotocol)) {
    handshake.refusal = HandshakeRefusal::bad_subprotocols;
  } else if (!has_valid_extensions(head)) {
    handshake.refusal = HandshakeRefusal::bad_extensions;
  } else if (!may_connect(head, options)) {
    handshake.refusal = HandshakeRefusal::foreign_origin;
  }
  if (handshake.refusal != HandshakeRefusal::none) return handshake;
  if (!options.on_stream) handshake.accept = accept_of(*only_value(head, "Sec-WebSocket-Key"));
  if (options.deflate_window_bits == 0) return handshake;
  for_each_value(head, "Sec-WebSocket-Extensions", [&](Bytes offers) {
    if (handshake.window_bits != 0) return;
    const DeflateOffer judged = judge_extensions(offers, options.deflate_window_bits);
    handshake.window_bits = judged.accepted ? judged.window_bits : 0;
    handshake.window_bits_asked = judged.window_bits_asked;
  });
  return handshake;
}

char* write_answer(char* to, const Handshake& handshake) noexcept {
  KATANA_REQUIRE(handshake.refusal == HandshakeRefusal::none);
  to = put(to, "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ");
  to = put(to, {handshake.accept.data(), handshake.accept.size()});
  return put_terms(put(to, "\r\n"), handshake);
}

char* write_stream_answer(char* to, const Handshake& handshake) noexcept {
  KATANA_REQUIRE(handshake.refusal == HandshakeRefusal::none);
  return put_terms(to, handshake);
}

}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
