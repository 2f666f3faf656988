#include "katana/stores/cache/envelope.hpp"

#include "katana/base/system/check.hpp"

namespace katana::cache::detail {
namespace {

constexpr Bytes magic = "KC2";
constexpr std::size_t until_bytes = 8;
constexpr std::size_t size_bytes = 4;
constexpr std::size_t head_bytes = magic.size() + 1 + until_bytes + size_bytes;

void put_number(std::string& to, std::uint64_t number, std::size_t octets) {
  for (std::size_t index = 0; index < octets; ++index) {
    to.push_back(static_cast<char>(number >> (8 * index)));
  }
}

std::uint64_t number_of(Bytes octets) noexcept {
  std::uint64_t number = 0;
  for (std::size_t index = octets.size(); index-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(octets[index]);
  }
  return number;
}

std::int64_t milliseconds_since_1970(Timestamp time) noexcept {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

// Reads the tags at the begin of `octets`, and removes them from it. False: they are cut off, or
// too many.
bool read_tags(Bytes& octets, std::vector<std::string>& tags) {
  if (octets.empty()) return false;
  const std::size_t count = number_of(octets.substr(0, 1));
  octets.remove_prefix(1);
  if (count > tags_max) return false;
  for (std::size_t index = 0; index < count; ++index) {
    if (octets.empty()) return false;
    const std::size_t size = number_of(octets.substr(0, 1));
    octets.remove_prefix(1);
    if (size > tag_bytes_max || size > octets.size()) return false;
    tags.emplace_back(octets.substr(0, size));
    octets.remove_prefix(size);
  }
  return true;
}

}  // namespace

std::string seal(Bytes key, const std::vector<std::string>& tags, const std::string* value,
                 Timestamp until) {
  KATANA_REQUIRE(tags.size() <= tags_max);
  std::string octets;
  octets.reserve(head_bytes + key.size() + (value != nullptr ? value->size() : 0));
  octets += magic;
  octets += value != nullptr ? 'v' : 'n';
  put_number(octets, static_cast<std::uint64_t>(milliseconds_since_1970(until)), until_bytes);
  put_number(octets, key.size(), size_bytes);
  octets += key;
  put_number(octets, tags.size(), 1);
  for (const std::string& tag : tags) {
    KATANA_REQUIRE(tag.size() <= tag_bytes_max);
    put_number(octets, tag.size(), 1);
    octets += tag;
  }
  if (value != nullptr) octets += *value;
  return octets;
}

std::optional<Opened> open(Bytes octets, Bytes key, Timestamp now) {
  if (octets.size() < head_bytes + key.size() || !octets.starts_with(magic)) return {};
  const char kind = octets[magic.size()];
  octets.remove_prefix(magic.size() + 1);
  const auto until = static_cast<std::int64_t>(number_of(octets.substr(0, until_bytes)));
  octets.remove_prefix(until_bytes);
  const std::uint64_t key_bytes = number_of(octets.substr(0, size_bytes));
  octets.remove_prefix(size_bytes);
  if (key_bytes != key.size() || !octets.starts_with(key)) return {};
  octets.remove_prefix(key.size());
  const std::int64_t now_ms = milliseconds_since_1970(now);
  if (until <= now_ms) return {};
  // No entry is kept for longer than ten years.
  constexpr std::int64_t left_ms_max = std::int64_t{3650} * 24 * 3600 * 1000;
  Opened opened;
  if (!read_tags(octets, opened.tags)) return {};
  opened.left = milliseconds(until - now_ms < left_ms_max ? until - now_ms : left_ms_max);
  opened.value = octets;
  opened.absent = kind == 'n';
  const bool is_known = kind == 'v' || (kind == 'n' && octets.empty());
  return is_known ? std::optional(opened) : std::nullopt;
}

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
