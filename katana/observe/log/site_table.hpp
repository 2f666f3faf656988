// SiteTable: the Site of each call site that the writer has met, found by the addresses in a
// record.
//
// Owns       the sites, for its lifetime; their addresses stay valid.
// Borrows    the texts of the program, and the loggers.
// Thread     the writer's.
// Allocates  for a site that it meets for the first time.
// Fails      never.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "katana/observe/log/entry.hpp"
#include "katana/observe/log/record.hpp"

namespace katana::log {

class SiteTable {
 public:
  SiteTable();
  // `names` is the block of addresses behind the head.
  const Site& site(const RecordHead& head, Bytes names);
  std::size_t size() const noexcept { return sites_.size(); }

 private:
  struct Known {
    const char* pattern;
    const Shape* shape;
    std::uintptr_t where;
    const LoggerState* logger;
    Level level;
    std::vector<Bytes> names;
    std::vector<char> name_block;
    Site site;
    bool matches(const RecordHead& head, Bytes block) const noexcept;
  };
  const Site& add(const RecordHead& head, Bytes names, std::size_t at);
  void grow();

  std::vector<std::unique_ptr<Known>> sites_;  // by id
  std::vector<Known*> table_;                  // open addressing, a power of two, at most half full
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
