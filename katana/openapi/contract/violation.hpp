// Violation: a departure of a request or a reply from the description of its operation.
//
// Owns       its words.
// Thread     a value.
// Allocates  only for violations.
// Fails      never; beyond the limit violations are counted, not kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/data/container/findings.hpp"

namespace katana::openapi {

// The part of a message that is wrong.
enum class Part : std::uint8_t {
  operation,     // the document has none for this path and method
  path,          // a parameter of it
  query,         // a parameter of it
  header,        // of the request or of the reply
  cookie,        // a parameter of it
  content_type,  // a media type that the operation does not have
  content,       // the body
  status         // of the reply
};

struct Violation {
  Part part;            // of a reply: header, content_type, content or status
  std::string name;     // of the parameter or header field; of the rest empty
  std::string pointer;  // into the content or the value of the parameter (RFC 6901)
  std::string words;    // "must be at least 1"
  // "query parameter 'limit': must be at least 1", "content /items/3: is missing"
  std::string describe() const;
};

// The faults of one message; checks add to them.
class Violations {
 public:
  explicit Violations(std::size_t count_max = 16) noexcept : count_max_(count_max) {}

  bool empty() const noexcept { return list_.empty() && left_out_ == 0; }
  // In the order in which the checks found them.
  const std::vector<Violation>& list() const noexcept { return list_; }
  // How many are not in list(), which was full.
  std::size_t left_out() const noexcept { return left_out_; }
  // The content is not of its media type at all, as text that is no JSON.
  bool malformed() const noexcept { return malformed_; }
  // One a line.
  std::string describe() const;

  // Copies the name. The first `count_max` are kept.
  void add(Part part, Bytes name, std::string pointer, std::string words);
  // Those of a schema, one violation each; of Part::content they decide malformed(), too.
  void add_findings(Part part, Bytes name, const container::Findings& findings);

 private:
  std::size_t count_max_;
  std::size_t left_out_ = 0;
  bool malformed_ = false;
  std::vector<Violation> list_;
};

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
