// Report: the JSON that katana_lab reads of a micro-benchmark: rows of figures, and targets.
//
// Owns       its document.
// Thread     one.
// Allocates  freely.
// Fails      write() is false where the file cannot be written.
#pragma once

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace micro {

// A figure as the median of its rounds, with the least and the greatest.
struct ReportRow {
  std::string_view question;
  std::string_view subject;
  std::string_view unit;
  std::string_view better = "lower";
  double value = 0;
  double low = 0;
  double high = 0;
  std::optional<double> instructions = {};
};

class Report {
 public:
  explicit Report(std::string_view system)
      : document_{{"system", system}, {"rows", Json::array()}, {"targets", Json::array()}} {}

  void add(const ReportRow& row) {
    document_["rows"].push_back({{"question", row.question},
                                 {"subject", row.subject},
                                 {"value", number(row.value)},
                                 {"low", number(row.low)},
                                 {"high", number(row.high)},
                                 {"unit", row.unit},
                                 {"better", row.better},
                                 {"instructions", number(row.instructions.value_or(NAN))}});
  }
  void add_target(std::string_view text, double value, double limit, bool at_most, bool met) {
    document_["targets"].push_back({{"text", text},
                                    {"value", number(value)},
                                    {"limit", limit},
                                    {"direction", at_most ? "at most" : "at least"},
                                    {"met", met}});
  }
  bool write(const std::string& path) const {
    std::ofstream file(path);
    file << document_.dump(1) << '\n';
    file.close();
    return !file.fail();
  }

 private:
  using Json = nlohmann::ordered_json;

  // Values for which JSON has no number become null.
  static Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

  Json document_;
};

}  // namespace micro

// SPDX-License-Identifier: Apache-2.0
