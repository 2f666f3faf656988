// Header fields of every reply about a file: its tag, its date, its type.
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

// The options of the program for a file; the other values are read from the file.
struct FileDescription {
  Bytes content_type;                            // outlives the file
  Bytes cache_control;                           // empty: no field
  http::Coding coding = http::Coding::identity;  // of its content on disk
  bool varies = false;                           // the file exists in other codings, too
  bool hashes = false;  // its content may be read for the tag; the file is kept open
};

// Fills the members of `file` that replies contain. The tag is strong unless the file may still be
// changed without another date.
//
// A file that was written at the time of its date has a tag of date and size. A date that was set
// proves nothing (copies, packages, reproducible builds, where all files may have the same). The
// tag is then a digest of the content, up to 1 MiB and if `hashes` is set. Otherwise the tag also
// has the time of the last change of the inode. That time cannot be set back, but differs between
// hosts.
void describe_file(OpenFile& file, const FileDescription& description, std::int64_t wall_clock_s);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
