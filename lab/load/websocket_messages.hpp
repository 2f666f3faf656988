// The bytes of a WebSocket load: the handshake of a connection, and one masked message.
//
// Thread: any. Allocates: yes.
// Fails: says which flag is wrong.
#pragma once

#include "lab/load/target.hpp"

namespace katana::load {

// Sets `upgrade`, and in place of `requests` the one message, which is spec.body.
Result<void> make_messages(Target& target, const RequestSpec& spec);

// True if the head is a 101 reply to `upgrade` with the key's Sec-WebSocket-Accept.
bool is_upgraded(Bytes head);

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
