// The GNU build ID of an ELF file. It is the same in a program, in its debug files and in its crash
// reports.
//
// Thread     any.
// Allocates  the result.
// Fails      returns nothing: the bytes are no ELF file of 64 bits and little endian, are cut, or
//            have no build ID.
// Invariant  reads only within the given bytes, whatever they are.
#pragma once

#include <optional>
#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::crash {

// Hexadecimal digits, at most 64 bytes' worth. Takes it from the sections, which a debug file has
// like its program, else from the segments.
std::optional<std::string> build_id_of(Bytes file);

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
