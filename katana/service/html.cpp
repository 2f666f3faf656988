#include "katana/service/html.hpp"

#include <algorithm>

namespace katana {
namespace {

constexpr Bytes reference_of(char c) noexcept {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    default: return "&#39;";
  }
}

}  // namespace

void append_html(std::string& to, Bytes text) {
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find_first_of("&<>\"'"), text.size());
    to.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    to.append(reference_of(text.front()));
    text.remove_prefix(1);
  }
}

std::string escape_html(Bytes text) {
  std::string escaped;
  escaped.reserve(text.size());
  append_html(escaped, text);
  return escaped;
}

}  // namespace katana
