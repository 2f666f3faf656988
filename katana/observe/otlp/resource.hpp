// Resource: what a process says about itself with everything that it exports: attributes of text.
//
//   Resource resource;
//   resource.set("service.name", "shop");
//   resource.read("deployment.environment.name=prod,team=a%20b");   // OTEL_RESOURCE_ATTRIBUTES
//
// Owns       its attributes.
// Thread     a value.
// Allocates  for each attribute.
// Fails      read() names what is no list of keys and values; nothing of it is taken then.
// Invariant  a key is there once: the last value holds.
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
  // "key=value,…", in percent-encoding, as W3C Baggage has it.
  Result<void> read(Bytes list);
  // Empty: there is none.
  Bytes find(Bytes key) const noexcept;
  const std::vector<std::pair<std::string, std::string>>& attributes() const noexcept {
    return attributes_;
  }

 private:
  std::vector<std::pair<std::string, std::string>> attributes_;
};

// The text that percent-encoding stands for; nothing: a '%' without two digits.
Result<std::string> percent_decoded(Bytes text);

}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
