// Fields: the members of one object of a description, each asked for by its name and kind.
//
//   Fields fields(at, "a tag", problems);
//   tag.name = fields.need_text("name");
//   fields.finish();                        what was not asked for is reported
//
// Owns       nothing but the names that were asked for.
// Borrows    the node and the problems.
// Thread     one.
// Allocates  a little.
// Fails      adds to the problems; what has the wrong kind is as if it were not there.
#pragma once

#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi::model {

class Fields {
 public:
  // `what` as messages call it: "an operation".
  Fields(NodeAt at, Bytes what, Problems& problems);

  // An empty node in its place when it was no object.
  const NodeAt& at() const noexcept { return at_; }
  // For the object; without a line when it was none.
  Location location() const { return at_.location(); }
  // Does not ask for it: finish() reports it still.
  bool has(Bytes key) const noexcept { return at_.node->find(key) != nullptr; }

  // Empty, or `otherwise`, when it is not there.
  std::string text(Bytes key);
  std::string need_text(Bytes key);
  bool boolean(Bytes key, bool otherwise = false);
  std::vector<std::string> texts(Bytes key);
  NodeAt object(Bytes key);
  NodeAt list(Bytes key);
  NodeAt any(Bytes key);
  // Reports names that were not asked for, and gives those that begin with "x-".
  Extensions finish();

 private:
  NodeAt of_kind(Bytes key, Node::Kind kind, Bytes expected);

  NodeAt at_;
  Bytes what_;
  Problems& problems_;
  std::vector<Bytes> asked_;
};

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
