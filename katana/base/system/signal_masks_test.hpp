// The names of the threads that accept SIGTERM. A signal to such a thread would end the process and
// its requests in flight before the waiting thread learns of it.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace katana {

// {name: it takes SIGTERM}, of threads that have their own name.
inline std::map<std::string, bool> threads_and_sigterm() {
  std::map<std::string, bool> threads;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    std::string name, line;
    while (std::getline(status, line)) {
      if (line.starts_with("Name:\t")) name = line.substr(6);
      if (!line.starts_with("SigBlk:\t")) continue;
      const std::uint64_t blocked = std::stoull(line.substr(8), nullptr, 16);
      threads[name] |= (blocked >> (SIGTERM - 1) & 1) == 0;
    }
  }
  return threads;
}

// How many threads have a name that begins so; each that takes SIGTERM fails the test.
inline std::size_t quiet_threads(const std::string& prefix) {
  std::size_t seen = 0;
  for (const auto& [name, takes] : threads_and_sigterm()) {
    if (!name.starts_with(prefix)) continue;
    EXPECT_FALSE(takes) << name;
    ++seen;
  }
  return seen;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
