// usable_cpus(): how many CPUs this process has, which is how many threads of work it should have.
//
// Counted are the CPUs that the calling thread may run on (sched_setaffinity(2)), but no more than
// the process's control groups give it time for (cgroup v2, cpu.max), rounded up: a container with
// a limit of two CPUs on a machine of 64 has two. More threads of work than that share the same
// time, and all of them wait when it is used up.
//
// Thread     any.
// Fails      never: what cannot be read is no limit.
#pragma once

#include <string>

#include "katana/base/values/instant.hpp"

namespace katana {

// At least 1. Reads a few small files: for the start of a program.
unsigned usable_cpus() noexcept;

// `longest`, or zero where the process has one CPU: there a thread that spins only keeps the one it
// waits for from running. Looked up by the first call.
Duration spin_for(Duration longest) noexcept;

namespace detail {
// The smallest limit of a group and of those around it, rounded up; 0: none. `membership` is
// /proc/self/cgroup, `root` is where the hierarchy is mounted.
unsigned quota_cpus(const std::string& membership, const std::string& root);
}  // namespace detail

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
