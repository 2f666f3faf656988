#include "katana/service/openapi/routes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace katana::openapi {

Routes Routes::tagged(std::string tag) const {
  Routes made(*this);
  made.tag_ = std::move(tag);
  return made;
}

Routes Routes::group(std::string_view prefix) const {
  Routes made(*this);
  made.group_ = group_.group(prefix);
  return made;
}

Routes Routes::anonymous() const {
  Routes made(*this);
  made.group_ = group_.anonymous();
  return made;
}

void Routes::add(http::Method method, std::string_view pattern, const Operation& operation,
                 SignatureWords (*words)(Schemas&)) {
  const std::string whole = std::string(group_.prefix()).append(pattern);
  Operation described(operation);
  if (described.tag.empty() && described.tags.empty()) described.tag = tag_;
  bool is_shown = false;
  for (Document& each : documents_) {
    if (!each.shows(described)) continue;
    is_shown = true;
    each.add(method, whole, words(each.schemas()), described, group_.security());
  }
  if (is_shown || documents_.empty()) return;
  documents_.front().add_mistake(
      Error(Code::invalid_argument,
            fmt::format("openapi: {} {}: it is for '{}', an audience that none of its documents "
                        "has: give one of them Document::audience()",
                        http::name_of(method), whole, described.audiences.front())));
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
