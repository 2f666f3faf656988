// Flags: the command line of a micro-benchmark.
//
// Owns       its texts.
// Thread     one.
// Allocates  freely.
// Fails      wrong usage exits with 2.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>
#include <string_view>

namespace micro {

struct Flags {
  bool quick = false;
  bool smoke = false;  // a test run: one hundredth of the work, to see that it is done right
  std::string only;
  std::string json_path;

  bool wants(std::string_view question) const {
    return question.find(only) != std::string_view::npos;
  }
};

inline Flags parse_flags(const std::string& system, int count, char** arguments) {
  Flags flags;
  CLI::App app{"micro-benchmarks of " + system, "micro_" + system};
  app.add_flag("--quick", flags.quick, "few rounds");
  app.add_flag("--smoke", flags.smoke, "a hundredth of the work, to see that it is done right");
  app.add_option("--only", flags.only, "the questions with this text in them");
  app.add_option("--json", flags.json_path, "write the figures to this file");
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& stop) {
    std::exit(app.exit(stop) == 0 ? 0 : 2);
  }
  flags.quick = flags.quick || flags.smoke;
  return flags;
}

}  // namespace micro

// SPDX-License-Identifier: Apache-2.0
