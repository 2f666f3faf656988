// Plan: a pattern, parsed once: the writer parses none twice.
//
// A replacement field without a specification is formatted directly; one with a specification goes
// to fmt alone. A pattern with numbered arguments or nested fields goes to fmt whole.
//
// Owns       the literal text, already escaped for a line (text_layout.hpp).
// Thread     const: any. Formatting uses the given scratch buffer.
// Allocates  when it is made; formatting only when the scratch buffer grows.
// Fails      never: a value that cannot be formatted becomes a message that says so. (The compiler
//            has checked patterns; those of a damaged file are not checked.)
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "katana/observe/log/capture.hpp"
#include "katana/observe/log/context.hpp"

namespace katana::log {

using Buffer = fmt::memory_buffer;  // its capacity is kept between records

// Appends to the buffer.
inline void append(Buffer& buffer, Bytes text) {
  const std::size_t at = buffer.size();
  buffer.resize(at + text.size());  // grows only when it must: the usual capacity is kept
  copy_text(buffer.data() + at, text.data(), text.size());
}

// The smallest entry of a context is a boolean.
inline constexpr std::size_t context_entries_max = context_bytes_max / (sizeof(char*) + 2);

// One captured value, read back.
struct Value {
  Value() noexcept : Value(Kind::object_end) {}
  explicit Value(Kind value_kind) noexcept : kind(value_kind), unsigned_integer(0) {}

  Kind kind;         // decides which of the members below is used
  bool cut = false;  // text
  Bytes name;        // of a field or a member; empty for an argument of the pattern
  union {
    std::int64_t signed_integer;     // of Kind::signed_integer
    std::uint64_t unsigned_integer;  // also of boolean, character and pointer
    double real;                     // of real32 and real64
  };
  Bytes text;  // of Kind::text, without the part that was cut
};

// Appends one value as "{}" would; text as it is, an object as {name: value, …}. Returns the number
// of consumed values: an object's members follow it.
std::size_t append_value(std::span<const Value> values, Buffer& out);

class Plan {
 public:
  Plan() = default;
  explicit Plan(Bytes pattern);

  // Formats the message like fmt. `scratch` is for intermediate text.
  void format(std::span<const Value> arguments, Buffer& out, Buffer& scratch) const;
  // As format, with external values (text, objects) passed through `escape`: escape(text, out).
  template <class Escape>
  void format_escaped(std::span<const Value> arguments, Buffer& out, Buffer& scratch,
                      const Escape& escape) const;

 private:
  struct Step {
    std::string literal;        // before the field
    std::string specification;  // "{:…}", or empty for "{}"
    bool has_field = false;
    bool literal_is_plain = false;  // nothing in it needs an escape in any layout
  };
  static void format_specified(const std::string& specification, std::span<const Value> value,
                               Buffer& out);
  void format_whole(std::span<const Value> arguments, Buffer& out) const;
  bool parse(Bytes pattern);

  std::vector<Step> steps_;
  std::string whole_;  // not empty: the pattern goes to fmt as it is
};

// The number of values that the first one occupies: itself, or an object with its members and end.
std::size_t extent(std::span<const Value> values) noexcept;

template <class Escape>
void Plan::format_escaped(std::span<const Value> arguments, Buffer& out, Buffer& scratch,
                          const Escape& escape) const {
  if (!whole_.empty()) {
    scratch.clear();
    format_whole(arguments, scratch);
    escape(Bytes(scratch.data(), scratch.size()), out);
    return;
  }
  for (const Step& step : steps_) {
    if (step.literal_is_plain)
      append(out, step.literal);
    else
      escape(step.literal, out);
    if (!step.has_field || arguments.empty()) continue;
    const std::size_t count = extent(arguments);
    const Value& value = arguments.front();
    if (step.specification.empty() && value.kind == Kind::text) {
      escape(value.text, out);
      if (value.cut) append(out, "…");
    } else if (step.specification.empty() && value.kind != Kind::object &&
               value.kind != Kind::character) {
      append_value(arguments, out);  // digits and letters only
    } else {
      scratch.clear();
      if (step.specification.empty())
        append_value(arguments, scratch);
      else
        format_specified(step.specification, arguments.subspan(0, count), scratch);
      escape(Bytes(scratch.data(), scratch.size()), out);
    }
    arguments = arguments.subspan(count);
  }
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
