#include "katana/net/engine/uring/receive_ring.hpp"

#include <sys/mman.h>

#include <bit>
#include <cerrno>

#include "katana/base/system/check.hpp"
#include "katana/net/engine/sockets.hpp"
#include "katana/net/engine/uring/features.hpp"

namespace katana::engine {

ReceiveRing::~ReceiveRing() {
  if constexpr (is_poisoning) unpoison(const_cast<char*>(lent_.data()), lent_.size());
  // The kernel holds the queue's pages until the ring itself is gone.
  if (queue_ != nullptr) munmap(queue_, mapped_bytes_);
}

Result<void> ReceiveRing::start(Ring& ring, std::size_t buffer_bytes, std::uint32_t count,
                                bool incremental) {
  KATANA_REQUIRE(std::has_single_bit(count) && count <= 32 * 1024 && buffer_bytes > 0);
  // One mapping, queue first: the kernel wants the queue at the begin of a page.
  constexpr std::size_t page_bytes = 4096;
  const std::size_t queue_bytes =
      (count * sizeof(io_uring_buf) + page_bytes - 1) / page_bytes * page_bytes;
  const std::size_t bytes = queue_bytes + count * buffer_bytes;
  // The buffers are used in turn: all are populated at once, and no receive meets a page fault.
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return std::unexpected(system_error("map receive buffers", errno));
  mapped_bytes_ = bytes;
  queue_ = static_cast<io_uring_buf_ring*>(memory);
  buffers_ = static_cast<char*>(memory) + queue_bytes;
  buffer_bytes_ = buffer_bytes;
  mask_ = static_cast<std::uint16_t>(count - 1);
  incremental_ = incremental;
  used_.assign(count, 0);

  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(memory);
  registration.ring_entries = count;
  registration.bgid = group;
  set_buffer_ring_flags(registration, incremental ? buffer_ring_incremental : std::uint16_t{0});
  const int result = make_receive_ring(ring.raw(), registration);
  if (result < 0) return std::unexpected(uring_error("register receive buffers", -result));
  for (std::uint32_t index = 0; index < count; ++index) give(static_cast<std::uint16_t>(index));
  publish();
  return {};
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
