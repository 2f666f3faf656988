#include "katana/service/head_fields.hpp"

#include "katana/wire/http/characters.hpp"

namespace katana::detail {

bool CookiePairs::next() noexcept {
  while (!reader_.next(name_, value_)) {
    while (at_ < head_.field_count() && !http::equals_ignoring_case(head_.name(at_), "Cookie"))
      ++at_;
    if (at_ == head_.field_count()) return false;
    reader_ = CookieReader(head_.value(at_++));
  }
  return true;
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
