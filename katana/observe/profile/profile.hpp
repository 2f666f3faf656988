// Profile: where a process spent its time or its memory. It has stacks, the number of times that
// each was found, and the work that they were for.
// pprof.hpp, folded.hpp and flame_graph.hpp write it.
//
// Owns       its values.
// Thread     a value.
// Allocates  freely.
// Fails      never.
// Invariant  places and modules are indices into the lists of the same profile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"

namespace katana::profile {

// The module of an address that is in none.
inline constexpr std::size_t no_module = SIZE_MAX;

// Executable memory of a file: the program, or a library.
struct Module {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;  // of `begin` in the file
  std::uint64_t bias = 0;         // an address minus this is the address within the file
  std::string path;               // as the dynamic linker knows it
  std::string build_id;           // hexadecimal digits; empty: none

  bool operator==(const Module&) const = default;
};

// A function at an address. Inlined functions have the address, too.
struct Line {
  std::string function;    // demangled, with its parameters
  std::string file;        // empty: not known
  std::uint32_t line = 0;  // from 1; 0: not known

  bool operator==(const Line&) const = default;
};

// An address of code. A call has the last byte of its call instruction.
struct Place {
  std::uint64_t address = 0;       // in the memory of the process
  std::size_t module = no_module;  // an index into Profile::modules
  std::vector<Line> lines;         // the innermost first; empty: not symbolised

  bool operator==(const Place&) const = default;
};

// The work that a stack was found in. Empty: not known, or not distinguished.
struct Labels {
  std::string thread;   // its name
  std::string route;    // "GET /users/{id}"
  std::string request;  // an id
  std::string trace;    // an id

  bool operator==(const Labels&) const = default;
  auto operator<=>(const Labels&) const = default;
};

// A stack, and how often it was found.
struct Found {
  std::vector<std::size_t> places;  // the innermost first
  Labels labels;                    // what it was found for
  std::int64_t count = 0;           // of samples; of memory: of allocations
  std::int64_t ns = 0;              // the time that they stand for; of memory: bytes

  bool operator==(const Found&) const = default;
};

// The meaning of the times.
enum class Kind : std::uint8_t {
  cpu,          // of the processor
  waiting,      // of requests that wait
  allocations,  // no times, but bytes that were allocated
  growth,       // those of them that were not freed
};
// The values of a kind have no unit of time.
constexpr bool is_memory(Kind kind) noexcept {
  return kind == Kind::allocations || kind == Kind::growth;
}
// "cpu", "waiting", "allocations", "growth".
std::string name_of(Kind kind);
// A value of this kind for people: "1.25 s", "3.1 MiB".
std::string amount_text(Kind kind, std::int64_t amount);

struct Profile {
  Kind kind = Kind::cpu;       // what its times are
  std::string program;         // its name; empty: not known
  std::int64_t began_ns = 0;   // since 1970
  std::int64_t took_ns = 0;    // of the profile
  std::int64_t period_ns = 0;  // between two samples; of memory: bytes
  std::uint64_t lost = 0;      // samples without room
  // Threads that were not sampled: there were too many, or the kernel refused a timer.
  std::uint64_t threads_left_out = 0;
  std::vector<Module> modules;  // the program first
  std::vector<Place> places;    // each address once
  std::vector<Found> found;     // in no order

  // The sums over all stacks, without what was lost.
  std::int64_t total_ns() const noexcept;
  std::int64_t samples() const noexcept;  // likewise
  bool operator==(const Profile&) const = default;
};

// The names of a place, the innermost first; at least one. Without symbols it is
// "notes+0x1234", or the address if it is in no module.
std::vector<std::string> names_of(const Profile& profile, const Place& place);

// The name of the last part of a path.
std::string file_name_of(const std::string& path);

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
