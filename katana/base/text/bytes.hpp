// Bytes: a borrowed run of bytes. Each function that takes or returns one says who owns the bytes,
// and how long they are valid.
#pragma once

#include <string_view>

namespace katana {

using Bytes = std::string_view;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
