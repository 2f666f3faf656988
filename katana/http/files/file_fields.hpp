// What every reply about a file says of it: its tag, its date, its type.
//
// Owns       nothing.
// Borrows    the type, which the file refers to from then on.
// Thread     that of the file.
// Allocates  the texts of the file.
// Fails      never.
#pragma once

#include <cstdint>

#include "katana/http/files/open_file.hpp"
#include "katana/wire/http/content_coding.hpp"

namespace katana {

// What the program says of a file; the rest is read from the file itself.
struct FileDescription {
  Bytes content_type;                            // outlives the file
  Bytes cache_control;                           // empty: no field
  http::Coding coding = http::Coding::identity;  // of its content on disk
  bool varies = false;  // there are others of the same name in other codings
  bool hashes = false;  // its content may be read for the tag; the file is kept open
};

// Fills the members of `file` that stand in replies. The tag is strong unless the file may still be
// changed without another date.
//
// A file that was written when its date says so has a tag of date and size. A date that was set
// (copies, packages, reproducible builds, where all files may have the same) is no evidence: the
// tag is then a digest of the content, of up to 1 MiB and where `hashes` is set, or has the time of
// the last change of the inode besides, which cannot be set back, but differs between hosts.
void describe_file(OpenFile& file, const FileDescription& description, std::int64_t wall_clock_s);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
