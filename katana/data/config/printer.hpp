// print_group(): a described struct as YAML, with the origin of every value as a comment.
// print_defaults(): its defaults as YAML, with the meaning of every key as a comment.
//
// Owns       nothing.
// Thread     one.
// Allocates  what it writes.
// Fails      never.
// Invariant  what is marked secret, and all inside of it, is written as ***.
#pragma once

#include <string>

#include "katana/base/values/described.hpp"
#include "katana/data/config/reader.hpp"
#include "katana/data/config/scalar.hpp"

namespace katana::config {

template <class T>
std::string write_value(const T& value, bool shown = false);

// A member as its rules say: an amount of memory with its unit.
template <class T>
std::string write_member(const Rules<WithoutOptional<T>>& rules, const T& value, bool shown) {
  if constexpr (Scalar<T>) {
    return write_ruled(rules, value);
  } else if constexpr (Scalar<WithoutOptional<T>>) {
    return value ? write_ruled(rules, *value) : "null";
  } else {
    return write_value(value, shown);
  }
}

// In one line; `shown`: secrets inside of it too, to compare values.
template <class T>
std::string write_value(const T& value, bool shown) {
  if constexpr (is_optional<T>) {
    return value ? write_value(*value, shown) : "null";
  } else if constexpr (Scalar<T>) {
    return write_scalar(value);
  } else if constexpr (Described<T>) {
    std::string text = "{";
    for_each_field(value, [&](const auto& field, const auto& member) {
      if (text.size() > 1) text += ", ";
      text += field.name;
      text += ": ";
      text += field.rules.secret && !shown ? std::string(hidden_value)
                                           : write_member(field.rules, member, shown);
    });
    return text + "}";
  } else if constexpr (DictionaryMember<T>) {
    std::string text = "{";
    for (const auto& [key, item] : value) {
      if (text.size() > 1) text += ", ";
      text += quoted_if_needed(key) + ": " + write_value(item, shown);
    }
    return text + "}";
  } else {
    std::string text = "[";
    for (const auto& item : value) {
      if (text.size() > 1) text += ", ";
      text += write_value(item, shown);
    }
    return text + "]";
  }
}

struct Printing {
  const Origins& origins;
  std::string text = {};
  std::string path = {};
  std::size_t depth = 0;

  // "  port: 9000                # katana.yaml:3"; without a value the head of a group.
  void line(Bytes name, Bytes value);
};

template <Described T>
void print_group(Printing& printing, const T& value, bool secret = false) {
  for_each_field(value, [&](const auto& field, const auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    using Value = WithoutOptional<Member>;
    const bool hide = secret || field.rules.secret;
    const std::size_t size = printing.path.size();
    if (size != 0) printing.path += '.';
    printing.path += field.name;
    const auto group = [&](const auto& inside) {
      printing.line(field.name, "");
      ++printing.depth;
      print_group(printing, inside, hide);
      --printing.depth;
    };
    if constexpr (Described<Member>) {
      group(member);
    } else if constexpr (Described<Value>) {
      member ? group(*member) : printing.line(field.name, "null");
    } else {
      printing.line(field.name,
                    hide ? std::string(hidden_value) : write_member(field.rules, member, false));
    }
    printing.path.resize(size);
  });
}

namespace detail {

// "  port: 8080                # port to listen on"; `before` stands in front, `text` may say
// nothing.
void print_described(std::string& out, const std::string& before, Bytes name, Bytes value,
                     Bytes text);

template <Described T>
void print_defaults(std::string& out, const T& value, const std::string& before) {
  for_each_field(value, [&](const auto& field, const auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    using Value = WithoutOptional<Member>;
    std::string text(field.rules.help);
    if constexpr (DescribedEnum<Value>) {
      text += (text.empty() ? "" : "; ") + enumerator_choices<Value>();
    }
    if (field.rules.reloadable) text += text.empty() ? "reloadable" : "; reloadable";
    if constexpr (Described<Member>) {
      print_described(out, before, field.name, "", text);
      print_defaults(out, member, before + "  ");
    } else if constexpr (Described<Value>) {
      print_described(out, before, field.name, "", text);
      print_defaults(out, Value(), before + "  ");
    } else {
      print_described(out, before, field.name, write_member(field.rules, member, true), text);
      if constexpr (DictionaryMember<Value>) {
        if constexpr (Described<ElementOf<Value>>) {
          print_described(out, before + "  # ", "NAME", "", "");
          print_defaults(out, ElementOf<Value>(), before + "  #   ");
        }
      }
    }
  });
}

}  // namespace detail

// The elements of a dictionary of groups stand below it as comments, under the key NAME.
template <Described T>
std::string print_defaults() {
  std::string out;
  detail::print_defaults(out, T(), "");
  return out;
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
