// Reply: the answer of a server, a tree of values. ReplyBuilder: makes replies of the steps that a
// machine reads.
//
// Owns       its texts and elements.
// Thread     a value; a ReplyBuilder its connection's.
// Allocates  for texts of more than a few bytes, and for elements.
// Fails      never: for another type a function returns an empty value, or nothing.
// Invariant  attributes are left out: no command asks for them. A reply holds no more than the
//            limits of the machine allow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/wire/resp/machine.hpp"

namespace katana::redis {

class Reply {
 public:
  // As RESP3 has them.
  using Type = resp::Kind;

  Reply() noexcept = default;

  // Null of a reply that nothing was put into.
  Type type() const noexcept { return type_; }
  // The server has nothing: no such key, or a condition did not hold.
  bool is_null() const noexcept { return type_ == Type::null; }
  // text() is the server's message, its prefix first.
  bool is_error() const noexcept {
    return type_ == Type::simple_error || type_ == Type::bulk_error;
  }
  // text() is its content. A big number counts: it fits no integer.
  bool is_text() const noexcept {
    return type_ == Type::simple_string || type_ == Type::bulk_string || type_ == Type::verbatim ||
           type_ == Type::big_number;
  }
  // Array, map, set or push: elements() are its content.
  bool is_aggregate() const noexcept { return type_ >= Type::array; }

  // The content of a string, an error or a big number; otherwise empty. A verbatim string comes
  // without its format.
  const std::string& text() const& noexcept { return text_; }
  std::string text() && noexcept { return std::move(text_); }
  // The value of an integer, or a boolean.
  std::optional<std::int64_t> integer() const noexcept;
  // The value of a number, or an integer.
  std::optional<double> number() const noexcept;
  // The elements of an aggregate; for a map keys and values in turn.
  const std::vector<Reply>& elements() const& noexcept { return elements_; }
  std::vector<Reply> elements() && noexcept { return std::move(elements_); }
  // The value of that key in a map; null: there is none.
  const Reply* find(std::string_view key) const noexcept;

 private:
  friend class ReplyBuilder;

  std::string text_;
  std::vector<Reply> elements_;
  union {
    std::int64_t integer_ = 0;
    double number_;
  };
  Type type_ = Type::null;
};

// Builds one reply at a time, from the steps of one machine.
class ReplyBuilder {
 public:
  // Adds the value of a step of the machine. True: a reply is complete, and has to be taken.
  bool add(const resp::Step& step);
  Reply take() noexcept;
  // Forgets a reply that is not complete.
  void clear() noexcept;

 private:
  Reply* begin_value(const resp::Step& step);

  Reply root_;
  // Aggregates that are not complete, the innermost last; null: an attribute, or one within.
  std::vector<Reply*> open_;
  Reply* text_ = nullptr;  // the string whose content is not complete; null: not wanted
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
