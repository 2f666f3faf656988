// Places: which CPUs servers and clients run on, and where files go.
//
// Owns       nothing.
// Thread     one.
// Fails      never: on a machine with one CPU both sides share it, and shared_cpus() says so.
#pragma once

#include <sched.h>

#include <string>

namespace e2e {

// Pins the calling thread, and those that it starts, to the last CPU that it may use.
void pin_to_client_cpu() noexcept;
// To all but the last.
void pin_to_server_cpus() noexcept;
cpu_set_t server_cpus() noexcept;
bool shared_cpus() noexcept;

// A path under the folder of this program, on its disk: figures of a file in memory would say
// nothing of durability. Its user makes it; all are removed when the program ends.
std::string folder_for(const std::string& name);
void remove_folders() noexcept;

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
