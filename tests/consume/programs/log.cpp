// log FILE: writes one record.
#include <cstdio>

#include "katana/log.hpp"

using namespace katana;

int main(int count, char** arguments) {
  if (count != 2) return std::fputs("usage: log FILE\n", stderr), 2;
  log::Options options;
  options.sinks = {log::file(arguments[1])};
  const auto started = log::Log::start(options);
  if (!started) return std::fprintf(stderr, "%s\n", started.error().describe().c_str()), 1;
  (*started)->logger("consume").info("{} record", 1);
}

// SPDX-License-Identifier: Apache-2.0
