// Invariant: for any names and texts, reading ends within its bounds. An accepted value can be
// written as JSON and as names with brackets.
#include "katana/data/container/form_read.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/shapes_fuzz.hpp"

namespace {

using namespace katana;
using namespace katana::container;

template <class T>
void read_as(const FormTree& tree) {
  T value{};
  Findings findings;
  if (read_form(tree, value, findings)) {
    KATANA_CHECK(!to_json(value).empty());
    return;
  }
  KATANA_CHECK(!findings.empty());
  for (const Finding& each : findings.list()) (void)bracket_name(each.pointer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Lines of a name, '=' and a text.
  Bytes rest(reinterpret_cast<const char*>(data), size);
  FormTree tree;
  while (!rest.empty()) {
    const Bytes line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() == rest.size() ? line.size() : line.size() + 1);
    const std::size_t at = std::min(line.find('='), line.size());
    FormLeaf leaf{std::string(line.substr(std::min(at + 1, line.size())))};
    (void)tree.add(line.substr(0, at), std::move(leaf));
  }
  read_as<Everything>(tree);
  read_as<Changes>(tree);
  Value value;
  Findings findings;
  KATANA_CHECK(read_form(tree, value, findings));
  (void)bracket_pairs("a", value);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
