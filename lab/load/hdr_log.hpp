// HdrLog: the interval log of HdrHistogram, format 1.3, with histograms in its V2 encoding,
// deflated and in base64. Public tools read it, and add logs of several machines up exactly.
//
// Owns       the file.
// Thread     one.
// Allocates  for each line.
// Fails      open() and close() say why; a write that failed is reported by close().
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "katana/base/system/result.hpp"
#include "lab/load/histogram.hpp"

namespace katana::load {

// V2: cookie, header, counts as zigzag LEB128 with runs of zeros as negative numbers.
std::string encode_v2(const Histogram& histogram);
// The same, deflated behind a cookie, in base64.
std::string encode_compressed_v2(const Histogram& histogram);

class HdrLog {
 public:
  static Result<HdrLog> create(const std::string& path);

  // Before the first line: when the log's time 0 was, in seconds since 1970.
  void write_header(double base_epoch_s, std::string_view comment);
  // `begin_s` since time 0. An interval without values is a line, too.
  void write_interval(double begin_s, double duration_s, const Histogram& histogram);
  Result<void> close();

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::string path_;
};

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
