// TypeTable: the types of the schema, as far as a connection has met them: enums, domains, arrays
// and composites, which have no fixed numbers. Each is asked for once.
//
// Owns       names, fields.
// Thread     its connection's.
// Allocates  for each type that is added.
// Fails      form_of() is Form::unknown for a type without a value here; problem_of() names the
//            part.
// Invariant  a walk through types ends at depth_max, whatever the server reports of them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/stores/database/postgres/types.hpp"

namespace katana::database::postgres {

// The server's description of a type.
struct SchemaType {
  // The kind of the type; `other`: one without a value here.
  enum class Kind : std::uint8_t { other, enumeration, domain, array, composite };
  // A field of a composite.
  struct Field {
    std::string name;        // of the attribute
    std::uint32_t type = 0;  // its number
  };
  std::string name = {};           // in the catalog; empty: there is no such type
  Kind kind = Kind::other;         // how it is made
  std::uint32_t of = 0;            // of a domain and of an array: what it is made of
  std::vector<Field> fields = {};  // of a composite, in its order
};

// The types that one connection has met.
class TypeTable {
 public:
  // Types within types: deeper ones have no form.
  static constexpr std::size_t depth_max = 8;
  // Asks for one type by its number. The answer has its name, its kind ("e", "d", "a", "c" or "-"),
  // its base type, and its fields. add() takes these columns, in text.
  static const char* const question;
  static constexpr int question_columns = 4;

  // The server's answer. Any other answer is a type of Kind::other.
  void add(std::uint32_t type, Bytes name, Bytes kind, Bytes of, Bytes fields);
  // Notes that the server has no description of the type.
  void add_nothing(std::uint32_t type) { types_.try_emplace(type); }

  // Null: it was not asked for yet.
  const SchemaType* find(std::uint32_t type) const noexcept;
  // The base type of a domain; for another type the type itself.
  std::uint32_t base_of(std::uint32_t type) const noexcept;
  // A type that the server must be asked for before form_of() can answer; 0: none.
  std::uint32_t missing_of(std::uint32_t type, std::size_t depth = 0) const noexcept;
  Form form_of(std::uint32_t type, std::size_t depth = 0) const noexcept;
  // The part without a form: "'point'", or "'home', whose field 'at' is of the type 'point'".
  std::string problem_of(std::uint32_t type) const;

  // Notes that a composite does not fit the description of its type, which was altered since.
  void note_outdated() const noexcept { is_outdated_ = true; }
  // Forgets all types if note_outdated() was called; true: it was.
  bool forget_outdated() noexcept {
    if (!is_outdated_) return false;
    forget();
    return true;
  }
  void forget() noexcept {
    types_.clear();
    is_outdated_ = false;
  }

 private:
  std::unordered_map<std::uint32_t, SchemaType> types_;
  mutable bool is_outdated_ = false;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
