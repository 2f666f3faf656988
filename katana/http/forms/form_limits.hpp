// FormLimits: the limits of read_form() (form.hpp).
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

// Limits of one form. More bytes in a part or in all parts, or more parts, are answered with 413.
struct FormLimits {
  // Limits of each part; part_bytes_max is 64 MiB.
  http::MultipartLimits part = {.part_bytes_max = 64 * 1024 * 1024};
  std::uint64_t bytes_max = 256 * 1024 * 1024;  // of all contents
  // Memory for one part, and for all together. The bytes above it go to the form's file.
  std::size_t part_memory_bytes_max = 64 * 1024;
  std::size_t memory_bytes_max = 1024 * 1024;
  // The number of files that forms of this process may have open at a time; 0:
  // SpillFile::files_max(). Never more than a quarter of RLIMIT_NOFILE: the others are for
  // connections.
  std::size_t files_max = 0;
  // The folder of the files; its file system must support O_TMPFILE, as ext4, xfs, btrfs and tmpfs
  // do.
  std::string folder = "/tmp";

  // The limits of the process for calls of read_form() without limits.
  static const FormLimits& defaults() noexcept;
  // Call it before the first form is read. An Application passes the values of http.forms.
  static void set_defaults(FormLimits limits);
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
