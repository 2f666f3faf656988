// Measuring for micro_log: a calibrated counter, medians, instructions, and the JSON that the
// runner reads.
//
// Thread     one.
// Fails      instructions() is empty where the machine does not count them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace micro {

std::uint64_t ticks() noexcept;
double ns_per_tick();

// User instructions of this thread since it was made.
class InstructionCounter {
 public:
  InstructionCounter();
  ~InstructionCounter();
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;
  std::optional<std::uint64_t> count() const;

 private:
  int descriptor_;
};

double median(std::vector<double> values);
// The value that `share` of them do not exceed.
double percentile(std::vector<double>& values, double share);

// As percentile(), of a clock with coarse ticks: the values of one tick are taken as spread evenly
// over it, as the median of grouped data is.
double grouped_percentile(std::vector<double>& values, double share);

struct Row {
  std::string question, subject, unit, better;
  std::vector<double> values;        // one of each round
  std::vector<double> instructions;  // per operation; empty where they are not counted
};

struct Target {
  std::string text;
  double value = 0, limit = 0;
  bool at_most = true;
  bool met() const { return at_most ? value <= limit : value >= limit; }
};

// False: the file cannot be written.
bool write_json(const std::string& path, const std::vector<Row>& rows,
                const std::vector<Target>& targets);
void print(const std::vector<Row>& rows, const std::vector<Target>& targets);

}  // namespace micro
