// A rule is the first word of a line that is no comment: "co.uk", "*.ck" or "!www.ck". Both parts
// of the list, for registries and for companies, apply to cookies. Rules in other scripts are UTF-8
// in the list and Punycode (RFC 3492) in host names; the list has them normalised already.
#include "katana/http/client/public_suffixes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <vector>

#include "katana/base/text/utf8.hpp"

namespace katana::client {
namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Returns nothing if the text is not UTF-8.
std::vector<std::uint32_t> code_points_of(std::string_view text) {
  std::vector<std::uint32_t> points;
  if (!is_utf8(text)) return points;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      points.push_back(byte);
    } else if (byte >= 0xc0) {
      points.push_back(byte & (byte >= 0xf0 ? 0x07u : byte >= 0xe0 ? 0x0fu : 0x1fu));
    } else {
      points.back() = points.back() << 6 | (byte & 0x3fu);
    }
  }
  return points;
}

// RFC 3492 §5 and §6: base 36, thresholds from 1 to 26.
constexpr std::uint32_t punycode_base = 36, digit_min = 1, digit_max = 26;

std::uint32_t adapt(std::uint32_t delta, std::uint32_t count, bool first) {
  delta = first ? delta / 700 : delta / 2;
  delta += delta / count;
  std::uint32_t steps = 0;
  for (; delta > (punycode_base - digit_min) * digit_max / 2; steps += punycode_base)
    delta /= punycode_base - digit_min;
  return steps + (punycode_base - digit_min + 1) * delta / (delta + 38);
}

void append_number(std::string& to, std::uint32_t number, std::uint32_t bias) {
  const auto digit = [](std::uint32_t value) {
    return static_cast<char>(value < 26 ? 'a' + value : '0' + (value - 26));
  };
  for (std::uint32_t step = punycode_base;; step += punycode_base) {
    const std::uint32_t threshold =
        step <= bias ? digit_min : std::clamp(step - bias, digit_min, digit_max);
    if (number < threshold) break;
    to += digit(threshold + (number - threshold) % (punycode_base - threshold));
    number = (number - threshold) / (punycode_base - threshold);
  }
  to += digit(number);
}

// Returns nothing if the label is not UTF-8, or too long.
std::string punycode_of(std::string_view label) {
  constexpr std::size_t label_bytes_max = 63;
  if (is_ascii(label)) return std::string(label);
  const auto points = code_points_of(label);
  if (points.empty() || points.size() > label_bytes_max) return {};
  std::string made = "xn--";
  for (const std::uint32_t point : points) {
    if (point < 0x80) made += static_cast<char>(point);
  }
  auto done = static_cast<std::uint32_t>(made.size() - 4);
  if (done != 0) made += '-';
  std::uint32_t next = 0x80, delta = 0, bias = 72;
  for (bool first = true; done < points.size(); ++delta, ++next) {
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    for (const std::uint32_t point : points) {
      if (point >= next) least = std::min(least, point);
    }
    delta += (least - next) * (done + 1);
    next = least;
    for (const std::uint32_t point : points) {
      if (point < next) ++delta;
      if (point != next) continue;
      append_number(made, delta, bias);
      bias = adapt(delta, ++done, std::exchange(first, false));
      delta = 0;
    }
  }
  return made;
}

std::string host_form_of(std::string_view rule) {
  std::string made;
  while (true) {
    const std::size_t dot = rule.find('.');
    const std::string label = punycode_of(rule.substr(0, dot));
    if (label.empty()) return {};
    made += label;
    if (dot == std::string_view::npos) return made;
    made += '.';
    rule.remove_prefix(dot + 1);
  }
}

}  // namespace

PublicSuffixes PublicSuffixes::parse(Bytes text) {
  PublicSuffixes made;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Bytes rule = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    rule = rule.substr(0, rule.find_first_of(" \t\r"));
    if (rule.starts_with("//")) continue;
    Rule kind = Rule::plain;
    if (rule.starts_with('!')) {
      kind = Rule::exception;
      rule.remove_prefix(1);
    } else if (rule.starts_with("*.")) {
      kind = Rule::wildcard;
      rule.remove_prefix(2);
    }
    const std::string name = host_form_of(rule);
    if (name.empty()) continue;
    // A name may have a rule and a wildcard below it; the wildcard implies both.
    Rule& kept = made.rules_.try_emplace(name, kind).first->second;
    if (kind == Rule::wildcard) kept = kind;
  }
  return made;
}

Result<PublicSuffixes> PublicSuffixes::read(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  if (!stream.is_open() || stream.bad()) {
    return fail(Code::not_found,
                fmt::format("public suffix list {:?} cannot be read: {}; install the package "
                            "publicsuffix, or name another file",
                            file, std::strerror(errno)));
  }
  PublicSuffixes made = parse(text);
  if (made.known()) return made;
  return fail(Code::invalid_argument,
              fmt::format("{:?} has no rule of a public suffix list", file));
}

std::shared_ptr<const PublicSuffixes> PublicSuffixes::system() {
  static const auto kept = [] {
    auto read = PublicSuffixes::read(system_file);
    return std::make_shared<const PublicSuffixes>(read ? *std::move(read) : PublicSuffixes());
  }();
  return kept;
}

bool PublicSuffixes::contains(std::string_view domain) const {
  if (domain.ends_with('.')) domain.remove_suffix(1);
  const std::size_t dot = domain.find('.');
  if (dot == std::string_view::npos) return true;
  if (const auto found = rules_.find(domain); found != rules_.end()) {
    // The domain of an exception is above the suffixes: a cookie for it would reach all of them.
    return found->second != Rule::exception;
  }
  const auto above = rules_.find(domain.substr(dot + 1));
  return above != rules_.end() && above->second == Rule::wildcard;
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
