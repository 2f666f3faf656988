#include "katana/testing/disk/disk_options.hpp"

#include <array>

namespace katana::testing {
namespace {

constexpr std::array<std::string_view, disk_point_count> point_names = {
    "open",        "create",       "read",          "write",       "truncate",    "sync",
    "folder_sync", "remove",       "power_failure", "process_end", "page_kept",   "page_lost",
    "page_torn",   "page_rotten",  "size_lost",     "name_lost",   "sync_failed", "pages_dropped",
    "read_failed", "write_failed", "full",          "dead_call"};

}  // namespace

std::string_view name_of(DiskPoint point) noexcept {
  return point_names[static_cast<std::size_t>(point)];
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
