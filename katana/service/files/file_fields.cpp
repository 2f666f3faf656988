#include "katana/service/files/file_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "katana/base/instant.hpp"
#include "katana/wire/http/date.hpp"

namespace katana {
namespace {

// A file that was changed so recently may change again without a new date, because file systems
// count time in steps, of two seconds at most (RFC 9110 §8.8.1).
constexpr std::int64_t stable_s = 2;

bool is_settled(const FileIdentity& identity, std::int64_t wall_clock_s) noexcept {
  const Duration latest = nanoseconds(std::max(identity.modified_ns, identity.changed_ns));
  return latest.ns / seconds(1).ns + stable_s < wall_clock_s;
}

}  // namespace

void describe_file(OpenFile& file, const FileDescription& description, std::int64_t wall_clock_s) {
  const bool is_plain = description.coding == http::Coding::identity;
  file.is_strong = is_settled(file.identity, wall_clock_s);
  file.entity_tag = fmt::format("{}\"{:x}-{:x}{}{}\"", file.is_strong ? "" : "W/",
                                file.identity.modified_ns, file.identity.size, is_plain ? "" : "-",
                                is_plain ? "" : http::coding_name(description.coding));
  file.content_type = description.content_type;
  std::array<char, http::date_bytes> date;
  http::format_date(file.modified_s(), date);
  file.fields = fmt::format("ETag: {}\r\nLast-Modified: {}\r\n", file.entity_tag,
                            std::string_view(date.data(), date.size()));
  if (!description.cache_control.empty()) {
    file.fields += fmt::format("Cache-Control: {}\r\n", description.cache_control);
  }
  if (description.varies) file.fields += "Vary: Accept-Encoding\r\n";
  // What is not what its type says is not to be taken for something that runs.
  file.content_fields = "Accept-Ranges: bytes\r\nX-Content-Type-Options: nosniff\r\n";
  if (!is_plain) {
    file.content_fields +=
        fmt::format("Content-Encoding: {}\r\n", http::coding_name(description.coding));
  }
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
