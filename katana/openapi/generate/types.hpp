// Types: the schemas of a description as types of C++, and the text that declares them.
//
//   object with properties      described struct; `additionalProperties: false` is STRICT
//   object with other names     std::map<std::string, T>
//   allOf                       one struct of all properties
//   oneOf, anyOf, discriminator std::variant of described structs
//   oneOf, anyOf, several types katana::AnyOf
//   enum of text                described enum
//   array, number, text         std::vector, std::int32_t … double, std::string, with their rules
//   not required                katana::Patch, which is not written when it is absent; with a
//                               default the type itself; for parameters std::optional
//   null among the types        std::optional
//   type that contains itself   katana::Box, where it does
//   anything else               katana::container::Value, and a warning that says so
//
// Owns       the types.
// Borrows    the description and the problems, for its life.
// Thread     one.
// Allocates  freely.
// Fails      adds a warning for each keyword that a type cannot check.
// Invariant  one schema is one type; the text depends on the description alone.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/described.hpp"
#include "katana/base/values/separators.hpp"
#include "katana/openapi/generate/constraints.hpp"
#include "katana/openapi/generate/coverage.hpp"
#include "katana/openapi/generate/names.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi::generate {

// The most members of a struct: base/values/described.hpp.
inline constexpr std::size_t members_max = described_members_max;

// Keys of Types::texts(), which no tag has.
inline constexpr const char* shared_types = ":shared";
inline constexpr const char* other_types = ":other";

// "pets_types": the name of the file with the types that one tag uses.
inline std::string types_file_of(const std::string& tag) { return value_name(tag) + "_types"; }

// A declared type in the text of another one.
struct Use {
  std::size_t type = 0;   // its index, in the order in which they were made
  bool complete = false;  // it has to be complete there
};
// The text of a type, and the types that it needs.
struct TypeText {
  std::string text = {};                    // "std::vector<Pet>"
  bool nullable = false;                    // null is a value: the writer adds std::optional
  std::vector<Use> uses = {};               // the declared types in `text`
  std::vector<TypeText> alternatives = {};  // of an AnyOf
  std::vector<TypeText> items = {};         // of a list: one
  std::vector<TypeText> values = {};        // of a dictionary: one

  // Whether an item or a content of this type is in a std::optional: null is a value, and the type
  // itself does not take it.
  bool wants_optional() const { return nullable && text != "katana::container::Value"; }
  std::string as_element() const { return wants_optional() ? "std::optional<" + text + ">" : text; }
};

class Types {
 public:
  Types(const Description& api, model::Problems& problems) : api_(api), problems_(problems) {}

  // The type of a schema; `hint` names it when it has no name.
  TypeText type_of(Bytes pointer, const std::string& hint);
  // All named schemas.
  void add_components();
  // Notes the rules that are missing for a value of that type. Only members have rules, and the
  // value is no member. `where` names its place, as in "as a whole body".
  void miss_rules(Bytes pointer, const TypeText& type, Bytes where);
  // The schema is left to the handler.
  void forget(Bytes pointer) { coverage_.forget(pointer); }
  // Adds a warning for each keyword that the types made so far do not check.
  void report_unchecked() { coverage_.report(api_, problems_); }
  // A struct of the parameters of an operation.
  struct Field {
    std::string name;              // as it is sent
    std::string pointer;           // in Description::schemas
    bool required = false;         // false: the request may be without it
    std::string description = {};  // a comment of the member; empty: none
    char separator = '\0';    // of a list in one text, or nested_names: base/values/separators.hpp
    bool file = false;        // of a form
    bool json = false;        // its text is JSON
    bool json_items = false;  // of a list each item's text is
  };
  std::string add_parameters(const std::string& name, const std::vector<Field>& fields);
  // The properties of an object of texts, numbers and the like; none when it is another.
  std::vector<Field> text_members_of(Bytes pointer, const std::string& hint);
  // The same for a form, which has lists, too. A form of parts also has files. Values that are no
  // text are JSON. None when the form is no object with properties.
  std::vector<Field> form_members_of(Bytes pointer, const std::string& hint, bool parts);
  // An object that may have no member at all.
  bool is_empty_object(Bytes pointer);
  // Whether both schemas say the same.
  bool is_same(Bytes one, Bytes other) const {
    const Bytes left = follow(one), right = follow(other);
    return left == right || at(left) == at(right);
  }
  // A struct with a file has been made.
  bool has_files() const noexcept { return has_files_; }
  bool has_separators() const noexcept { return has_separators_; }
  // A parameter whose text is JSON of that type, and whether there has been one.
  TypeText as_json(const TypeText& content);
  bool has_json_parameters() const noexcept { return has_json_parameters_; }
  // The type of a parameter of that schema. It is the type itself if this is written as text (a
  // number, a boolean, text, an enum) or is a list of such. It is std::string, or a list of them,
  // if the value has one of several such types. Otherwise the result has an empty text.
  TypeText parameter_type(const TypeText& type) const;
  // For a parameter_type().
  bool is_list(const TypeText& type) const { return !underlying(type).items.empty(); }
  // A struct, an enum or a variant.
  bool is_declared(const TypeText& type) const;
  // The name of a type in the same scope.
  std::string take_name(const std::string& wanted) { return scope_.take(wanted); }
  // Types made from here on belong to the operations of that tag.
  void set_tag(const std::string& tag) {
    tag_ = tag;
    roots_[tag];
  }
  // Those that set_tag() named.
  std::set<std::string> tags() const {
    std::set<std::string> tags;
    for (const auto& [tag, roots] : roots_) tags.insert(tag);
    return tags;
  }
  // The declarations by the tag that alone uses them, in an order in which they compile. Those of
  // several tags are shared_types'; types of no operation are other_types'.
  std::map<std::string, std::string> texts();
  // The JSON code of the structs of shared_types is to be in sources. Called before texts().
  void declare_json() noexcept { declares_json_ = true; }
  // The reader of the form of this type, and of all structs in it, is to be in sources, as the form
  // is large. Called before texts().
  void declare_form(Bytes name);
  // The same for the JSON of this type, or of what is in a form of this type.
  void declare_json_of(Bytes name);
  void declare_json_in(Bytes form);
  // The structs whose JSON code is in sources, by the key of the text that has them, in the order
  // of their descriptions. After texts().
  struct InSource {
    std::string name;    // in C++
    std::size_t weight;  // of its own members alone
  };
  const std::map<std::string, std::vector<InSource>>& json_in_sources() const noexcept {
    return json_in_sources_;
  }
  // The structs of large forms, by the key of the text that has them.
  const std::map<std::string, std::vector<InSource>>& forms_in_sources() const noexcept {
    return forms_in_sources_;
  }
  // The number of members that a source compiles in order to read or write a declared type.
  std::size_t weight_of(Bytes name) const;
  std::size_t count() const noexcept { return declared_.size(); }

 private:
  struct Member {
    std::string name;
    std::string json;
    TypeText type;
    bool optional = false;
    bool patch = false;  // not written when it is not there
    std::string initialiser = {};
    std::vector<std::string> rules = {};
    std::string description = {};
  };
  enum class Form { pending, structure, enumeration, alias, variant };
  struct Declared {
    std::string name;
    std::string pointer;
    Form form = Form::pending;
    bool strict = false;
    std::vector<Member> members = {};                             // of a struct
    std::vector<std::pair<std::string, std::string>> names = {};  // of an enum: C++, JSON
    TypeText alias = {};
    std::vector<std::pair<std::size_t, std::string>> alternatives = {};
    std::string discriminator = {};
    std::vector<std::pair<std::string, char>> separators = {};  // by the names that are sent
    int state = 0;
    bool described = false;
    bool in_large_form = false;
    bool in_large_json = false;
    std::string home = {};   // the key of its text
    std::size_t circle = 0;  // of types that contain one another, directly or not
  };
  using Value = container::Value;
  using Object = container::Object;

  // A declared type and all that it uses, by their indexes.
  std::vector<std::size_t> all_in(Bytes name) const;
  const Value& at(Bytes pointer) const;
  Bytes follow(Bytes pointer) const;
  void warn(Bytes pointer, std::string words);
  static TypeText any();
  TypeText find_or_make(Bytes pointer, const std::string& hint);
  TypeText make(const std::string& pointer, const std::string& hint, std::size_t slot);
  TypeText use(std::size_t type) const;
  std::size_t declare(const std::string& pointer, const std::string& hint);
  TypeText container_of(const std::string& pointer, Bytes type, const std::string& hint);
  TypeText scalar(const Object& schema, Bytes type, const std::string& pointer);
  TypeText structure(const std::string& pointer, const std::string& hint, std::size_t slot);
  TypeText enumeration(const std::string& pointer, const std::string& hint, std::size_t slot);
  // Without a text: it is none.
  TypeText variant(const std::string& pointer, const std::string& hint, Bytes key,
                   std::size_t slot);
  TypeText any_of(const std::string& pointer, const std::string& hint, Bytes key,
                  const std::vector<std::size_t>& parts);
  TypeText any_of_types(const std::string& pointer, const std::string& hint,
                        const std::vector<std::string>& types);
  TypeText any_of_these(Bytes pointer, std::vector<TypeText> found);
  TypeText joined(Bytes pointer, std::vector<TypeText> all, bool nullable);
  static TypeText list_of_these(TypeText items);
  std::optional<TypeText> make_choice(const std::string& pointer, const std::string& hint,
                                      std::size_t slot);
  TypeText make_parts(const std::string& pointer, const std::vector<std::string>& parts,
                      const std::string& hint, std::size_t slot);
  // The properties of an object with its parts, by name and place.
  struct Collected {
    std::vector<std::pair<std::string, std::string>> properties = {};
    std::vector<std::string> required = {};
    bool strict = false;
    std::vector<KeywordAt> covered = {};
    std::vector<std::pair<std::string, std::string>> replaced = {};  // places of one name
    std::vector<std::string> strict_parts = {};
    std::string nameless = {};  // the place of a property ""
  };
  bool collect(Bytes pointer, Collected& to, int depth);
  void check_collected(Bytes pointer, const Collected& from);
  void cover_counts(Bytes pointer, const Collected& from);
  // The values of `enum` and `const`, or of a choice of constants.
  struct Choices {
    container::List values = {};
    std::vector<KeywordAt> covered = {};
  };
  Choices choices_of(const std::string& pointer) const;
  static bool is_list_of_constants(const container::List& list);
  bool fits_type(const TypeText& type, const std::vector<std::string>& types) const;
  static bool has_constraints(const Object& schema);
  void warn_of_overlaps(const std::string& pointer, Bytes key,
                        const std::vector<std::size_t>& parts, const std::vector<TypeText>& found);
  bool are_disjoint_objects(Bytes one, Bytes other);
  std::set<std::string> texts_of_member(const Collected& object, Bytes name) const;
  std::string json_type_of(const TypeText& type) const;
  void add_member(Declared& to, Scope& scope, const std::string& json, const std::string& pointer,
                  bool required, const std::string& hint);
  // The rules of a member, and the keywords that they check.
  struct RuleText {
    std::vector<std::string> rules = {};
    std::vector<KeywordAt> covered = {};
    bool refuses_null = false;
  };
  RuleText rules_of(Bytes use, const TypeText& type);
  void layers_of(Bytes pointer, std::vector<std::string>& layers) const;
  Held held_of(const TypeText& plain) const;
  bool is_comparable(const TypeText& item) const;
  void become_file(Member& member);
  void become_json(Member& member, const Field& field);
  bool is_file(Bytes pointer) const;
  void set_default(Member& member, const std::string& pointer);
  bool is_text_value(const TypeText& type) const;
  // Past aliases.
  const TypeText& underlying(const TypeText& type) const;
  std::vector<std::size_t> used_by(const Declared& type) const;
  void find_homes();
  void find_circles();
  bool is_choice(const Declared& type) const;
  bool needs_initialiser(const Declared& type, const Member& member) const;
  void emit_enumerations();
  void emit(std::size_t index);
  void emit_name(std::size_t index);
  bool complete(const TypeText& type);
  void emit_items(const TypeText& type, std::size_t circle);
  void emit_struct(Declared& type, std::string& text);
  void describe(std::size_t index);
  static void describe_struct(const Declared& type, std::string& text);
  std::string member_type(const Member& member) const;

  const Description& api_;
  model::Problems& problems_;
  Coverage coverage_;
  Scope scope_;
  std::vector<Declared> declared_;
  std::map<std::string, std::size_t, std::less<>> by_pointer_;
  std::map<std::string, TypeText, std::less<>> made_;
  std::string tag_ = {};
  std::map<std::string, std::set<std::size_t>> roots_;  // of tags
  std::map<std::string, std::string> texts_;
  std::map<std::size_t, std::vector<std::size_t>> circles_;  // the types of each
  std::set<std::size_t> circles_with_choices_;
  int depth_ = 0;
  std::map<std::string, std::vector<InSource>> json_in_sources_;
  std::map<std::string, std::vector<InSource>> forms_in_sources_;
  bool declares_json_ = false;
  bool has_files_ = false;
  bool has_separators_ = false;
  bool has_json_parameters_ = false;
};

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
