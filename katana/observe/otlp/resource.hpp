// Resource: the attributes, as text, that a process sends with everything that it exports.
//
//   Resource resource;
//   resource.set("service.name", "shop");
//   resource.read("deployment.environment.name=prod,team=a%20b");   // OTEL_RESOURCE_ATTRIBUTES
//
// Owns       its attributes.
// Thread     a value.
// Allocates  for each attribute.
// Fails      read() names a text that is not a list of keys and values, and takes nothing of it.
// Invariant  a key is unique: the last value counts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::otlp {

class Resource {
 public:
  // An empty value removes it.
  void set(Bytes key, Bytes value);
  // Reads "key=value,…", in percent-encoding, as in W3C Baggage.
  Result<void> read(Bytes list);
  // Empty: there is no such attribute.
  Bytes find(Bytes key) const noexcept;
  const std::vector<std::pair<std::string, std::string>>& attributes() const noexcept {
    return attributes_;
  }

 private:
  std::vector<std::pair<std::string, std::string>> attributes_;
};

// Decodes percent-encoding; an Error: a '%' without two digits.
Result<std::string> percent_decoded(Bytes text);

}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
