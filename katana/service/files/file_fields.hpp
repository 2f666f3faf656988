// What every reply about a file says of it: its tag, its date, its type.
//
// Owns       nothing.
// Borrows    the type, which the file refers to from then on.
// Thread     that of the file.
// Allocates  the texts of the file.
// Fails      never.
#pragma once

#include <cstdint>

#include "katana/service/files/open_file.hpp"
#include "katana/wire/http/content_coding.hpp"

namespace katana {

struct FileDescription {
  Bytes content_type;   // outlives the file
  Bytes cache_control;  // empty: no field
  http::Coding coding = http::Coding::identity;
  bool varies = false;  // there are others of the same name in other codings
};

// Fills the members of `file` that stand in replies. The tag is strong unless the file may still be
// changed without another date.
void describe_file(OpenFile& file, const FileDescription& description, std::int64_t wall_clock_s);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
