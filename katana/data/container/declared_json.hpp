// KATANA_DECLARE_JSON, KATANA_DEFINE_JSON: the JSON code of a described struct, compiled once.
// KATANA_DECLARE_FORM, KATANA_DEFINE_FORM: likewise its reader for forms with names in brackets.
//
//   KATANA_DECLARE_JSON(Customer)     in the header, directly behind its description
//   KATANA_DEFINE_JSON(Customer)      in one source, with json_read.hpp and json_write.hpp
//   KATANA_DEFINE_FORM(Customer)      in one source, with form_read.hpp
//
// Without them each source that reads or writes a struct compiles the code of all structs in it.
// With them a source calls two functions. This pays for hundreds of structs that contain one
// another, as those of a generated API. The calls cost time in a program: a struct without them is
// written with its members in one go.
//
// Thread     as the reader and the writer.
// Fails      to link when the definition is missing.
// Invariant  the same JSON and the same forms are read and written as without them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace katana::container::detail {

enum class Outcome : std::uint8_t;
struct Place;
class Reading;
class JsonNode;
class FormNode;
template <class Output>
class JsonWriter;

// The output of another writer, whose kind only the maker knows. Borrows it.
class AnyOutput {
 public:
  template <class Output>
  AnyOutput(Output& output, char* at) noexcept
      : output_(&output), at_(at), reserve_([](void* self, char* place, std::size_t count) {
          return static_cast<Output*>(self)->reserve(place, count);
        }) {}
  // The place to go on, as the other writer left it.
  char* begin() const noexcept { return at_; }
  // As StringOutput::reserve().
  char* reserve(char* at, std::size_t count) { return reserve_(output_, at, count); }

 private:
  void* output_;
  char* at_;
  char* (*reserve_)(void* output, char* at, std::size_t count);
};

// The type itself, so that no conversion leads to the code of another one.
template <class T>
concept DeclaredJson = requires(JsonWriter<AnyOutput>& writer, const T& value) {
  katana_write_json(writer, value, std::type_identity<T>());
};
// The same for the reader of forms.
template <class T>
concept DeclaredForm = requires(FormNode& node, T& value, const Place& place, Reading& reading) {
  katana_read_form(node, value, place, reading, std::type_identity<T>());
};

}  // namespace katana::container::detail

#define KATANA_DECLARE_JSON(Type)                                                              \
  ::katana::container::detail::Outcome katana_read_json(                                       \
      ::katana::container::detail::JsonNode& node, Type& value,                                \
      const ::katana::container::detail::Place& place,                                         \
      ::katana::container::detail::Reading& reading, std::type_identity<Type>);                \
  void katana_write_json(                                                                      \
      ::katana::container::detail::JsonWriter<::katana::container::detail::AnyOutput>& writer, \
      const Type& value, std::type_identity<Type>);

#define KATANA_DEFINE_JSON(Type)                                                               \
  ::katana::container::detail::Outcome katana_read_json(                                       \
      ::katana::container::detail::JsonNode& node, Type& value,                                \
      const ::katana::container::detail::Place& place,                                         \
      ::katana::container::detail::Reading& reading, std::type_identity<Type>) {               \
    return ::katana::container::detail::read_struct(node, value, place, reading);              \
  }                                                                                            \
  void katana_write_json(                                                                      \
      ::katana::container::detail::JsonWriter<::katana::container::detail::AnyOutput>& writer, \
      const Type& value, std::type_identity<Type>) {                                           \
    writer.put_struct(value);                                                                  \
  }

// Declares the reader of forms of a described struct, which one source defines.
#define KATANA_DECLARE_FORM(Type)                               \
  ::katana::container::detail::Outcome katana_read_form(        \
      ::katana::container::detail::FormNode& node, Type& value, \
      const ::katana::container::detail::Place& place,          \
      ::katana::container::detail::Reading& reading, std::type_identity<Type>);

// Defines it.
#define KATANA_DEFINE_FORM(Type)                                                  \
  ::katana::container::detail::Outcome katana_read_form(                          \
      ::katana::container::detail::FormNode& node, Type& value,                   \
      const ::katana::container::detail::Place& place,                            \
      ::katana::container::detail::Reading& reading, std::type_identity<Type>) {  \
    return ::katana::container::detail::read_struct(node, value, place, reading); \
  }

// SPDX-License-Identifier: Apache-2.0
