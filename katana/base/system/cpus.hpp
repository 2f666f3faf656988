// usable_cpus(): the number of CPUs of this process, which is the right number of worker threads.
//
// It counts the CPUs on which the calling thread may run (sched_setaffinity(2)). The limit of the
// control groups (cgroup v2, cpu.max), rounded up, bounds the count. A container with a limit of
// two CPUs on a machine of 64 therefore has two. More threads would share the same CPU time, and
// all of them would wait when it is used up.
//
// Thread     any.
// Fails      never: a limit that cannot be read counts as no limit.
#pragma once

#include <string>

#include "katana/base/values/instant.hpp"

namespace katana {

// The number of CPUs, at least 1. It reads a few small files: call it at the start of a program.
unsigned usable_cpus() noexcept;

// Returns `longest`, or zero where the process has one CPU: a thread that spins there only delays
// the thread it waits for. The first call counts the CPUs.
Duration spin_for(Duration longest) noexcept;

namespace detail {
// The smallest limit of a control group and of its parents, in CPUs, rounded up; 0: no limit.
// `membership` is /proc/self/cgroup, `root` is the mount point of the hierarchy.
unsigned quota_cpus(const std::string& membership, const std::string& root);
}  // namespace detail

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
