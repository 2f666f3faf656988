// pprof: a profile as `go tool pprof` and its relatives read it: a message of Protocol Buffers
// (profile.proto), compressed by gzip.
//
//   Profile      1 sample_type  2 sample  3 mapping  4 location  5 function  6 string_table
//                9 time_nanos  10 duration_nanos  11 period_type  12 period  13 comment
//                14 default_sample_type
//   ValueType    1 type  2 unit
//   Sample       1 location_id  2 value  3 label
//   Label        1 key  2 str
//   Mapping      1 id  2 memory_start  3 memory_limit  4 file_offset  5 filename  6 build_id
//                7 has_functions  8 has_filenames  9 has_line_numbers  10 has_inline_frames
//   Location     1 id  2 mapping_id  3 address  4 line
//   Line         1 function_id  2 line
//   Function     1 id  2 name  3 system_name  4 filename
//
// Texts are indices into string_table, whose first is empty. A sample has two values: how often it
// was found, and its nanoseconds or bytes. Their types have the names that `go tool pprof` knows.
// The format has no place for three facts. They are comments:
// "program NAME", "lost COUNT", and "bias MAPPING 0xADDRESS".
//
// Thread     any.
// Allocates  freely.
// Fails      from_pprof(): the bytes are no such profile, or one beyond its limits. The Error names
//            the message.
// Invariant  from_pprof(to_pprof(p)) is p. A profile that was read has only indices that exist, and
//            its sums do not overflow.
#pragma once

#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/observe/profile/profile.hpp"

namespace katana::profile {

// The most bytes of a profile, before it is compressed.
inline constexpr std::size_t pprof_bytes_max = 256 * 1024 * 1024;

namespace detail {
// The types of the two values of a sample.
struct ValueTypes {
  std::string count, amount;
};
const ValueTypes& value_types_of(Kind kind);
}  // namespace detail

// The message, not compressed.
std::string to_pprof(const Profile& profile);
// Reads what to_pprof() writes, and the same of other programs. Unknown fields are skipped.
Result<Profile> from_pprof(Bytes message);

// gzip, as files of pprof have it.
std::string compress(Bytes bytes);
// Fails if the bytes are not gzip, are cut, or have more than `bytes_max` within.
Result<std::string> decompress(Bytes bytes, std::size_t bytes_max = pprof_bytes_max);

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
