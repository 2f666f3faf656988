#include "katana/data/container/message_pack_read.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "katana/base/text/utf8.hpp"

namespace katana::container::detail {
namespace {

// The number of bytes behind a tag of a fixed size, and whether they are a signed integer.
struct Width {
  std::uint8_t bytes;
  bool is_signed;
};
constexpr std::optional<Width> integer_width(std::uint8_t tag) noexcept {
  if (tag < 0x80 || tag >= 0xe0) return Width{0, tag >= 0xe0};
  if (tag >= 0xcc && tag <= 0xcf) return Width{static_cast<std::uint8_t>(1 << (tag - 0xcc)), false};
  if (tag >= 0xd0 && tag <= 0xd3) return Width{static_cast<std::uint8_t>(1 << (tag - 0xd0)), true};
  return std::nullopt;
}

// Reads a number, the highest byte first, and extends its sign if it has one.
std::uint64_t number_at(const char* at, Width width) noexcept {
  std::uint64_t bits = 0;
  for (std::uint8_t index = 0; index < width.bytes; ++index) {
    bits = bits << 8 | static_cast<std::uint8_t>(at[index]);
  }
  const unsigned unused = 64u - 8u * width.bytes;
  if (!width.is_signed || unused == 64) return bits;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
}

// The size of the length behind a tag of text or bytes; nothing for other tags.
constexpr std::optional<std::uint8_t> length_bytes(std::uint8_t tag, Kind wanted) noexcept {
  if (wanted == Kind::text) {
    if (tag >= 0xa0 && tag <= 0xbf) return 0;
    if (tag >= 0xd9 && tag <= 0xdb) return static_cast<std::uint8_t>(1 << (tag - 0xd9));
  } else if (tag >= 0xc4 && tag <= 0xc6) {
    return static_cast<std::uint8_t>(1 << (tag - 0xc4));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> PackSource::offset(const void* self) noexcept {
  const auto* const source = static_cast<const PackSource*>(self);
  return static_cast<std::size_t>(source->at_ - source->begin_);
}

bool PackSource::is_allowed() {
  if (left() <= reading_.options().bytes_max) return true;
  malformed(fmt::format("more than {} bytes", reading_.options().bytes_max));
  return false;
}

bool PackSource::close() {
  if (left() == 0) return true;
  malformed("something follows the value");
  return false;
}

bool PackKey::text(std::string& to) {
  to.assign(name_);
  if (is_utf8(name_)) return true;
  source_.malformed("a name that is not UTF-8");
  return false;
}

std::optional<Kind> PackNode::kind() {
  if (source_.left() == 0) return std::nullopt;
  const std::uint8_t tag = source_.tag();
  if (integer_width(tag)) return Kind::integer;
  if (length_bytes(tag, Kind::text)) return Kind::text;
  if (length_bytes(tag, Kind::octets)) return Kind::octets;
  if (tag <= 0x8f || tag == 0xde || tag == 0xdf) return Kind::object;
  if (tag <= 0x9f || tag == 0xdc || tag == 0xdd) return Kind::list;
  if (tag == 0xc0) return Kind::null;
  if (tag == 0xc2 || tag == 0xc3) return Kind::boolean;
  if (tag == 0xca || tag == 0xcb) return Kind::real;
  return std::nullopt;  // an extension, or the tag that is never used
}

std::string PackNode::shown() {
  Number number{};
  if (kind() == Kind::integer && peek_integer(number) == Taken::good) {
    return number.is_negative ? fmt::format("{}", static_cast<std::int64_t>(number.bits))
                              : fmt::format("{}", number.bits);
  }
  return {};
}

Taken PackNode::peek_integer(Number& number) {
  if (source_.left() == 0) return source_.ends();
  const std::uint8_t tag = source_.tag();
  const std::optional<Width> width = integer_width(tag);
  if (!width) return Taken::mismatch;
  if (source_.left() < 1u + width->bytes) return source_.ends();
  number.size = static_cast<std::uint8_t>(1 + width->bytes);
  number.bits = width->bytes != 0  ? number_at(source_.at() + 1, *width)
                : width->is_signed ? static_cast<std::uint64_t>(std::int64_t{tag} - 0x100)
                                   : tag;
  number.is_negative = width->is_signed && static_cast<std::int64_t>(number.bits) < 0;
  return Taken::good;
}

Taken PackNode::take_integer(std::int64_t& to) {
  Number number{};
  if (const Taken taken = peek_integer(number); taken != Taken::good) return taken;
  if (!number.is_negative && number.bits > INT64_MAX) return Taken::out_of_range;
  to = static_cast<std::int64_t>(number.bits);
  source_.advance(number.size);
  return Taken::good;
}

Taken PackNode::take_natural(std::uint64_t& to) {
  Number number{};
  if (const Taken taken = peek_integer(number); taken != Taken::good) return taken;
  if (number.is_negative) return Taken::out_of_range;
  to = number.bits;
  source_.advance(number.size);
  return Taken::good;
}

Taken PackNode::take(double& to) {
  Number number{};
  const Taken taken = peek_integer(number);
  if (taken == Taken::good) {
    to = number.is_negative ? static_cast<double>(static_cast<std::int64_t>(number.bits))
                            : static_cast<double>(number.bits);
    source_.advance(number.size);
    return taken;
  }
  if (taken != Taken::mismatch || kind() != Kind::real) return taken;
  const bool is_double = source_.tag() == 0xcb;
  const std::size_t size = is_double ? 9 : 5;
  if (source_.left() < size) return source_.ends();
  const char* const at = source_.at() + 1;
  to = is_double ? std::bit_cast<double>(to_big(get_raw<std::uint64_t>(at)))
                 : std::bit_cast<float>(to_big(get_raw<std::uint32_t>(at)));
  source_.advance(size);
  return Taken::good;
}

Taken PackNode::take(bool& to) {
  if (source_.left() == 0) return source_.ends();
  if (kind() != Kind::boolean) return Taken::mismatch;
  to = source_.tag() == 0xc3;
  source_.advance(1);
  return Taken::good;
}

bool PackNode::take_null() {
  if (is_null()) source_.advance(1);
  return true;
}

Taken PackNode::take_run(Bytes& run, Kind wanted) {
  if (source_.left() == 0) return source_.ends();
  const std::uint8_t tag = source_.tag();
  const std::optional<std::uint8_t> width = length_bytes(tag, wanted);
  if (!width) return kind() ? Taken::mismatch : source_.malformed("an extension type");
  if (source_.left() < 1u + *width) return source_.ends();
  const std::uint64_t length =
      *width == 0 ? tag & 0x1fu : number_at(source_.at() + 1, {*width, false});
  if (source_.left() - 1 - *width < length) return source_.ends();
  run = Bytes(source_.at() + 1 + *width, length);
  source_.advance(1 + *width + length);
  return Taken::good;
}

Taken PackNode::take(std::string& to) {
  Bytes run;
  if (const Taken taken = take_run(run, Kind::text); taken != Taken::good) return taken;
  if (!is_utf8(run)) return source_.malformed("text that is not UTF-8");
  to.assign(run);
  return Taken::good;
}

Taken PackNode::take(Octets& to) {
  Bytes run;
  if (const Taken taken = take_run(run, Kind::octets); taken != Taken::good) return taken;
  const auto* const begin = reinterpret_cast<const std::byte*>(run.data());
  to.assign(begin, begin + run.size());
  return Taken::good;
}

Taken PackNode::take_count(std::uint8_t fixed, std::uint8_t tag16, std::uint32_t& count) {
  if (source_.left() == 0) return source_.ends();
  const std::uint8_t tag = source_.tag();
  if ((tag & 0xf0) == fixed) {
    count = tag & 0xfu;
    source_.advance(1);
    return Taken::good;
  }
  if (tag != tag16 && tag != tag16 + 1) {
    return kind() ? Taken::mismatch : source_.malformed("an extension type");
  }
  const std::uint8_t bytes = tag == tag16 ? 2 : 4;
  if (source_.left() < 1u + bytes) return source_.ends();
  count = static_cast<std::uint32_t>(number_at(source_.at() + 1, {bytes, false}));
  source_.advance(1u + bytes);
  return Taken::good;
}

// Visits the members. REQUIRES that kind() is that of an object.
Looked PackNode::look(MemberVisitor& visitor) {
  Looked looked{.is_malformed = true};
  const char* const begin = source_.at();
  std::uint32_t count = 0;
  if (take_count(0x80, 0xde, count) != Taken::good) return looked;
  if (!source_.reading().enter()) return source_.reading().too_deep(), looked;
  std::string text;
  for (; count > 0; --count) {
    Bytes name;
    if (const Taken taken = take_run(name, Kind::text); taken != Taken::good) {
      if (taken == Taken::mismatch) source_.malformed("a key that is no string");
      return looked;
    }
    const std::optional<Kind> found = kind();
    text.clear();
    const bool is_text = found == Kind::text;
    if (is_text && take(text) != Taken::good) return looked;
    if (!visitor.visit(name, found ? kinds_of(*found) : Kinds{0}, text)) break;
    if (!is_text && !skip()) return looked;
  }
  source_.reading().leave();
  source_.go_back(begin);
  looked.is_malformed = false;
  return looked;
}

bool PackNode::skip() {
  const std::optional<Kind> found = kind();
  if (!found) {
    if (source_.left() == 0) {
      source_.ends();
    } else {
      source_.malformed("an extension type, or the tag that is never used");
    }
    return false;
  }
  Bytes run;
  std::string name;
  double real = 0;
  switch (*found) {
    case Kind::null:
    case Kind::boolean: source_.advance(1); return true;
    case Kind::integer:
    case Kind::natural:
    case Kind::real: return take(real) == Taken::good;
    case Kind::text: return take(name) == Taken::good;
    case Kind::octets: return take_run(run, Kind::octets) == Taken::good;
    case Kind::list: return each_item([](PackNode& node) { return node.skip(); }) == Taken::good;
    case Kind::object: break;
  }
  return each_field([&name](PackKey& key, PackNode& node) {
           return key.text(name) && node.skip();
         }) == Taken::good;
}

}  // namespace katana::container::detail

// SPDX-License-Identifier: Apache-2.0
