#include "katana/data/container/binary_read.hpp"

#include <fmt/format.h>

#include "katana/base/text/utf8.hpp"

namespace katana::container::detail {

std::optional<std::size_t> BinaryReader::offset(const void* self) noexcept {
  const auto* const reader = static_cast<const BinaryReader*>(self);
  return reader->octets_.size() - reader->left_.size();
}

bool BinaryReader::take_head(std::uint32_t fingerprint) {
  if (octets_.size() > reading_.options().bytes_max) {
    return malformed(fmt::format("more than {} bytes", reading_.options().bytes_max));
  }
  if (!left_.starts_with(binary_magic) || left_.size() < binary_head_bytes) {
    return malformed("it does not begin with KTB1 and a fingerprint");
  }
  const auto found = to_little(get_raw<std::uint32_t>(left_.data() + binary_magic.size()));
  if (found != fingerprint) {
    return malformed(fmt::format(
        "it was written from another description (fingerprint {:08x}, this program has {:08x})",
        found, fingerprint));
  }
  left_.remove_prefix(binary_head_bytes);
  return true;
}

bool BinaryReader::take_varint(std::uint64_t& number) {
  number = 0;
  for (unsigned shift = 0; shift < 7 * varint_bytes_max; shift += 7) {
    if (left_.empty()) return malformed("it ends within a value");
    const auto octet = static_cast<std::uint8_t>(left_.front());
    left_.remove_prefix(1);
    // The tenth byte has one bit of 64. A number has only one form, without leading zeros.
    if (shift == 63 && octet > 1) return malformed("an integer of more than 64 bits");
    if (octet == 0 && shift != 0) return malformed("an integer that is longer than it need be");
    number |= std::uint64_t{octet & 0x7fu} << shift;
    if (octet < 0x80) return true;
  }
  return malformed("an integer of more than 64 bits");
}

bool BinaryReader::take_flag(bool& flag) {
  if (left_.empty()) return malformed("it ends within a value");
  const char octet = left_.front();
  if (octet != 0 && octet != 1) return malformed("a flag that is neither 0 nor 1");
  flag = octet == 1;
  left_.remove_prefix(1);
  return true;
}

bool BinaryReader::take_count(std::uint64_t& count) {
  if (!take_varint(count)) return false;
  return count <= left_.size() || malformed("it ends within a value");
}

bool BinaryReader::take_run(Bytes& run) {
  std::uint64_t size = 0;
  if (!take_count(size)) return false;
  run = left_.substr(0, size);
  left_.remove_prefix(size);
  return true;
}

bool BinaryReader::take_text(std::string& text) {
  Bytes run;
  if (!take_run(run)) return false;
  if (!is_utf8(run)) return malformed("text that is not UTF-8");
  text.assign(run);
  return true;
}

bool BinaryReader::take_octets(Octets& octets) {
  Bytes run;
  if (!take_run(run)) return false;
  const auto* const begin = reinterpret_cast<const std::byte*>(run.data());
  octets.assign(begin, begin + run.size());
  return true;
}

bool BinaryReader::take_list(Value& value) {
  List list;
  if (!take_items(list)) return false;
  value = std::move(list);
  return true;
}

bool BinaryReader::take_object(Value& value) {
  std::uint64_t count = 0;
  if (!take_count(count)) return false;
  if (!reading_.enter()) return reading_.too_deep() == Outcome::good;
  Object object;
  for (; count > 0; --count) {
    std::string name;
    Value content;
    if (!take_text(name) || !take_value(content)) return false;
    object.add(std::move(name), std::move(content));
  }
  reading_.leave();
  if (object.has_duplicates()) return malformed("a name is there twice");
  value = std::move(object);
  return true;
}

bool BinaryReader::take_value(Value& value) {
  if (left_.empty()) return malformed("it ends within a value");
  const auto tag = static_cast<BinaryTag>(left_.front());
  left_.remove_prefix(1);
  const auto take_as = [&]<class T>(T content) {
    if (!take(content)) return false;
    value = Value(std::move(content));
    return true;
  };
  switch (tag) {
    case BinaryTag::null: value = Value(); return true;
    case BinaryTag::no: value = Value(false); return true;
    case BinaryTag::yes: value = Value(true); return true;
    case BinaryTag::integer: return take_as(std::int64_t{});
    case BinaryTag::natural: return take_as(std::uint64_t{});
    case BinaryTag::real: return take_as(double{});
    case BinaryTag::text: return take_as(std::string());
    case BinaryTag::octets: return take_as(Octets());
    case BinaryTag::list: return take_list(value);
    case BinaryTag::object: return take_object(value);
  }
  return malformed("a tag that there is not");
}

}  // namespace katana::container::detail

// SPDX-License-Identifier: Apache-2.0
