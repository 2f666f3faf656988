// Subjects of micro_log: everything that logs (int, double, text of 16) to its own file.
//
// Every text subject writes the same line: time, level, name, message. A subject is made anew for
// each round, so that none profits from the round before.
//
// Thread     log() and prepare() one; the rest is the subject's own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace log_bench {

class Subject {
 public:
  virtual ~Subject() = default;
  // Once, on the thread that will log.
  virtual void prepare() {}
  virtual void log(int number, double value, std::string_view text) = 0;
  // `count` records with numbers from 0, in a loop of the subject's own: what a call costs is then
  // not hidden behind a virtual one.
  virtual void burst(std::uint64_t count, std::string_view text) = 0;
  // Returns when all of it is in the file.
  virtual void finish() = 0;
  // After finish(): the number of records there, as the file has it.
  virtual std::uint64_t found() const = 0;
};

struct SubjectKind {
  std::string name;
  bool writes;  // to a file: it has a part in the question of the burst
  std::function<std::unique_ptr<Subject>(const std::string& path)> make;
};

std::vector<SubjectKind> subjects();
// Where spdlog is installed.
std::unique_ptr<Subject> make_spdlog(const std::string& path);

std::uint64_t lines_in(const std::string& path);

}  // namespace log_bench

// SPDX-License-Identifier: Apache-2.0
