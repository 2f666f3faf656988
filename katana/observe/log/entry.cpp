#include "katana/observe/log/entry.hpp"

namespace katana::log {

namespace {

// Reads a T from the front into a member of the value.
template <class T, class Member>
bool read_number(Bytes& octets, Member& member) noexcept {
  if (octets.size() < sizeof(T)) return false;
  T number;
  std::memcpy(&number, octets.data(), sizeof number);
  octets.remove_prefix(sizeof number);
  member = static_cast<Member>(number);
  return true;
}

bool read_text(Bytes& octets, Value& value) noexcept {
  std::uint32_t length = 0;
  if (!read_number<std::uint32_t>(octets, length)) return false;
  const std::uint32_t size = length & ~text_cut_bit;
  if (size > octets.size()) return false;
  value.text = octets.substr(0, size);
  value.cut = (length & text_cut_bit) != 0;
  octets.remove_prefix(size);
  return true;
}

}  // namespace

inline bool Decoder::read(Kind kind, Bytes& octets, Value& value) noexcept {
  value.kind = kind;
  switch (kind) {
    // Read as a byte: a bool with a value other than 0 and 1 would be undefined.
    case Kind::boolean:
    case Kind::character: return read_number<std::uint8_t>(octets, value.unsigned_integer);
    case Kind::signed_integer: return read_number<std::int64_t>(octets, value.signed_integer);
    case Kind::unsigned_integer:
    case Kind::pointer: return read_number<std::uint64_t>(octets, value.unsigned_integer);
    case Kind::real32: return read_number<float>(octets, value.real);
    case Kind::real64: return read_number<double>(octets, value.real);
    case Kind::text: return read_text(octets, value);
    case Kind::object:
    case Kind::object_end: return true;
  }
  return false;
}

std::optional<Value> Decoder::take(Kind kind, Bytes& octets) noexcept {
  Value value(kind);
  if (!read(kind, octets, value)) return std::nullopt;
  return value;
}

bool Decoder::decode(Entry& entry, Bytes arguments) noexcept {
  const Site& site = *entry.site;
  if (site.slots.size() > slots_max) return false;
  entry.raw_arguments = arguments;
  std::size_t count = 0, depth = 0;
  auto name = site.field_names.begin();
  for (const Slot& slot : site.slots) {
    Value& value = values_[count];
    if (!read(slot.kind, arguments, value)) return false;
    if (slot.kind == Kind::object_end) --depth;
    const bool is_field = depth == 0 && count >= site.positional_slots;
    value.name = is_field && slot.kind != Kind::object_end ? *name++ : slot.name;
    if (slot.kind == Kind::object) ++depth;
    ++count;
  }
  entry.arguments = {values_.data(), site.positional_slots};
  entry.fields = {values_.data() + site.positional_slots, count - site.positional_slots};
  return arguments.empty();
}

bool Decoder::add_field(Entry& entry, const Value& value) noexcept {
  const std::size_t count = entry.arguments.size() + entry.fields.size();
  if (count == values_.size()) return false;
  values_[count] = value;
  entry.fields = {values_.data() + entry.arguments.size(), entry.fields.size() + 1};
  return true;
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
