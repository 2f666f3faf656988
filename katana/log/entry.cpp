#include "katana/log/entry.hpp"

namespace katana::log {

namespace {

template <class T>
std::optional<T> take_as(Bytes& octets) noexcept {
  if (octets.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, octets.data(), sizeof value);
  octets.remove_prefix(sizeof value);
  return value;
}

std::optional<Value> take_text(Bytes& octets) noexcept {
  const auto length = take_as<std::uint32_t>(octets);
  if (!length) return std::nullopt;
  const std::uint32_t size = *length & ~text_cut_bit;
  if (size > octets.size()) return std::nullopt;
  Value value(Kind::text);
  value.text = octets.substr(0, size);
  value.cut = (*length & text_cut_bit) != 0;
  octets.remove_prefix(size);
  return value;
}

template <class T, class Member>
std::optional<Value> take_number(Kind kind, Bytes& octets, Member Value::* member) noexcept {
  const auto number = take_as<T>(octets);
  if (!number) return std::nullopt;
  Value value(kind);
  value.*member = static_cast<Member>(*number);
  return value;
}

}  // namespace

std::optional<Value> Decoder::take(Kind kind, Bytes& octets) noexcept {
  switch (kind) {
    // As an octet: another value than 0 and 1 in a bool would be undefined.
    case Kind::boolean: return take_number<std::uint8_t>(kind, octets, &Value::unsigned_integer);
    case Kind::character: return take_number<std::uint8_t>(kind, octets, &Value::unsigned_integer);
    case Kind::signed_integer:
      return take_number<std::int64_t>(kind, octets, &Value::signed_integer);
    case Kind::unsigned_integer:
    case Kind::pointer: return take_number<std::uint64_t>(kind, octets, &Value::unsigned_integer);
    case Kind::real32: return take_number<float>(kind, octets, &Value::real);
    case Kind::real64: return take_number<double>(kind, octets, &Value::real);
    case Kind::text: return take_text(octets);
    case Kind::object:
    case Kind::object_end: return Value(kind);
  }
  return std::nullopt;
}

bool Decoder::decode(Entry& entry, Bytes arguments) noexcept {
  const Site& site = *entry.site;
  entry.raw_arguments = arguments;
  std::size_t count = 0, depth = 0;
  auto name = site.field_names.begin();
  for (const Slot& slot : site.slots) {
    const std::optional<Value> value = take(slot.kind, arguments);
    if (!value || count == slots_max) return false;
    values_[count] = *value;
    if (slot.kind == Kind::object_end) {
      --depth;
    } else if (depth == 0 && count >= site.positional_slots) {
      values_[count].name = *name++;
    } else {
      values_[count].name = slot.name;
    }
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
