#include "katana/data/config/variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace katana::config {
namespace {

std::vector<std::string> split_by_separator(Bytes text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t at = text.find(variable_separator);
    parts.emplace_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + variable_separator.size());
  }
}

std::string upper(Bytes text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return made;
}

// Removes the last word of `text` with the '_' in front, and returns it.
Bytes take_last_word(Bytes& text) noexcept {
  const std::size_t at = text.rfind('_');
  const Bytes word = at == text.npos ? text : text.substr(at + 1);
  text = at == text.npos ? Bytes() : text.substr(0, at);
  return word;
}

bool is_number(Bytes text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "…PORT" or "…PORT_80_TCP" with "_PROTO", "_PORT" or "_ADDR" behind it.
bool ends_as_port_of_service(Bytes name) noexcept {
  Bytes rest = name;
  Bytes word = take_last_word(rest);
  if (word == "PORT" && (rest.empty() || !rest.ends_with("_TCP"))) return true;
  if (word == "PROTO" || word == "PORT" || word == "ADDR") word = take_last_word(rest);
  if (word != "TCP" && word != "UDP" && word != "SCTP") return false;
  return is_number(take_last_word(rest)) && take_last_word(rest) == "PORT";
}

// True for names that Kubernetes and links of Docker use.
bool is_named_as_service(Bytes name) noexcept {
  return name.ends_with("SERVICE_HOST") || name.find("SERVICE_PORT") != name.npos ||
         ends_as_port_of_service(name);
}

// The variable of the key with this text as its names, joined by single underscores; empty: none.
std::string meant_variable(const Shape& group, Bytes text, const std::string& before) {
  for (const Shape& member : group.members) {
    const std::string name = upper(member.name);
    if (text == name && member.kind != Shape::Kind::group) return before + name;
    if (member.kind != Shape::Kind::group || !text.starts_with(name + "_")) continue;
    const Bytes rest = text.substr(name.size() + 1);
    auto found = meant_variable(member, rest.substr(rest.starts_with('_') ? 1 : 0),
                                before + name + std::string(variable_separator));
    if (!found.empty()) return found;
  }
  return {};
}

bool leads_to_a_key(const Shape& shape, const std::vector<std::string>& path) {
  const Shape* at = &shape;
  for (const std::string& part : path) {
    if (at->kind != Shape::Kind::group && at->kind != Shape::Kind::dictionary) return false;
    at = at->find_any_case(part);
    if (at == nullptr) return false;
  }
  return true;
}

std::string words_for(Bytes name, Bytes prefix, const Shape& shape) {
  const Bytes rest = name.substr(prefix.size());
  const std::string meant = meant_variable(shape, upper(rest), std::string(prefix));
  if (!meant.empty() && meant != name) return fmt::format("sets nothing; did you mean {}?", meant);
  if (is_named_as_service(rest)) return std::string(service_words);
  return fmt::format(
      "sets nothing: it names no group of the configuration; a key is written {}GROUP{}KEY, with "
      "two underscores",
      prefix, variable_separator);
}

}  // namespace

bool is_address_of_service(Bytes name, Bytes value) noexcept {
  constexpr std::array<Bytes, 3> schemes = {"tcp://", "udp://", "sctp://"};
  return ends_as_port_of_service(name) &&
         std::ranges::any_of(schemes, [value](Bytes scheme) { return value.starts_with(scheme); });
}

VariableKeys keys_of_variable(Bytes name, Bytes prefix, Bytes value, const Shape& shape) {
  if (is_address_of_service(name, value)) return {.words = std::string(service_words)};
  const Bytes rest = name.substr(prefix.size());
  VariableKeys keys{.path = split_by_separator(rest)};
  const bool leads = leads_to_a_key(shape, keys.path);
  const Shape* const first = shape.find_any_case(keys.path.front());
  const bool names_group = first != nullptr && keys.path.size() > 1;
  const bool is_whole_group = leads && keys.path.size() == 1 && first->kind == Shape::Kind::group;
  if (leads && !is_whole_group) return keys;
  if (names_group && !is_named_as_service(rest)) return keys;
  // Only noted: several programs of one container may share their variables.
  const AbsentKey* const absent =
      keys.path.size() > 1 ? shape.find_absent(keys.path.front()) : nullptr;
  if (absent != nullptr) {
    return {.words =
                fmt::format("sets nothing: '{}' is of a part that this program does not have: {}",
                            absent->path, absent->remedy)};
  }
  return {.words = words_for(name, prefix, shape)};
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
