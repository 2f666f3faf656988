// PathTemplates: finds the path of a document that a request's path matches: "/users/{id}",
// "/files/{name}.json".
//
// Owns       the templates.
// Borrows    the path; the values of parameters lie in it.
// Thread     any, at once, once all are added.
// Allocates  find(): the list of values.
// Fails      add() for a malformed template, with the reason.
// Invariant  a literal goes before a parameter, from the left (OpenAPI 3.1.1 §4.8.8.2). The longer
//            text beside a parameter goes before the shorter one. The order of add() is of no
//            importance.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::openapi {

// Names are the template's, values are escaped as the path is.
using PathValues = std::vector<std::pair<Bytes, Bytes>>;

class PathTemplates {
 public:
  // find() returns `index` for a path of this template.
  Result<void> add(Bytes path, std::size_t index);
  // A template that the path is one of.
  struct Match {
    std::size_t index;  // as given to add()
    PathValues values;  // in their order; they point into the template and the path
  };
  // All that fit, the most specific first. `path` is a normal one (wire/http/url.hpp).
  std::vector<Match> find(Bytes path) const;

 private:
  struct Piece {
    bool is_parameter;
    std::string text;  // or the name
  };
  using Segment = std::vector<Piece>;
  struct Template {
    std::size_t index;
    std::string rank;  // of its segments; less is more specific
    std::vector<Segment> segments;
  };
  static Result<Segment> segment_of(Bytes text, Bytes path);
  static std::string rank_of(const Segment& segment);
  static bool match(const Segment& segment, Bytes text, PathValues& values);

  std::map<std::size_t, std::vector<Template>> by_size_;  // by number of segments
};

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
