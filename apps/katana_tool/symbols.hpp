// Symbols: functions and lines of source for the addresses of a crash report, by llvm-symbolizer or
// addr2line.
//
// A file has the symbols of a module if it has the module's build ID. The tool looks in
// these places, in this order.
//   DIR/.build-id/ab/cdef….debug, DIR/NAME and DIR/NAME.debug of --debug-dir
//   /usr/lib/debug/.build-id/ab/cdef….debug, where Debian's -dbgsym packages put it
//   the module itself, at the path in the report
//
// Owns       what it has found.
// Thread     one.
// Allocates  freely.
// Fails      load() with the program that is missing or failed. Modules without symbols are no
//            failure: problems() names them.
// Invariant  a file with another build ID is never asked.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/observe/crash/report.hpp"

namespace katana::tool {

// One function at an address. Inlined functions have the address, too.
struct Symbol {
  std::string function;
  std::string location;  // "katana/app/program.cpp:12"; empty: not known
};

// Reads the output of addr2line -a -f -C -i, or of llvm-symbolizer with --output-style=GNU. The
// keys are addresses.
std::map<std::uint64_t, std::vector<Symbol>> parse_symbols(const std::string& output);

class Symbols {
 public:
  explicit Symbols(std::string debug_folder) : debug_folder_(std::move(debug_folder)) {}

  Result<void> load(const crash::Report& report);
  // The innermost first; empty: none are known.
  std::vector<Symbol> at(const crash::Frame& frame) const;
  // A sentence for each module without symbols.
  const std::vector<std::string>& problems() const noexcept { return problems_; }

 private:
  using Module = std::pair<std::string, std::string>;  // path and build ID

  std::string file_of(const Module& module);

  const std::string debug_folder_;
  std::map<Module, std::map<std::uint64_t, std::vector<Symbol>>> symbols_;
  std::vector<std::string> problems_;
};

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
