// Change: one of those between two OpenAPI descriptions.
//
// Owns       its words.
// Thread     a value.
// Allocates  its words.
// Fails      never.
#pragma once

#include <cstdint>
#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::openapi {

// The level of a change; diff.hpp has the meanings. `katana openapi diff` treats each as follows.
enum class Level : std::uint8_t {
  info,      // shown with --all alone
  warning,   // status 1 with --fail-on warning
  breaking,  // status 1
};
// The word for it in describe(): "breaking".
Bytes level_name(Level level) noexcept;

struct Change {
  std::string rule;       // "new-required-request-property"
  Level level;            // by the rule and, of data, its direction
  std::string operation;  // "GET /items/{id}"; empty: of the whole description
  std::string words;      // "content application/json /count: the type changed from …"
  // "api.yaml:12:7: #/components/schemas/Item", in the new description; in the old one if the part
  // was removed.
  std::string place;
  // "breaking: GET /items/{id}: rule: words [place]"
  std::string describe() const;
};

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
