// Entry: a record as the layouts see it, wherever it came from: a ring or a binary file.
//
// Borrows    everything: valid until the record it was read from is gone.
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

// What all records of one call site and one logger have in common.
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
  std::vector<FieldLabel> labels;      // of the fields, as far as they were made
  Plan plan;                           // made of `pattern`
};

// Array size for the values of a context.
inline constexpr std::size_t context_values_max = context_entries_max;

struct Entry {
  const Site* site = nullptr;        // never null in a layout
  std::int64_t wall_ns = 0;          // since 1970, UTC
  std::uint32_t thread_id = 0;       // gettid(2) of the thread that logged
  std::span<const Value> arguments;  // of the pattern
  std::span<const Value> fields;     // named, the context's last; objects with their members
  Bytes raw_arguments;               // both as captured
  Bytes raw_context;                 // empty where it came from a file
};

// Values of one record, decoded. One for each thread that decodes.
class Decoder {
 public:
  // Sets the spans of `entry`; false if the bytes are not what the site says.
  bool decode(Entry& entry, Bytes arguments) noexcept;
  // Adds one more field behind them; false when there is no room.
  bool add_field(Entry& entry, const Value& value) noexcept;

  // One value from the front of `octets`, which is shortened by it.
  static std::optional<Value> take(Kind kind, Bytes& octets) noexcept;

 private:
  static bool read(Kind kind, Bytes& octets, Value& value) noexcept;

  std::array<Value, slots_max + context_values_max> values_;
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
