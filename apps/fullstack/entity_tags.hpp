// Entity tags: whether a condition of a request holds (RFC 9110 §13.1).
//
// Owns       nothing.
// Thread     any.
// Allocates  never.
// Fails      never: what is no list of tags names none.
// Invariant  If-Match compares strongly (a weak tag is no match), If-None-Match weakly.
#pragma once

#include "katana/base.hpp"

namespace katana::fullstack {

// Whether the value of If-Match names `tag`, which is a strong one with its quotes, or is "*".
bool if_match_holds(Bytes value, Bytes tag) noexcept;
// Whether the value of If-None-Match names it, so that there is nothing new to send.
bool if_none_match_names(Bytes value, Bytes tag) noexcept;

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
