#include "katana/config/printer.hpp"

#include <algorithm>

namespace katana::config {

void Printing::line(Bytes name, Bytes value) {
  constexpr std::size_t comment_column = 40;
  std::string out(depth * 2, ' ');
  out += quoted_if_needed(name);
  out += ':';
  if (!value.empty()) {
    const auto origin = origins.find(path);
    out += ' ';
    out += value;
    out.resize(std::max(out.size() + 1, comment_column), ' ');
    out += "# " + (origin == origins.end() ? Origin() : origin->second).describe();
  }
  text += out + '\n';
}

}  // namespace katana::config
