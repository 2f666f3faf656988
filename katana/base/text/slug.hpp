// slug_of(): the part of a URL that a title makes, "C++ & Rust: a talk" → "c-rust-a-talk".
//
// ASCII letters and digits stay, letters in lower case. All characters outside of ASCII stay as
// they are. All else between them is one dash. There is none at the beginning and at the end.
//
// Thread     any.
// Allocates  the result.
// Fails      never. The result is empty if the title has neither letters nor digits.
// Invariant  it has no character of URLs that separates: no slash, question mark, '#' or space.
#pragma once

#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana {

std::string slug_of(Bytes title);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
