#include "katana/observe/otlp/logs.hpp"

#include <algorithm>
#include <charconv>

namespace katana::otlp {
namespace {

constexpr Bytes logger_key = "logger";
constexpr Bytes thread_key = "thread.id";

// Reads a number from lowercase hexadecimal digits. Zero is not an id.
bool read_hex(Bytes digits, std::uint64_t& number) noexcept {
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return read.ec == std::errc() && read.ptr == digits.data() + digits.size() &&
         digits.front() != '-';
}

}  // namespace

void LogLayout::add(const log::Entry& entry, log::Buffer& out) {
  record_.clear();
  ProtobufWriter to(record_);
  const std::size_t record = to.begin(2);
  const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(entry.wall_ns, 0));
  to.fixed64(1, time);
  to.varint(2, severity_number(entry.site->level));
  to.string(3, log::level_name(entry.site->level));
  message_.clear();
  entry.site->plan.format(entry.arguments, message_, scratch_);
  const std::size_t body = to.begin(5);
  to.string(1, Bytes(message_.data(), message_.size()), true);
  to.end(body);
  const auto add_attribute = [&to](Bytes key, const auto& value_of) {
    const std::size_t attribute = to.begin(6);
    to.string(1, key);
    const std::size_t value = to.begin(2);
    value_of();
    to.end(value);
    to.end(attribute);
  };
  if (!entry.site->logger.empty()) {
    add_attribute(logger_key, [&] { to.string(1, entry.site->logger, true); });
  }
  add_attribute(thread_key, [&] { to.varint(3, entry.thread_id, true); });
  for (std::span<const log::Value> fields = entry.fields; !fields.empty();) {
    fields = fields.subspan(add_field(fields, fields.front().name, to));
  }
  to.fixed64(11, time);
  to.end(record);
  log::append(out, record_);
}

std::size_t LogLayout::add_field(std::span<const log::Value> values, Bytes name,
                                 ProtobufWriter& out) {
  if (take_id(values.front(), name, out)) return 1;
  const std::size_t attribute = out.begin(6);
  // A key is unique: the keys of the layout are reserved.
  const bool is_taken = name == logger_key || name == thread_key;
  out.string(1, is_taken ? std::string(name) + "_" : std::string(name));
  const std::size_t value = out.begin(2);
  const std::size_t count = add_value(values, out);
  out.end(value);
  out.end(attribute);
  return count;
}

bool LogLayout::take_id(const log::Value& value, Bytes name, ProtobufWriter& out) {
  if (value.kind != log::Kind::text || value.cut) return false;
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  if (name == "trace_id" && value.text.size() == 32) {
    if (!read_hex(value.text.substr(0, 16), high) || !read_hex(value.text.substr(16), low)) {
      return false;
    }
    if (high == 0 && low == 0) return false;
    out.id(9, high, low);
    return true;
  }
  if (name != "span_id" || value.text.size() != 16 || !read_hex(value.text, low) || low == 0) {
    return false;
  }
  out.id(10, low);
  return true;
}

// Writes the fields of an AnyValue; returns the number of consumed values.
std::size_t LogLayout::add_value(std::span<const log::Value> values, ProtobufWriter& out) {
  const log::Value& value = values.front();
  switch (value.kind) {
    case log::Kind::object: return add_object(values, out);
    case log::Kind::boolean: out.varint(2, value.unsigned_integer, true); return 1;
    case log::Kind::signed_integer:
      out.varint(3, static_cast<std::uint64_t>(value.signed_integer), true);
      return 1;
    case log::Kind::unsigned_integer:
      if (value.unsigned_integer > INT64_MAX) break;  // as text: there is no wider integer
      out.varint(3, value.unsigned_integer, true);
      return 1;
    case log::Kind::real32:
    case log::Kind::real64: out.number(4, value.real, true); return 1;
    case log::Kind::text:
      if (value.cut) break;
      out.string(1, value.text, true);
      return 1;
    case log::Kind::character:
    case log::Kind::pointer:
    case log::Kind::object_end: break;
  }
  scratch_.clear();
  const std::size_t count = log::append_value(values, scratch_);
  out.string(1, Bytes(scratch_.data(), scratch_.size()), true);
  return count;
}

std::size_t LogLayout::add_object(std::span<const log::Value> values, ProtobufWriter& out) {
  const std::size_t list = out.begin(6);
  std::size_t at = 1;
  while (at < values.size() && values[at].kind != log::Kind::object_end) {
    const std::size_t member = out.begin(1);
    out.string(1, values[at].name);
    const std::size_t value = out.begin(2);
    at += add_value(values.subspan(at), out);
    out.end(value);
    out.end(member);
  }
  out.end(list);
  return std::min(at + 1, values.size());
}

std::size_t cut_records(Bytes records, std::size_t& count) noexcept {
  const std::size_t count_max = count;
  count = 0;
  ProtobufReader in(records);
  std::size_t bytes = 0;
  while (count < count_max && in.next()) {
    ++count;
    bytes = records.size() - in.rest();
  }
  return bytes;
}

}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
