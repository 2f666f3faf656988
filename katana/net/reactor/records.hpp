// next_record: the part of an outbox that goes into one record of a transform.
//
// Borrows    the outbox, and the memory it refers to; the result lies there or in the buffer.
// Thread     the outbox's.
// Allocates  never.
// Fails      empty: a file is shorter than its reply says.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>

#include "katana/base/memory/outbox.hpp"

namespace katana::net {

// The most plaintext of one record (RFC 8446 §5.1).
inline constexpr std::size_t record_bytes = 16 * 1024;
// The most pieces of an outbox that are sent or sealed in one go.
inline constexpr std::size_t gather_max = 64;

// Gathers pieces, because each record has its cost, and reads a file. REQUIRES that the outbox is
// not empty.
inline Bytes next_record(const Outbox& outbox, std::array<char, record_bytes>& buffer) noexcept {
  std::array<iovec, gather_max> parts;
  const std::size_t count = outbox.gather(parts);
  const FilePart file = outbox.has_files() ? outbox.file_behind(count) : FilePart{};
  const auto bytes_of = [](const iovec& part) {
    return Bytes(static_cast<const char*>(part.iov_base), part.iov_len);
  };
  const bool alone = count == 1 && file.size == 0;
  if (alone || (count != 0 && parts[0].iov_len >= record_bytes)) return bytes_of(parts[0]);
  std::size_t size = 0;
  for (std::size_t index = 0; index < count && size < record_bytes; ++index) {
    const Bytes part = bytes_of(parts[index]).substr(0, record_bytes - size);
    std::memcpy(buffer.data() + size, part.data(), part.size());
    size += part.size();
  }
  if (file.size != 0 && size < record_bytes) {
    const std::ptrdiff_t read = file.read({buffer.data() + size, record_bytes - size});
    size += read > 0 ? static_cast<std::size_t>(read) : 0;
  }
  return {buffer.data(), size};
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
