// Data: JSON objects that are stored as they come.
//
// Owns       nothing.
// Borrows    the database, which outlives it.
// Thread     any: its calls are coroutines of the reactor that makes them.
// Allocates  as the database and JSON do.
// Fails      every call gives a reply: a problem document where something is wrong.
// Invariant  a document that was acknowledged is on the disk, and reads back byte by byte.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "katana/base.hpp"
#include "katana/database.hpp"
#include "katana/http.hpp"

namespace katana::openapi {
class Routes;
}

namespace katana::fullstack {

// A JSON object of any shape: it is checked to be JSON, and kept as it was sent.
struct DataDocument {};
constexpr auto katana_describe(const DataDocument*) {
  return rules::describe(rules::ignore_unknown);
}

struct StoredDocument {
  std::int64_t id = 0;
  std::int64_t bytes = 0;
  std::chrono::sys_seconds created_at;
};
KATANA_DESCRIBE(StoredDocument, (id, at_least(1)),
                (bytes, at_least(2), help("Size of the stored document, in bytes.")), created_at)

class Data {
 public:
  explicit Data(database::Database& database) noexcept : database_(database) {}

  // Adds and describes POST {base}/data and GET {base}/data/{id}.
  void add_to(openapi::Routes& routes, const std::string& base);

 private:
  using Answer = Task<Result<Reply>>;
  Answer add(std::string base, std::string document);
  Answer get(std::int64_t id);

  database::Database& database_;
};

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
