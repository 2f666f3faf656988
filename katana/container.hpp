// Values: described structs as JSON, MessagePack and the binary format.
//
// Links      data/container
#pragma once

#include "katana/data/container/binary_read.hpp"
#include "katana/data/container/binary_write.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/message_pack_read.hpp"
#include "katana/data/container/message_pack_write.hpp"

// SPDX-License-Identifier: Apache-2.0
