#include "katana/http/files/file_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "katana/base/values/instant.hpp"
#include "katana/base/values/keyed_hash.hpp"
#include "katana/wire/http/date.hpp"

namespace katana {
namespace {

// A file that was changed this recently may change again without a new date. File systems count
// time in steps of at most two seconds (RFC 9110 §8.8.1).
constexpr std::int64_t stable_s = 2;

bool is_settled(const FileIdentity& identity, std::int64_t wall_clock_s) noexcept {
  const Duration latest = nanoseconds(std::max(identity.modified_ns, identity.changed_ns));
  return latest.ns / seconds(1).ns + stable_s < wall_clock_s;
}

// The date was set and not written: one write would give both times the same value.
bool is_date_set(const FileIdentity& identity) noexcept {
  return std::abs(identity.changed_ns - identity.modified_ns) > seconds(stable_s).ns;
}

constexpr std::uint64_t hashed_bytes_max = 1024 * 1024;  // 0.7 ms of a reactor, once a file

// The keys are fixed, to give the same tags on all hosts. Returns nothing if the file cannot be
// read.
std::string digest_of(OpenFile& file) {
  std::string content(file.identity.size, '\0');
  if (!file.part(0, content.size()).read_all(content)) return {};
  return fmt::format("{:016x}{:016x}",
                     KeyedHash(0x6b61'7461'6e61'0001, 0x656e'7469'7479'0001).of(content),
                     KeyedHash(0x6b61'7461'6e61'0002, 0x656e'7469'7479'0002).of(content));
}

// The text between the quotes of the entity tag, without the coding.
std::string mark_of(OpenFile& file, bool hashes) {
  const FileIdentity& identity = file.identity;
  std::string dated = fmt::format("{:x}-{:x}", identity.modified_ns, identity.size);
  if (!is_date_set(identity)) return dated;
  if (hashes && identity.size <= hashed_bytes_max) {
    if (!file.content_settled) file.content_mark = digest_of(file);
    file.content_settled = file.is_strong;
    if (!file.content_mark.empty()) return file.content_mark;
  }
  return dated + fmt::format("-{:x}", identity.changed_ns);
}

}  // namespace

void describe_file(OpenFile& file, const FileDescription& description, std::int64_t wall_clock_s) {
  const bool is_plain = description.coding == http::Coding::identity;
  file.described_s = wall_clock_s;
  file.is_strong = is_settled(file.identity, wall_clock_s);
  file.is_date_strong = file.is_strong && !is_date_set(file.identity);
  file.entity_tag =
      fmt::format("{}\"{}{}{}\"", file.is_strong ? "" : "W/", mark_of(file, description.hashes),
                  is_plain ? "" : "-", is_plain ? "" : http::coding_name(description.coding));
  file.content_type = description.content_type;
  file.fields = fmt::format("ETag: {}\r\n", file.entity_tag);
  if (const auto modified_s = file.told_modified_s()) {
    std::array<char, http::date_bytes> date;
    http::format_date(*modified_s, date);
    file.fields += fmt::format("Last-Modified: {}\r\n", std::string_view(date.data(), date.size()));
  }
  if (!description.cache_control.empty()) {
    file.fields += fmt::format("Cache-Control: {}\r\n", description.cache_control);
  }
  if (description.varies) file.fields += "Vary: Accept-Encoding\r\n";
  // A file whose content does not match its type must not be taken for a script.
  file.content_fields = "Accept-Ranges: bytes\r\nX-Content-Type-Options: nosniff\r\n";
  if (!is_plain) {
    file.content_fields +=
        fmt::format("Content-Encoding: {}\r\n", http::coding_name(description.coding));
  }
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
