// write_report: the rows of the benchmark as Markdown, with the machine and what limits them.
//
// Thread: a function of its arguments, and of what /proc says about the machine. Allocates: text.
#pragma once

#include <string>
#include <vector>

#include "lab/load/benchmark/trial.hpp"

namespace katana::load {

struct Section {
  std::string title;
  std::string question;  // the question of the table, and how it was measured
  bool counts_connections = false;
  std::vector<Row> rows;
};

struct ReportContext {
  std::string command;
  std::string url;
  std::string server;  // as far as it is known
  double server_rss_mib = 0;
  unsigned threads = 1;
  double took_s = 0;
};

std::string write_report(const ReportContext& context, const std::vector<Section>& sections);

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
