// Kernel: the parts of io_uring that are newer than the header of liburing 2.3, and the header
// itself.
//
// Owns       nothing.
// Thread     any.
// Invariant  each name is the kernel's, in our style; the number is its ABI.
#pragma once

#include <liburing.h>

#include <cstdint>

namespace katana::engine {

// A provided buffer is used up piece by piece instead of whole (Linux 6.12).
inline constexpr std::uint16_t buffer_ring_incremental = 2;  // IOU_PBUF_RING_INC
// Flags of io_uring_buf_reg, whose member is `pad` in liburing 2.3 and `flags` in later versions.
template <class Registration>
void set_buffer_ring_flags(Registration& registration, std::uint16_t flags) noexcept {
  if constexpr (requires { registration.flags; }) {
    registration.flags = flags;
  } else {
    registration.pad = flags;
  }
}
// The completion used a part of its buffer; the rest is for the next ones.
inline constexpr std::uint32_t completion_buffer_more = 1u << 4;  // IORING_CQE_F_BUF_MORE
// io_uring_enter can be told how long to collect completions (Linux 6.12).
inline constexpr std::uint32_t feature_min_wait = 1u << 15;  // IORING_FEAT_MIN_TIMEOUT

// The kernel's struct io_uring_getevents_arg, whose padding has become a time.
struct EnterArgument {
  std::uint64_t signal_mask = 0;        // address of a sigset_t; 0: none
  std::uint32_t signal_mask_bytes = 0;  // size of that sigset_t
  std::uint32_t min_wait_us = 0;  // how long a wait collects completions; needs feature_min_wait
  std::uint64_t timeout = 0;      // address of a __kernel_timespec
};
static_assert(sizeof(EnterArgument) == sizeof(io_uring_getevents_arg));

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
