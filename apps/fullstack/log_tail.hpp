// LogTail: the latest lines of the log.
//
// Owns       the lines, of which it keeps the latest ones.
// Thread     write() the log's writer; since() any.
// Allocates  for the first lines; the memory is that of lines_kept_max × line_bytes_max at most.
// Fails      never.
// Invariant  lines have numbers, so that no reader gets one twice, and who was overtaken knows.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "katana/log.hpp"

namespace katana::fullstack {

class LogTail final : public log::Output {
 public:
  static constexpr std::size_t lines_kept_max = 100;
  static constexpr std::size_t line_bytes_max = 500;

  const std::string& name() const noexcept override { return name_; }
  bool may_block() const noexcept override { return false; }
  Result<void> open(const log::Layout&) override { return {}; }
  Result<void> write(Bytes records) override;

  struct Lines {
    std::vector<std::string> lines;
    std::uint64_t until = 0;  // the number of the last one, counted from 1
  };
  // The lines behind the line of this number, at most the latest `count_max`.
  Lines since(std::uint64_t number, std::size_t count_max) const;

 private:
  const std::string name_ = "the dashboard";
  mutable std::mutex mutex_;                      // guards the members below
  std::array<std::string, lines_kept_max> kept_;  // in turn
  std::uint64_t written_ = 0;
};

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
