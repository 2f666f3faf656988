// Entry: a record as the layouts see it, read from a ring or from a binary file.
//
// Borrows    everything: valid as long as the record that it was read from.
// Thread     a value.
// Allocates  never.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "katana/observe/log/capture.hpp"
#include "katana/observe/log/field_label.hpp"
#include "katana/observe/log/level.hpp"
#include "katana/observe/log/plan.hpp"

namespace katana::log {

// The common data of all records of one call site and one logger.
struct Site {
  std::uint32_t id = 0;                // unique in its process or file
  Level level = Level::info;           // of all its records
  std::uint32_t line = 0;              // of the source, from 1
  Bytes logger;                        // name of the logger
  Bytes pattern;                       // with its replacement fields
  Bytes file;                          // as the compiler names it
  Bytes function;                      // as the compiler names it
  std::span<const Slot> slots;         // of arguments and fields, in order
  std::uint16_t positional_slots = 0;  // those of the pattern; the rest are fields
  std::span<const Bytes> field_names;  // of the fields in `slots`
  std::vector<FieldLabel> labels;      // of the fields, as far as they exist yet
  Plan plan;                           // made of `pattern`
};

// The array size for the values of a context.
inline constexpr std::size_t context_values_max = context_entries_max;

struct Entry {
  const Site* site = nullptr;        // never null in a layout
  std::int64_t wall_ns = 0;          // since 1970, UTC
  std::uint32_t thread_id = 0;       // gettid(2) of the thread that logged
  std::span<const Value> arguments;  // of the pattern
  std::span<const Value> fields;     // named, the context's last; objects with their members
  Bytes raw_arguments;               // both as captured
  Bytes raw_context;                 // empty for an entry from a file
};

// The decoded values of one record. One decoder for each decoding thread.
class Decoder {
 public:
  // Sets the spans of `entry`; false if the bytes do not match the site.
  bool decode(Entry& entry, Bytes arguments) noexcept;
  // Adds one more field at the end; false when there is no room.
  bool add_field(Entry& entry, const Value& value) noexcept;

  // Takes one value from the front of `octets`, and shortens it.
  static std::optional<Value> take(Kind kind, Bytes& octets) noexcept;

 private:
  static bool read(Kind kind, Bytes& octets, Value& value) noexcept;

  std::array<Value, slots_max + context_values_max> values_;
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
