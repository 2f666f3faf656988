#include "katana/net/engine/uring/features.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <cerrno>
#include <cstdio>
#include <fstream>

#include "katana/net/engine/sockets.hpp"
#include "katana/net/engine/uring/kernel.hpp"
#include "katana/net/engine/uring/ring.hpp"

namespace katana::engine {
namespace {

// kernel.io_uring_disabled: 0 for all, 1 for privileged processes only, 2 for none. -1: not there.
int disabled_by_sysctl() {
  std::ifstream file("/proc/sys/kernel/io_uring_disabled");
  int value = -1;
  return file >> value ? value : -1;
}

// True when this kernel is `major`.`minor` or later.
bool kernel_is_at_least(int major, int minor) {
  utsname name;
  int own_major = 0, own_minor = 0;
  if (uname(&name) != 0) return false;
  if (std::sscanf(name.release, "%d.%d", &own_major, &own_minor) != 2) return false;
  return own_major > major || (own_major == major && own_minor >= minor);
}

// Linux 6.12 has incremental buffers. Up to 6.15 a single receive could be reported after a later
// multishot one. The place of the bytes in a shared buffer is then unknown. They are used from 6.16
// on.
bool has_incremental_buffers(io_uring& ring) {
  if (!kernel_is_at_least(6, 16)) return false;
  void* const memory =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(memory);
  registration.ring_entries = 1;
  set_buffer_ring_flags(registration, buffer_ring_incremental);
  const bool has = make_receive_ring(ring, registration) == 0;
  if (has) io_uring_unregister_buf_ring(&ring, 0);
  munmap(memory, 4096);
  return has;
}

// The kernel counts rings as locked memory of the user, unless the program may lock any.
std::string how_to_get_memory() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return "free memory of this machine or of its control group";
  }
  return fmt::format(
      "raise the limit of locked memory, {} KiB for all programs of a user (ulimit "
      "-l; systemd: LimitMEMLOCK=), free memory of this machine",
      limit.rlim_cur / 1024);
}

}  // namespace

std::string UringFeatures::missing() const {
  std::string text;
  if (!incremental) {
    text =
        "this kernel has no dependable incremental receive buffers (Linux 6.16): each receive "
        "takes a whole buffer";
  }
  if (!min_wait) {
    text += text.empty() ? "" : "; ";
    text += "this kernel cannot collect completions (Linux 6.12): a wait ends with the first";
  }
  return text;
}

Error uring_error(const char* action, int error_number) {
  const int disabled = disabled_by_sysctl();
  switch (error_number) {
    case EPERM:
    case EACCES:
      if (disabled > 0) {
        return Error(Code::permission_denied,
                     fmt::format("{}: io_uring is forbidden here: kernel.io_uring_disabled is {}; "
                                 "set it to 0 (sysctl), or use --engine epoll-edge",
                                 action, disabled));
      }
      return Error(Code::permission_denied,
                   fmt::format("{}: io_uring is forbidden here, probably by a seccomp filter; "
                               "allow io_uring_setup, io_uring_enter and io_uring_register, or "
                               "use --engine epoll-edge",
                               action));
    case ENOSYS:
      return Error(Code::unavailable,
                   fmt::format("{}: this kernel has no io_uring, or a container hides it; use "
                               "--engine epoll-edge",
                               action));
    case EINVAL:
      return Error(Code::unavailable,
                   fmt::format("{}: this kernel's io_uring is too old; it takes Linux 6.1, or "
                               "use --engine epoll-edge",
                               action));
    case ENOMEM:
      return Error(Code::resource_exhausted,
                   fmt::format("{}: no memory for the rings for {} s; {}, or use --engine "
                               "epoll-edge",
                               action, memory_wait_max / seconds(1), how_to_get_memory()));
    default: return system_error(action, error_number);
  }
}

Result<UringFeatures> probe_uring() {
  io_uring ring;
  io_uring_params parameters{};
  parameters.flags = ring_setup_flags;
  parameters.cq_entries = 8;
  const int result = make_ring(4, ring, parameters);
  if (result < 0) return std::unexpected(uring_error("start io_uring", -result));
  constexpr std::uint32_t required =
      IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP | IORING_FEAT_EXT_ARG | IORING_FEAT_CQE_SKIP;
  UringFeatures features;
  features.min_wait = (parameters.features & feature_min_wait) != 0;
  features.incremental = has_incremental_buffers(ring);
  io_uring_queue_exit(&ring);
  if ((parameters.features & required) != required) {
    return std::unexpected(uring_error("start io_uring", EINVAL));
  }
  return features;
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
