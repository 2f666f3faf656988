// Inflater: the receiving side's state of header compression (RFC 7541), by nghttp2, behind three
// functions.
//
// Owns       the dynamic table. It is made with the first block: a connection without a request has
//            none.
// Thread     its machine's.
// Allocates  by nghttp2, from the heap: at most Limits of the table (4 KiB as RFC 7541 counts).
// Fails      next() says so; the connection then cannot go on, because the tables of both sides
//            differ.
// Invariant  name and value stand until the next call.
#pragma once

#include <nghttp2/nghttp2.h>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http2/field_rules.hpp"

namespace katana::http2 {

class Inflater {
 public:
  // The result of next(): a field, the end of the block, or an error of the compression.
  enum class Got : std::uint8_t { field, end, failure };

  Inflater() noexcept = default;
  ~Inflater() {
    if (state_ != nullptr) nghttp2_hd_inflate_del(state_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // False: no memory.
  bool begin() noexcept { return state_ != nullptr || nghttp2_hd_inflate_new(&state_) == 0; }

  // Reads the next field of `block`, and takes its bytes off the block. REQUIRES begin().
  Got next(Bytes& block, Bytes& name, Bytes& value) noexcept {
    for (;;) {
      nghttp2_nv field;
      int flags = 0;
      const auto used = nghttp2_hd_inflate_hd2(state_, &field, &flags,
                                               reinterpret_cast<const std::uint8_t*>(block.data()),
                                               block.size(), 1);
      if (used < 0) return Got::failure;
      block.remove_prefix(static_cast<std::size_t>(used));
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
        name = {reinterpret_cast<const char*>(field.name), field.namelen};
        value = {reinterpret_cast<const char*>(field.value), field.valuelen};
        return Got::field;
      }
      if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) {
        nghttp2_hd_inflate_end_headers(state_);
        return Got::end;
      }
      if (used == 0 && block.empty()) return Got::failure;
    }
  }

 private:
  nghttp2_hd_inflater* state_ = nullptr;
};

// How the decoding of a block ended.
enum class Decoded : std::uint8_t {
  all,     // every field was given
  broken,  // COMPRESSION_ERROR
  bomb,    // far more than is accepted
};

// Gives each field of a block to `take(Bytes name, Bytes value)`. A block is decoded to its end, or
// the connection ends: its fields change the table. `listed_bytes` counts as the setting
// MAX_HEADER_LIST_SIZE does, up to and with the field at hand.
template <class Take>
Decoded decode(Inflater& inflater, Bytes block, std::size_t bytes_max, std::size_t& listed_bytes,
               Take&& take) noexcept {
  if (!inflater.begin()) return Decoded::broken;
  for (Bytes name, value;;) {
    const Inflater::Got got = inflater.next(block, name, value);
    if (got == Inflater::Got::failure) return Decoded::broken;
    if (got == Inflater::Got::end) return Decoded::all;
    listed_bytes += name.size() + value.size() + field_overhead;
    if (listed_bytes > bytes_max) return Decoded::bomb;
    take(name, value);
  }
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
