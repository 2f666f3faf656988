// Everything: a struct with a member of each kind, for the fuzzers of the formats.
//
// Thread     a value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "katana/base/values/any_of.hpp"
#include "katana/base/values/box.hpp"
#include "katana/base/values/described_variant.hpp"
#include "katana/base/values/patch.hpp"
#include "katana/data/container/binary_write.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/value.hpp"

namespace katana::container {

enum class Colour : std::uint8_t { red, green };
KATANA_DESCRIBE_ENUM(Colour, red, green)

struct Inner {
  std::string s;
  std::int8_t i = 0;
};
KATANA_DESCRIBE(Inner, (s, length(0, 4), defaulted), (i, range(-9, 9), defaulted))

struct Everything {
  bool b = false;
  std::int64_t n = 0;
  std::uint16_t u = 0;
  double d = 0;
  float f = 0;
  std::string s;
  std::optional<std::string> o;
  Colour c = Colour::red;
  Octets x;
  std::vector<Inner> l;
  std::map<std::string, int> m;
  Value v;
  AnyOf<std::int64_t, double, std::string, Inner> a;
  std::optional<Box<Inner>> p;
};
KATANA_DESCRIBE(Everything, (b, defaulted), (n, defaulted), (u, defaulted), (d, defaulted),
                (f, defaulted), (s, defaulted), o, (c, defaulted), (x, defaulted),
                (l, length(0, 3), defaulted), (m, each(at_least(-5)), defaulted), (v, defaulted),
                (a, defaulted), p)

// Shapes that the binary format does not support.
struct Dot {
  std::int8_t x = 0;
};
KATANA_DESCRIBE(Dot, (x, range(-9, 9)))
struct Group;
using Form = std::variant<Dot, Group>;
struct Group {
  std::vector<Form> l;
  Patch<std::string> s;
};
KATANA_DESCRIBE(Group, (l, length(0, 3), defaulted), s)
KATANA_DESCRIBE_VARIANT(Form, "k", (Dot, "d"), (Group, "g"))
struct Changes {
  Patch<int> n;
  Patch<Form> f;
  Patch<std::vector<Inner>> l;
  Patch<AnyOf<Colour, bool, Dot, Inner, std::vector<Form>>> a;
  Patch<Box<Changes>> c;
};
KATANA_DESCRIBE(Changes, (n, at_least(-5)), f, (l, not_null), a, (c, not_null))

// Compared by bytes, because a NaN is not equal to itself.
inline bool is_same(const Everything& a, const Everything& b) {
  return to_binary(a) == to_binary(b);
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
