// Bytes: a borrowed run of bytes. Who owns it, and until when, is said by each function that takes
// or gives one.
#pragma once

#include <string_view>

namespace katana {

using Bytes = std::string_view;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
