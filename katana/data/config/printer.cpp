#include "katana/data/config/printer.hpp"

#include <algorithm>

namespace katana::config {

namespace {

constexpr std::size_t comment_column = 40;

void append_comment(std::string& line, const std::string& comment) {
  line.resize(std::max(line.size() + 1, comment_column), ' ');
  line += "# " + comment;
}

}  // namespace

namespace detail {

void print_described(std::string& out, const std::string& before, Bytes name, Bytes value,
                     Bytes text) {
  std::string line = before;
  line += name;
  line += ':';
  if (!value.empty()) line += ' ' + std::string(value);
  if (!text.empty()) append_comment(line, std::string(text));
  out += line + '\n';
}

}  // namespace detail

void Printing::line(Bytes name, Bytes value) {
  std::string out(depth * 2, ' ');
  out += quoted_if_needed(name);
  out += ':';
  if (!value.empty()) {
    const auto origin = origins.find(path);
    out += ' ';
    out += value;
    append_comment(out, (origin == origins.end() ? Origin() : origin->second).describe());
  }
  text += out + '\n';
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
