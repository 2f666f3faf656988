// Composition: the configuration of a program, with groups that its parts add.
//
//   Additions additions;
//   additions.groups.push_back(added_group<MailSettings>("mail", "the mail server"));
//   additions.absent.push_back({"redis", "add it with app.use(app::redis())"});
//   auto config = Config<Settings>::load(sources, nullptr, std::move(additions));
//   config->group<MailSettings>("mail")->url
//
// The keys of an added group stand below its name, behind the members of the struct. The reader,
// the printer, the schema and a reload treat both alike.
//
// Owns       the rows of its root; a Value owns its structs. Names are literals.
// Thread     a Composition does not change; a Value as its structs.
// Allocates  when it is made, and for each Value.
// Fails      check(): two groups of one name, or too many members.
// Invariant  a key of `absent` in a source is an error that gives the remedy.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/described.hpp"
#include "katana/data/config/shape.hpp"
#include "katana/data/config/table.hpp"

namespace katana::config {

// Makes a value of a described struct: the defaults, or a copy.
using MakeValue = std::shared_ptr<void> (*)(const void* copied);

// The MakeValue of T.
template <class T>
std::shared_ptr<void> make_value(const void* copied) {
  if (copied == nullptr) return std::make_shared<T>();
  return std::make_shared<T>(*static_cast<const T*>(copied));
}

// A group in addition to the members of the program's struct.
struct AddedGroup {
  Bytes name;             // its key; no member of the struct has it
  Bytes help;             // one sentence about the group
  const Type& (*type)();  // its table
  MakeValue make;         // makes its value
};
// Makes an added group. `name` and `help` are literals. The table of T is described or declared
// (compiled_group.hpp).
template <class T>
constexpr AddedGroup added_group(Bytes name, Bytes help) noexcept {
  return {name, help, &type_of<T>, &make_value<T>};
}

// The additions of a program's parts to its struct.
struct Additions {
  std::vector<AddedGroup> groups = {};  // in the order in which they are printed
  std::vector<AbsentKey> absent = {};   // keys of parts that the program does not have
};

class Composition {
 public:
  // The struct of the program, and the added groups in their order.
  struct Value {
    const Group* base = nullptr;                     // the table of the struct
    std::shared_ptr<void> value = {};                // the struct
    std::vector<std::shared_ptr<void>> groups = {};  // in the order of Additions::groups
  };

  Composition(const Type& base, MakeValue make, Additions additions);
  Composition(const Composition&) = delete;
  Composition& operator=(const Composition&) = delete;

  // An Error if a group has the name of a member or of another group.
  Result<void> check() const;
  // The table for the reader and the printer of a Value.
  const Group& group() const noexcept { return group_; }
  Shape shape() const;
  // Makes a copy of `copied`; null: makes the defaults.
  Value make(const Value* copied = nullptr) const;
  // The value of the group with this name; null: there is no such group.
  std::shared_ptr<const void> find(const Value& value, Bytes name) const noexcept;

  // Every key with its default and its help, as YAML.
  std::string print_defaults() const;
  // The JSON Schema of a configuration file.
  std::string json_schema(Bytes title) const;

 private:
  const Type& base_;
  const MakeValue make_;
  const Additions additions_;
  std::vector<Member> members_;
  Group group_;
};

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
