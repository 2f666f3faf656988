#include "katana/data/config/table.hpp"

namespace katana::config {
namespace detail {

std::string read_enumerator(const ScalarType& type, const Node& node, bool, void* value) {
  return read_name(node, type.names, type.size, value);
}

std::string write_enumerator(const ScalarType& type, bool, const void* value) {
  return write_name(type.names, type.size, value);
}

std::string words_of_enumerators(const ScalarType& type) { return words_of_names(type.names); }

}  // namespace detail

template const Type& type_of<bool>();
template const Type& type_of<signed char>();
template const Type& type_of<unsigned char>();
template const Type& type_of<short>();
template const Type& type_of<unsigned short>();
template const Type& type_of<int>();
template const Type& type_of<unsigned>();
template const Type& type_of<long>();
template const Type& type_of<unsigned long>();
template const Type& type_of<long long>();
template const Type& type_of<unsigned long long>();
template const Type& type_of<float>();
template const Type& type_of<double>();
template const Type& type_of<std::string>();
template const Type& type_of<Duration>();
template const Type& type_of<ByteCount>();
template const Type& type_of<std::optional<Duration>>();
template const Type& type_of<std::optional<std::string>>();
template const Type& type_of<std::vector<std::string>>();
template const Type& type_of<std::vector<Duration>>();
template const Type& type_of<std::map<std::string, std::string>>();

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
