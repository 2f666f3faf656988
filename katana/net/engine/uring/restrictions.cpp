#include "katana/net/engine/uring/restrictions.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "katana/net/engine/uring/features.hpp"

namespace katana::engine {
namespace {

constexpr std::array entry_kinds = {IORING_OP_RECV,        IORING_OP_SEND,     IORING_OP_CLOSE,
                                    IORING_OP_ACCEPT,      IORING_OP_POLL_ADD, IORING_OP_READ,
                                    IORING_OP_ASYNC_CANCEL};
constexpr std::array registrations = {IORING_REGISTER_ENABLE_RINGS, IORING_REGISTER_RING_FDS,
                                      IORING_UNREGISTER_RING_FDS, IORING_REGISTER_PBUF_RING,
                                      IORING_UNREGISTER_PBUF_RING};
constexpr std::uint8_t entry_flags = IOSQE_BUFFER_SELECT | IOSQE_CQE_SKIP_SUCCESS;

}  // namespace

Result<void> restrict_ring(io_uring& ring) {
  std::array<io_uring_restriction, entry_kinds.size() + registrations.size() + 1> list{};
  std::size_t count = 0;
  for (const auto entry : entry_kinds) {
    list[count].opcode = IORING_RESTRICTION_SQE_OP;
    list[count++].sqe_op = static_cast<std::uint8_t>(entry);
  }
  for (const auto registration : registrations) {
    list[count].opcode = IORING_RESTRICTION_REGISTER_OP;
    list[count++].register_op = static_cast<std::uint8_t>(registration);
  }
  list[count].opcode = IORING_RESTRICTION_SQE_FLAGS_ALLOWED;
  list[count++].sqe_flags = entry_flags;
  // By number: liburing 2.3 declares a function for it and does not export it.
  if (::syscall(__NR_io_uring_register, ring.ring_fd, IORING_REGISTER_RESTRICTIONS, list.data(),
                count) == 0) {
    return {};
  }
  return std::unexpected(uring_error("restrict io_uring", errno));
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
