#include "katana/wire/http/url.hpp"

#include <algorithm>
#include <array>

#include "katana/wire/http/characters.hpp"

namespace katana::http {
namespace {

// How a raw byte is treated, in a path and in a host.
enum ByteClass : std::uint8_t {
  path_dot = 1 << 0,      // stands for itself, and may be part of a dot segment
  path_refused = 1 << 1,  // neither pchar nor "/" nor "%": must be escaped, RFC 3986 §3.3
  host_refused = 1 << 2,  // not in a reg-name, RFC 3986 §3.2.2
  percent = 1 << 3,
};

constexpr std::array<std::uint8_t, 256> make_class_table() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned value = 0; value < 256; ++value) {
    const char c = static_cast<char>(value);
    const bool in_path = is(c, target_character) && c != '?' && c != '[' && c != ']';
    unsigned bits = 0;
    if (c == '.') bits |= path_dot;
    if (!in_path) bits |= path_refused;
    if (!is(c, host_character)) bits |= host_refused;
    if (c == '%') bits |= percent;
    table[value] = static_cast<std::uint8_t>(bits);
  }
  return table;
}

constexpr auto class_table = make_class_table();

unsigned class_of(char c) noexcept { return class_table[static_cast<unsigned char>(c)]; }

// The classes of all bytes together. No branch depends on a byte, and unrolled, the loads of four
// bytes overlap.
unsigned classes_in(Bytes text) noexcept {
  unsigned seen = 0;
#pragma GCC unroll 4
  for (const char c : text) seen |= class_of(c);
  return seen;
}

// Like substr(), which throws, for bounds that are known to be right.
Bytes slice(Bytes text, std::size_t begin, std::size_t end) noexcept {
  return Bytes{text.data() + begin, end - begin};
}

std::size_t find_or_end(Bytes text, char c, std::size_t from) noexcept {
  return std::min(text.find(c, from), text.size());
}

// The byte that the escape at text[index] stands for, or -1 when it is not a valid escape.
int escaped_byte(Bytes text, std::size_t index) noexcept {
  if (text.size() - index < 3) return -1;
  const int high = hex_value(text[index + 1]);
  const int low = hex_value(text[index + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool has_only_valid_escapes(Bytes text) noexcept {
  for (std::size_t at = text.find('%'); at != Bytes::npos; at = text.find('%', at + 3)) {
    if (escaped_byte(text, at) < 0) return false;
  }
  return true;
}

// ---- authority -------------------------------------------------------------------------------

// The size of a dec-octet (RFC 3986 §3.2.2), 0 to 255 without leading zeros, or 0.
std::size_t octet_size(Bytes text) noexcept {
  unsigned value = 0;
  std::size_t size = 0;
  while (size < text.size() && size < 3 && is(text[size], digit_character)) {
    value = value * 10 + static_cast<unsigned>(text[size] - '0');
    ++size;
  }
  const bool leading_zero = size > 1 && text.front() == '0';
  return leading_zero || value > 255 ? 0 : size;
}

bool is_ipv4(Bytes text) noexcept {
  for (unsigned octet = 0; octet < 4; ++octet) {
    if (octet > 0) {
      if (text.empty() || text.front() != '.') return false;
      text.remove_prefix(1);
    }
    const std::size_t size = octet_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return text.empty();
}

std::size_t hex_run(Bytes text, std::size_t from) noexcept {
  std::size_t end = from;
  while (end < text.size() && is(text[end], hex_character)) ++end;
  return end - from;
}

// Eight groups of 16 bits, or at most seven beside one "::"; an IPv4 address may be the last two.
bool is_ipv6(Bytes text) noexcept {
  bool gap = text.starts_with("::");
  std::size_t index = gap ? 2 : 0;
  unsigned groups = 0;
  const auto complete = [&gap](unsigned count) { return gap ? count <= 7 : count == 8; };
  while (index < text.size()) {
    const std::size_t digits = hex_run(text, index);
    const std::size_t end = index + digits;
    if (end < text.size() && text[end] == '.') {
      return is_ipv4(slice(text, index, text.size())) && complete(groups + 2);
    }
    if (digits == 0 || digits > 4) return false;
    ++groups;
    if (end == text.size()) return complete(groups);
    if (text[end] != ':') return false;
    index = end + 1;
    if (index == text.size()) return false;
    if (text[index] == ':') {
      if (gap) return false;
      gap = true;
      ++index;
    }
  }
  return complete(groups);
}

// IPvFuture: "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )
bool is_future_ip(Bytes text) noexcept {
  if (text.empty() || to_lower(text.front()) != 'v') return false;
  const std::size_t period = 1 + hex_run(text, 1);
  if (period == 1 || period + 1 >= text.size() || text[period] != '.') return false;
  const Bytes address = slice(text, period + 1, text.size());
  return std::ranges::all_of(
      address, [](char c) { return (is(c, host_character) && c != '%') || c == ':'; });
}

bool is_ip_literal(Bytes host) noexcept {
  if (host.size() < 2 || host.front() != '[' || host.back() != ']') return false;
  const Bytes address = slice(host, 1, host.size() - 1);
  return is_ipv6(address) || is_future_ip(address);
}

// A host with escapes or brackets. The function is out of line: is_host() then saves no registers.
[[gnu::noinline]] bool is_rare_host(Bytes host, unsigned seen) noexcept {
  return (seen & host_refused) != 0 ? is_ip_literal(host) : has_only_valid_escapes(host);
}

bool is_host(Bytes host) noexcept {
  const unsigned seen = classes_in(host);
  if ((seen & (host_refused | percent)) != 0) return is_rare_host(host, seen);
  return !host.empty();
}

// The size of the text in front of the last ":" and its digits. Searches from the end, where the
// port is: no valid host ends in a colon and digits.
std::size_t size_before_port(Bytes authority) noexcept {
  std::size_t digits = authority.size();
  while (digits > 0 && is(authority[digits - 1], digit_character)) --digits;
  return digits > 0 && authority[digits - 1] == ':' ? digits - 1 : authority.size();
}

constexpr unsigned port_max = 65535;

// REQUIRES: digits only. The number, or port_max + 1 for all above; 0 when there are no digits.
unsigned port_number(Bytes digits) noexcept {
  unsigned number = 0;
  for (const char c : digits) {
    number = number * 10 + static_cast<unsigned>(c - '0');
    if (number > port_max) return port_max + 1;
  }
  return number;
}

// host [":" port] with a host that is not empty; an http or https URI needs one.
bool names_a_host(Bytes authority) noexcept {
  const std::size_t host = size_before_port(authority);
  if (!is_host(slice(authority, 0, host))) return false;
  if (host == authority.size()) return true;
  return port_number(slice(authority, host + 1, authority.size())) <= port_max;
}

// ---- request-target --------------------------------------------------------------------------

std::optional<Target> split_authority_form(Bytes text) noexcept {
  const std::size_t host = size_before_port(text);
  if (host == text.size() || !is_host(slice(text, 0, host))) return std::nullopt;
  const Bytes digits = slice(text, host + 1, text.size());
  const unsigned port = port_number(digits);
  if (digits.size() > 5 || port == 0 || port > port_max) return std::nullopt;
  Target target;
  target.form = TargetForm::authority;
  target.authority = text;
  return target;
}

// scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ), RFC 3986 §3.1
bool is_scheme(Bytes text) noexcept {
  const auto is_alpha = [](char c) { return to_lower(c) >= 'a' && to_lower(c) <= 'z'; };
  if (text.empty() || !is_alpha(text.front())) return false;
  return std::ranges::all_of(text, [&](char c) {
    return is_alpha(c) || is(c, digit_character) || c == '+' || c == '-' || c == '.';
  });
}

std::optional<Target> split_absolute_form(Bytes text) noexcept {
  const std::size_t colon = text.find("://");
  if (colon == Bytes::npos) return std::nullopt;
  Target target;
  target.form = TargetForm::absolute;
  target.scheme = slice(text, 0, colon);
  if (!is_scheme(target.scheme)) return std::nullopt;

  const Bytes rest = slice(text, colon + 3, text.size());
  const std::size_t authority_end = std::min(rest.find_first_of("/?"), rest.size());
  target.authority = slice(rest, 0, authority_end);
  const bool is_http =
      equals_ignoring_case(target.scheme, "http") || equals_ignoring_case(target.scheme, "https");
  if (is_http && !names_a_host(target.authority)) return std::nullopt;

  const Target tail = detail::split_path_and_query(slice(rest, authority_end, rest.size()));
  // Without a path, a slash of "://" stands for it: every part then lies in the input, and moves
  // with it.
  target.path = tail.path.empty() ? slice(text, colon + 1, colon + 2) : tail.path;
  target.query = tail.query;
  target.has_query = tail.has_query;
  return target;
}

// ---- path ------------------------------------------------------------------------------------

bool is_dot_segment(Bytes segment) noexcept { return segment == "." || segment == ".."; }

// Whether the segment that begins with the dot at `at` is nothing but dots, one or two.
bool is_dot_segment_at(Bytes path, std::size_t at) noexcept {
  std::size_t end = at + 1;
  if (end < path.size() && path[end] == '.') ++end;
  return end == path.size() || path[end] == '/';
}

// REQUIRES: path begins with "/". Looks for dots, which are rarer than slashes.
bool has_dot_segment(Bytes path) noexcept {
  for (std::size_t at = 1; at < path.size(); ++at) {
    if (path[at] == '.' && path[at - 1] == '/' && is_dot_segment_at(path, at)) return true;
  }
  return false;
}

// Writes the form of an escaped `byte` in a normal path; returns its size.
std::size_t write_decoded(int byte, char* out) noexcept {
  if (byte != '/' && byte != '%') {
    *out = static_cast<char>(byte);
    return 1;
  }
  out[0] = '%';
  out[1] = '2';
  out[2] = byte == '/' ? 'F' : '5';
  return 3;
}

// Decodes one raw segment, all but its slashes and percent signs. Never writes ahead of the bytes
// that it has read: `out` may be at or before the segment itself.
std::optional<std::size_t> decode_raw_segment(Bytes segment, char* out) noexcept {
  std::size_t size = 0;
  for (std::size_t index = 0; index < segment.size(); ++index) {
    const unsigned seen = class_of(segment[index]);
    if ((seen & path_refused) != 0) return std::nullopt;
    if ((seen & percent) == 0) {
      out[size++] = segment[index];
      continue;
    }
    const int byte = escaped_byte(segment, index);
    if (byte <= 0) return std::nullopt;
    size += write_decoded(byte, out + size);
    index += 2;
  }
  return size;
}

// The size that is left when the last segment of `path`, and the "/" before it, is taken off.
std::size_t size_without_last_segment(Bytes path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == Bytes::npos ? 0 : slash;
}

}  // namespace

std::optional<Target> detail::split_rare_form(Bytes target, Method method) noexcept {
  if (method == Method::connect) return split_authority_form(target);
  if (target != "*") return split_absolute_form(target);
  if (method != Method::options) return std::nullopt;
  Target asterisk;
  asterisk.form = TargetForm::asterisk;
  return asterisk;
}

bool valid_authority(Bytes authority) noexcept {
  return authority.empty() || names_a_host(authority);
}

std::optional<Authority> split_authority(Bytes authority) noexcept {
  if (!valid_authority(authority)) return std::nullopt;
  const std::size_t end = size_before_port(authority);
  Authority parts;
  parts.host = slice(authority, 0, end);
  parts.bracketed = parts.host.starts_with('[');
  if (parts.bracketed) parts.host = slice(parts.host, 1, parts.host.size() - 1);
  if (end + 1 < authority.size()) {
    parts.port =
        static_cast<std::uint16_t>(port_number(slice(authority, end + 1, authority.size())));
  }
  return parts;
}

bool same_authority(Bytes left, Bytes right, Bytes scheme) noexcept {
  if (equals_ignoring_case(left, right)) return true;
  const std::size_t left_host = size_before_port(left);
  const std::size_t right_host = size_before_port(right);
  if (!equals_ignoring_case(slice(left, 0, left_host), slice(right, 0, right_host))) return false;
  const unsigned missing = equals_ignoring_case(scheme, "https")  ? 443
                           : equals_ignoring_case(scheme, "http") ? 80
                                                                  : port_max + 1;
  const auto port_of = [missing](Bytes authority, std::size_t host) {
    if (host + 1 >= authority.size()) return missing;
    return port_number(slice(authority, host + 1, authority.size()));
  };
  return port_of(left, left_host) == port_of(right, right_host);
}

bool is_normal_path(Bytes path) noexcept {
  if (path.empty() || path.front() != '/') return false;
  const unsigned seen = classes_in(path);
  if ((seen & (path_refused | percent)) != 0) return false;
  return (seen & path_dot) == 0 || !has_dot_segment(path);
}

// Each raw segment is decoded behind the part that is already normal. "." is then dropped, and ".."
// removes the segment before it. Either leaves a "/" behind when it was the last one.
std::optional<std::size_t> normalize_path(Bytes path, std::span<char> out) noexcept {
  if (path.empty() || path.front() != '/' || out.size() < path.size()) return std::nullopt;
  std::size_t size = 0;
  std::size_t slash = 0;
  while (slash < path.size()) {
    const std::size_t end = find_or_end(path, '/', slash + 1);
    const auto segment_size =
        decode_raw_segment(slice(path, slash + 1, end), out.data() + size + 1);
    if (!segment_size) return std::nullopt;
    const Bytes segment{out.data() + size + 1, *segment_size};
    const bool dots = is_dot_segment(segment);
    if (segment == "..") size = size_without_last_segment(Bytes{out.data(), size});
    if (!dots || end == path.size()) out[size++] = '/';
    if (!dots) size += *segment_size;
    slash = end;
  }
  return size;
}

std::optional<std::size_t> decode_segment(Bytes segment, std::span<char> out) noexcept {
  if (out.size() < segment.size()) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t index = 0; index < segment.size(); ++index) {
    out[size] = segment[index];
    if (segment[index] == '%') {
      const Bytes escape = slice(segment, index, std::min(index + 3, segment.size()));
      if (escape != "%2F" && escape != "%25") return std::nullopt;
      out[size] = escape == "%2F" ? '/' : '%';
      index += 2;
    }
    ++size;
  }
  return size;
}

bool QueryReader::next(Bytes& name, Bytes& value) noexcept {
  while (!rest_.empty()) {
    const std::size_t end = find_or_end(rest_, '&', 0);
    const Bytes pair = slice(rest_, 0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (pair.empty()) continue;
    const std::size_t equals = find_or_end(pair, '=', 0);
    name = slice(pair, 0, equals);
    value = slice(pair, std::min(equals + 1, pair.size()), pair.size());
    return true;
  }
  return false;
}

bool needs_form_decoding(Bytes text) noexcept {
  return std::ranges::any_of(text, [](char c) { return c == '+' || c == '%'; });
}

std::optional<std::size_t> decode_form(Bytes text, std::span<char> out) noexcept {
  if (out.size() < text.size()) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t index = 0; index < text.size(); ++index) {
    char c = text[index] == '+' ? ' ' : text[index];
    if (c == '%') {
      const int byte = escaped_byte(text, index);
      if (byte < 0) return std::nullopt;
      c = static_cast<char>(byte);
      index += 2;
    }
    out[size++] = c;
  }
  return size;
}

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
