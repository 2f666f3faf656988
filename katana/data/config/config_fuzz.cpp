// Any text of a file is refused with words, or read as a value. The printed value is read again as
// the same value.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/data/config/printer.hpp"
#include "katana/data/config/reader.hpp"
#include "katana/data/config/yaml.hpp"

namespace katana::config {

struct Inner {
  std::uint16_t port = 1;
  Duration wait = seconds(1);
};
KATANA_DESCRIBE(Inner, (port, at_least(1)), wait)

struct Outer {
  std::string a = "x";
  bool b = false;
  std::int64_t c = 0;
  double d = 0;
  ByteCount e;
  std::optional<Inner> f;
  std::vector<Inner> g;
  std::map<std::string, std::string> h;
};
KATANA_DESCRIBE(Outer, a, b, c, d, e, f, g, h)

// Null: it was refused.
std::unique_ptr<Outer> read(Bytes text) {
  Origin origin{.kind = Origin::Kind::file,
                .name = std::make_shared<const std::string>("fuzz.yaml")};
  Problems problems;
  const Node root = read_yaml(text, origin, problems);
  const Shape shape = shape_of<Outer>();
  Reading reading{.problems = problems, .root = shape};
  auto value = std::make_unique<Outer>();
  read_group(reading, &root, *value, shape);
  if (problems.empty()) return value;
  if (problems.error().message().empty()) std::abort();
  return nullptr;
}

}  // namespace katana::config

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana::config;
  const auto value = read({reinterpret_cast<const char*>(data), size});
  if (value == nullptr) return 0;
  const std::string text = write_value(*value);
  const auto again = read(text);
  if (again == nullptr || write_value(*again) != text) std::abort();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
