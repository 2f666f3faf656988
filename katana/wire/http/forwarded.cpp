#include "katana/wire/http/forwarded.hpp"

#include <algorithm>
#include <charconv>

#include "katana/base/values/text_form.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::http {
namespace {

// The elements of all fields of one name, as if they were one list (RFC 9110 §5.3), the last one
// first.
class ElementsFromTheRight {
 public:
  // `quotes`: a comma within a quoted-string belongs to its element.
  ElementsFromTheRight(const Head& head, Bytes name, bool quotes) noexcept
      : head_(head), name_(name), quotes_(quotes), index_(head.field_count()) {}

  // The next element, without the white space around it. False: none is left, or the rest is
  // malformed.
  bool next(Bytes& element) noexcept {
    for (;;) {
      while (rest_.empty()) {
        if (!next_field()) return false;
      }
      const std::size_t begin = begin_of_last();
      if (is_malformed_) return false;
      element = trimmed(rest_.substr(begin));
      rest_ = rest_.substr(0, begin == 0 ? 0 : begin - 1);
      if (!element.empty()) return true;  // RFC 9110 §5.6.1.2: an empty one is none
    }
  }
  bool is_malformed() const noexcept { return is_malformed_; }

 private:
  bool next_field() noexcept {
    while (index_ > 0) {
      --index_;
      if (!equals_ignoring_case(head_.name(index_), name_)) continue;
      rest_ = head_.value(index_);
      return true;
    }
    return false;
  }

  // The place behind the last comma that is not quoted.
  std::size_t begin_of_last() noexcept {
    std::size_t at = rest_.size();
    while (at > 0 && rest_[at - 1] != ',') {
      --at;
      if (quotes_ && rest_[at] == '"') at = begin_of_quotes(at);
    }
    return at;
  }
  // The begin of the quoted-string that ends with the quote at `end`. A quote behind an odd number
  // of backslashes is an escaped one.
  std::size_t begin_of_quotes(std::size_t end) noexcept {
    if (is_escaped(end)) is_malformed_ = true;
    for (std::size_t at = end; at > 0; --at) {
      if (rest_[at - 1] == '"' && !is_escaped(at - 1)) return at - 1;
    }
    is_malformed_ = true;
    return 0;
  }
  bool is_escaped(std::size_t at) const noexcept {
    std::size_t backslashes = 0;
    while (backslashes < at && rest_[at - 1 - backslashes] == '\\') ++backslashes;
    return backslashes % 2 != 0;
  }

  const Head& head_;
  const Bytes name_;
  const bool quotes_;
  std::size_t index_;  // of the field that is read
  Bytes rest_;
  bool is_malformed_ = false;
};

constexpr std::size_t node_bytes_max = 64;
using NodeText = ShortText<node_bytes_max>;

// ---- Forwarded, RFC 7239 §4 ----

// The values that one proxy wrote.
struct Element {
  std::optional<NodeText> node;
  std::optional<Scheme> scheme;
  Bytes host;
};

// token / quoted-string, taken off the front.
struct Value {
  Bytes raw;  // without its quotes
  bool has_escapes = false;
};
std::optional<Value> take_value(Bytes& text) noexcept {
  Value value;
  if (!text.starts_with('"')) {
    std::size_t size = 0;
    while (size < text.size() && is(text[size], token_character)) ++size;
    if (size == 0) return std::nullopt;
    value.raw = text.substr(0, size);
    text.remove_prefix(size);
    return value;
  }
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') {
      value.raw = text.substr(1, at - 1);
      text.remove_prefix(at + 1);
      return value;
    }
    if (!is(text[at], value_character)) return std::nullopt;
    if (text[at] != '\\') continue;
    value.has_escapes = true;
    if (++at == text.size() || !is(text[at], value_character)) return std::nullopt;
  }
  return std::nullopt;
}

// The value without escapes; nothing when it is longer than any node or scheme.
std::optional<NodeText> unescaped(const Value& value) noexcept {
  NodeText text;
  for (std::size_t at = 0; at < value.raw.size(); ++at) {
    if (value.raw[at] == '\\') ++at;
    if (text.size() == node_bytes_max) return std::nullopt;
    text.push_back(value.raw[at]);
  }
  return text;
}

std::optional<Scheme> parse_scheme(Bytes text) noexcept {
  // Some proxies write the scheme of a WebSocket connection as the client has it.
  if (equals_ignoring_case(text, "https") || equals_ignoring_case(text, "wss")) {
    return Scheme::https;
  }
  if (equals_ignoring_case(text, "http") || equals_ignoring_case(text, "ws")) return Scheme::http;
  return std::nullopt;
}

// Adds one forwarded-pair to `element`, if it is of the parts that are read: a proxy may copy the
// others from its client. False: the pair is malformed, or its name came before.
bool add_pair(Element& element, Bytes name, const Value& value, ForwardedParts parts) noexcept {
  if (parts.client && equals_ignoring_case(name, "for")) {
    if (element.node) return false;
    element.node = unescaped(value);
    return element.node.has_value();
  }
  if (parts.proto && equals_ignoring_case(name, "proto")) {
    const auto text = unescaped(value);
    if (element.scheme || !text) return false;
    element.scheme = parse_scheme(*text);
    return element.scheme.has_value();
  }
  if (parts.host && equals_ignoring_case(name, "host")) {
    // No host needs an escape, and a value without escapes lies in the head as it is.
    if (!element.host.empty() || value.has_escapes || !valid_authority(value.raw)) return false;
    element.host = value.raw;
    return !value.raw.empty();
  }
  return true;  // "by", an extension, or a part that is not read
}

std::optional<Element> parse_element(Bytes text, ForwardedParts parts) noexcept {
  Element element;
  for (;;) {
    text = trimmed(text);
    if (!text.starts_with(';') && !text.empty()) {  // a pair may be missing
      std::size_t size = 0;
      while (size < text.size() && is(text[size], token_character)) ++size;
      const Bytes name = text.substr(0, size);
      if (size == 0 || size == text.size() || text[size] != '=') return std::nullopt;
      text.remove_prefix(size + 1);
      const auto value = take_value(text);
      if (!value || !add_pair(element, name, *value, parts)) return std::nullopt;
      text = trimmed(text);
    }
    if (text.empty()) return element;
    if (!text.starts_with(';')) return std::nullopt;
    text.remove_prefix(1);
  }
}

// ---- nodes, RFC 7239 §6 ----

// "_" and at least one of ALPHA / DIGIT / "." / "_" / "-".
bool is_obfuscated(Bytes text) noexcept {
  if (text.size() < 2 || text.front() != '_') return false;
  for (const char c : text) {
    const char lower = to_lower(c);
    const bool good = (lower >= 'a' && lower <= 'z') || is(c, digit_character) || c == '.' ||
                      c == '_' || c == '-';
    if (!good) return false;
  }
  return true;
}

// False: it is neither a port nor obfuscated.
bool parse_port(Bytes text, std::optional<std::uint16_t>& port) noexcept {
  if (is_obfuscated(text)) return true;
  unsigned number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || text.size() > 5 || !all_are(text, digit_character) || number > 65'535 ||
      read.ec != std::errc()) {
    return false;
  }
  port = static_cast<std::uint16_t>(number);
  return true;
}

// One step of the walk: true when the next element to the left is believed as well.
bool note_node(Forwarding& found, Bytes text, bool bare_v6, const NetworkSet& trusted) noexcept {
  const auto node = parse_forwarded_node(text, bare_v6);
  if (!node) {
    found.is_malformed = true;
    return false;
  }
  if (!node->address) return false;  // it is unknown which client or proxy was before it
  found.client = *node;
  return trusted.contains(*node->address);
}

void read_forwarded(const Head& head, const ForwardedRules& rules, const NetworkSet& trusted,
                    Forwarding& found) noexcept {
  ElementsFromTheRight elements(head, "forwarded", true);
  Bytes text;
  while (elements.next(text)) {
    const auto element = parse_element(text, rules.parts);
    if (!element || found.hops == rules.hops_max) {
      found.is_malformed = true;
      return;
    }
    ++found.hops;
    // The values of the proxy nearest to the client win: the client itself connected to it.
    if (element->scheme) found.scheme = element->scheme;
    if (!element->host.empty()) found.host = element->host;
    if (!element->node || !note_node(found, *element->node, false, trusted)) return;
  }
  found.is_malformed = found.is_malformed || elements.is_malformed();
}

// Reads the last value of -Proto and -Host: in a list it is unknown which proxy wrote which value.
void read_x_forwarded(const Head& head, const ForwardedRules& rules, const NetworkSet& trusted,
                      Forwarding& found) noexcept {
  Bytes text;
  if (rules.parts.proto && ElementsFromTheRight(head, "x-forwarded-proto", false).next(text)) {
    found.scheme = parse_scheme(text);
    found.is_malformed = !found.scheme;
  }
  if (rules.parts.host && ElementsFromTheRight(head, "x-forwarded-host", false).next(text)) {
    if (valid_authority(text)) {
      found.host = text;
    } else {
      found.is_malformed = true;
    }
  }
  if (!rules.parts.client) return;
  ElementsFromTheRight elements(head, "x-forwarded-for", false);
  while (elements.next(text)) {
    if (found.hops == rules.hops_max) {
      found.is_malformed = true;
      return;
    }
    ++found.hops;
    if (!note_node(found, text, true, trusted)) return;
  }
}

// ---- traces of proxies ----

constexpr Bytes trace_names[] = {
    "forwarded",
    "forwarded-for",
    "via",
    "cdn-loop",
    "client-ip",
    "true-client-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-originating-ip",
    "x-remote-ip",
    "x-remote-addr",
    "x-proxyuser-ip",
    "x-scheme",
    "x-url-scheme",
    "front-end-https",
    "x-varnish",
    "x-cloud-trace-context",
};
constexpr Bytes trace_prefixes[] = {
    "x-forwarded", "x-original-", "x-real-",   "x-envoy-",     "x-amz-cf-",
    "x-amzn-",     "x-arr-",      "x-azure-",  "x-nginx-",     "cf-",
    "fastly-",     "fly-",        "wl-proxy-", "x-appengine-", "tailscale-",
};

}  // namespace

bool has_trace_of_proxy(const Head& head) noexcept {
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    const Bytes name = head.name(index);
    const auto is_name = [name](Bytes each) { return equals_ignoring_case(name, each); };
    const auto begins = [name](Bytes each) {
      return equals_ignoring_case(name.substr(0, each.size()), each);
    };
    if (std::ranges::any_of(trace_names, is_name) || std::ranges::any_of(trace_prefixes, begins)) {
      return true;
    }
  }
  return false;
}

std::optional<ForwardedNode> parse_forwarded_node(Bytes text, bool bare_v6) noexcept {
  ForwardedNode node;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == Bytes::npos) return std::nullopt;
    const Bytes inside = text.substr(1, end - 1);
    node.address = IpAddress::read(inside);
    if (!node.address || inside.find(':') == Bytes::npos) return std::nullopt;
    text.remove_prefix(end + 1);
    if (text.empty()) return node;
    if (!text.starts_with(':') || !parse_port(text.substr(1), node.port)) return std::nullopt;
    return node;
  }
  const std::size_t colon = text.find(':');
  if (bare_v6 && colon != text.rfind(':')) {
    node.address = IpAddress::read(text);
    if (!node.address) return std::nullopt;
    return node;
  }
  const Bytes name = text.substr(0, colon);
  if (!equals_ignoring_case(name, "unknown") && !is_obfuscated(name)) {
    node.address = IpAddress::read(name);
    if (!node.address) return std::nullopt;
  }
  if (colon != Bytes::npos && !parse_port(text.substr(colon + 1), node.port)) return std::nullopt;
  return node;
}

Forwarding read_forwarding(const Head& head, const ForwardedRules& rules,
                           const NetworkSet& trusted) noexcept {
  Forwarding found;
  switch (rules.fields) {
    case ForwardedFields::none: break;
    case ForwardedFields::forwarded: read_forwarded(head, rules, trusted, found); break;
    case ForwardedFields::x_forwarded: read_x_forwarded(head, rules, trusted, found); break;
  }
  return found;
}

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
