// read_samples(): the samples of the text that /metrics has (Prometheus text 0.0.4).
//
// Owns       its texts.
// Thread     any.
// Allocates  freely.
// Fails      never: a line that is no sample is left out.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace katana::tool {

// One line.
struct Sample {
  std::string name = {};
  std::map<std::string, std::string> labels = {};
  double value = 0;

  // Empty: it has no such label.
  std::string label(const std::string& of) const {
    const auto found = labels.find(of);
    return found != labels.end() ? found->second : std::string();
  }
};

// Those whose names begin with `prefix`.
std::vector<Sample> read_samples(std::string_view text, std::string_view prefix);

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
