// ProcessContext: shows the resource of the process to readers outside of it, such as a profiler
// for the whole machine. It finds a memory mapping by its name in /proc/PID/maps, and so knows
// which service a process is without its help.
//
// Source     OTEP 4719, version 2, as the OpenTelemetry eBPF profiler reads it: the time is that of
//            CLOCK_BOOTTIME, and 0 until the rest is written. The payload is
//            opentelemetry.proto.processcontext.v1development.
// Owns       the mapping, which a fork does not get.
// Thread     any; one at a time.
// Allocates  the mapping: a page or two.
// Fails      make() with the call that the kernel refused, or for a resource of more than 64 KiB,
//            which readers refuse.
// Invariant  a reader sees nothing, or the whole. There is one in a process: a second one is
//            refused.
#pragma once

#include <cstddef>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/observe/otlp/resource.hpp"

namespace katana::app {

class ProcessContext {
 public:
  // Shows the resource until the object ends.
  static Result<ProcessContext> make(const otlp::Resource& resource);
  ProcessContext(ProcessContext&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}
  ProcessContext& operator=(ProcessContext&&) = delete;
  ~ProcessContext();

 private:
  ProcessContext(void* memory, std::size_t bytes) noexcept : memory_(memory), bytes_(bytes) {}

  void* memory_;  // null: moved from
  std::size_t bytes_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
