// The requests of a target as HTTP/2 sends them: header blocks that are written once.
//
// Thread: one. Allocates: yes. Fails: names the header that HTTP/2 cannot send.
#pragma once

#include "katana/base/system/result.hpp"
#include "lab/load/target.hpp"

namespace katana::load {

// Fills `block` and `content` of each request. Fields about a connection are left out; Host becomes
// the authority.
Result<void> add_blocks(Target& target, const RequestSpec& spec);

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
