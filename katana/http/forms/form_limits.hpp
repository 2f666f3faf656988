// FormLimits: what read_form() takes at most (form.hpp).
//
// Owns       values only.
// Thread     a value.
// Allocates  as its members do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/wire/http/multipart.hpp"

namespace katana {

// Limits of one form; more than the bytes of a part, of all parts, or their number is 413.
struct FormLimits {
  // Limits of each part; part_bytes_max is 64 MiB.
  http::MultipartLimits part = {.part_bytes_max = 64 * 1024 * 1024};
  std::uint64_t bytes_max = 256 * 1024 * 1024;  // of all contents
  // Of one part, and of all together: what is more goes to the form's file.
  std::size_t part_memory_bytes_max = 64 * 1024;
  std::size_t memory_bytes_max = 1024 * 1024;
  // Files that forms of this process may have open at a time; 0: SpillFile::files_max(). Never more
  // than a quarter of RLIMIT_NOFILE: the others are for connections.
  std::size_t files_max = 0;
  // Where the files are; its file system has to know O_TMPFILE, as ext4, xfs, btrfs and tmpfs do.
  std::string folder = "/tmp";

  // What read_form() takes when it is given none, in the whole process.
  static const FormLimits& defaults() noexcept;
  // Before the first form is read: an Application says what http.forms has.
  static void set_defaults(FormLimits limits);
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
