// Fields: the members of one object of a description, each asked for by its name and kind.
//
//   Fields fields(at, "a tag", problems);
//   tag.name = fields.need_text("name");
//   fields.finish();                        reports members that were not asked for
//
// Owns       nothing but the names that were asked for.
// Borrows    the node and the problems.
// Thread     one.
// Allocates  a little.
// Fails      adds to the problems; a member of the wrong kind counts as missing.
#pragma once

#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi::model {

class Fields {
 public:
  // `what` names the object in messages: "an operation".
  Fields(NodeAt at, Bytes what, Problems& problems);

  // An empty node in its place when it was no object.
  const NodeAt& at() const noexcept { return at_; }
  // The location of the object; without a line when the node was none.
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
