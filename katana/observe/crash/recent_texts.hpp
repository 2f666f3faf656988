// recent_texts(): the last records of the log, as recent_records.hpp keeps them.
//
// Owns       nothing.
// Thread     any.
// Allocates  the texts.
// Fails      never: without the output of recent_records() there are none.
#pragma once

#include <string>
#include <vector>

namespace katana::crash {

// The oldest first.
std::vector<std::string> recent_texts();

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
