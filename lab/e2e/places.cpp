#include "lab/e2e/places.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "lab/process/server_process.hpp"

namespace e2e {
namespace {

// Read once, before anything is pinned.
cpu_set_t read_allowed() noexcept {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_SET(0, &allowed);
  return allowed;
}
const cpu_set_t allowed = read_allowed();

int last_cpu() noexcept {
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) last = cpu;
  }
  return last;
}

std::filesystem::path root() {
  return std::filesystem::path(katana::lab::own_program()).parent_path() /
         fmt::format("e2e_files_{}", ::getpid());
}

}  // namespace

bool shared_cpus() noexcept { return CPU_COUNT(&allowed) < 2; }

void pin_to_client_cpu() noexcept {
  if (shared_cpus()) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(last_cpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
}

cpu_set_t server_cpus() noexcept {
  cpu_set_t others = allowed;
  if (!shared_cpus()) CPU_CLR(last_cpu(), &others);
  return others;
}

void pin_to_server_cpus() noexcept {
  const cpu_set_t others = server_cpus();
  sched_setaffinity(0, sizeof others, &others);
}

std::string folder_for(const std::string& name) {
  static int count = 0;
  return root() / fmt::format("{}_{}", name, count++);
}

void remove_folders() noexcept {
  std::error_code ignored;  // a folder that cannot be removed is left to the user
  std::filesystem::remove_all(root(), ignored);
}

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
