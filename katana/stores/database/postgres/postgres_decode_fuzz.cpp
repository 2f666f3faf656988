// Invariant: any bytes that a server sends as a column are a value of its form, or broken. The
// reader of an array or a composite takes the whole text that is made of it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/stores/database/composite_text.hpp"
#include "katana/stores/database/postgres/type_table.hpp"
#include "katana/stores/database/postgres/types.hpp"

namespace {

using namespace katana;
using namespace katana::database;
using namespace katana::database::postgres;

constexpr std::uint32_t address_type = 16'400, nested_type = 16'401, array_type = 16'402;

const TypeTable& schema() {
  static const TypeTable types = [] {
    TypeTable made;
    made.add(address_type, "address", "c", "0", R"([["street",25],["zip",23],["at",1184]])");
    made.add(nested_type, "nested", "c", "0", R"([["home",16400],["all",16402],["n",1700]])");
    made.add(array_type, "_address", "a", "16400", "");
    return made;
  }();
  return types;
}

void read_array(Bytes text);
void read_composite(Bytes text);
void read(const ArrayReader::Element& element) {
  KATANA_CHECK(element.kind != ArrayReader::Kind::broken);
  if (element.kind == ArrayReader::Kind::array) read_array(element.text);
  if (element.kind == ArrayReader::Kind::object) read_composite(element.text);
}
void read_array(Bytes text) {
  ArrayReader reader(text);
  for (auto each = reader.next(); each.kind != ArrayReader::Kind::end; each = reader.next()) {
    read(each);
  }
}
void read_composite(Bytes text) {
  CompositeReader reader(text);
  for (auto each = reader.next(); each.value.kind != ArrayReader::Kind::end; each = reader.next()) {
    read(each.value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto form = static_cast<Form>(data[0] % (static_cast<unsigned>(Form::nothing) + 1));
  const std::uint32_t type = data[0] >= 128 ? address_type : nested_type;
  const Bytes octets(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string room;
  const Value value = decode(schema(), type, form, octets, room);
  if (value.type != Value::Type::text) return 0;
  if (form == Form::array) read_array(value.octets);
  if (form == Form::composite) read_composite(value.octets);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
