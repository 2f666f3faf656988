// Bytes: a borrowed run of bytes. Each function that takes or gives one says which side owns it,
// and until when.
#pragma once

#include <string_view>

namespace katana {

using Bytes = std::string_view;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
