// SpanRecord: one recorded span: raw values in places of fixed size, for encoders.
//
//   SpanRecord& record = …;
//   record.set_name("GET /users/{id}");
//   record.add("http.route", route);              // the text is copied, cut if there is no room
//   record.add("http.response.status_code", 200);
//
// Owns       its texts, in text_bytes_max bytes, and attributes_max attributes.
// Borrows    keys: they are literals, which the compiler checks.
// Thread     one at a time: the span's, then the draining one.
// Allocates  never.
// Fails      never: attributes beyond attributes_max are counted in dropped_attributes(), cut texts
//            in cut_texts().
// Invariant  a cut text is still UTF-8, if it was before.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/trace/span_context.hpp"

namespace katana::trace {

class SpanBuffer;

inline constexpr std::size_t attributes_max = 24;    // of a span
inline constexpr std::size_t text_bytes_max = 1024;  // of all texts of a span

// Numbered as in OTLP.
enum class SpanKind : std::uint8_t { internal = 1, server, client, producer, consumer };
enum class SpanStatus : std::uint8_t { unset, ok, error };

// The name of an attribute: a literal, because it is kept as a pointer.
class Key {
 public:
  template <std::size_t size>
  consteval Key(const char (&text)[size]) noexcept : text_(text), size_(size - 1) {}
  // A key that is no literal. REQUIRES that `text` lives as long as the tracer of the record.
  static constexpr Key of_kept(Bytes text) noexcept { return Key(text); }
  // The literal.
  Bytes text() const noexcept { return {text_, size_}; }

 private:
  explicit constexpr Key(Bytes text) noexcept
      : text_(text.data()), size_(static_cast<std::uint32_t>(text.size())) {}

  const char* text_;
  std::uint32_t size_;
};

class SpanRecord {
 public:
  // The type of an attribute's value.
  enum class Type : std::uint8_t {
    text,     // a copy, perhaps cut
    boolean,  // true or false
    integer,  // of 64 bits, with a sign
    number,   // a double
  };
  // A text within the record; see text().
  struct Slice {
    std::uint16_t at = 0;    // where it begins
    std::uint16_t size = 0;  // in bytes
  };
  // A key and its value.
  struct Attribute {
    Attribute() noexcept {}  // members are written at their use
    const char* key;         // a literal, without an end
    std::uint32_t key_size;  // in bytes
    Type type;               // which member is used
    union {
      Slice text;            // of Type::text
      bool boolean;          // of Type::boolean
      std::int64_t integer;  // of Type::integer
      double number;         // of Type::number
    };
  };

  // Called before its use. The content of the arrays stays unchanged.
  void begin() noexcept {
    context = {};
    parent = {};
    link = {};
    kind = SpanKind::internal;
    status = SpanStatus::unset;
    began = ended = {};
    name_ = status_text_ = state_ = {};
    attribute_count_ = text_size_ = 0;
    dropped_attributes_ = cut_texts_ = 0;
  }

  SpanContext context;  // of the span itself
  SpanContext parent;   // not valid: the trace begins with this
  SpanContext link;     // a span of another trace that caused this one; not valid: none
  SpanKind kind;        // the role towards the services at both ends
  SpanStatus status;    // unset: not decided
  Instant began;        // by the tracer's clock
  Instant ended;        // by the same clock

  void set_name(Bytes name) noexcept { name_ = copy(name); }
  // Sets both, with a blank between; only the first if the second is empty.
  void set_name(Bytes first, Bytes second) noexcept {
    name_ = copy(first);
    if (second.empty()) return;
    const Slice blank = copy(" "), rest = copy(second);
    name_.size = static_cast<std::uint16_t>(name_.size + blank.size + rest.size);
  }
  void set_state(Bytes state) noexcept { state_ = copy(state); }
  void fail(Bytes why = {}) noexcept {
    status = SpanStatus::error;
    status_text_ = copy(why);
  }
  void add(Key key, Bytes value) noexcept {
    if (Attribute* const to = place(key, Type::text)) to->text = copy(value);
  }
  void add(Key key, const char* value) noexcept { add(key, Bytes(value)); }
  void add(Key key, std::same_as<bool> auto value) noexcept {
    if (Attribute* const to = place(key, Type::boolean)) to->boolean = value;
  }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  void add(Key key, T value) noexcept {
    if (Attribute* const to = place(key, Type::integer)) {
      to->integer = static_cast<std::int64_t>(value);
    }
  }
  void add(Key key, std::floating_point auto value) noexcept {
    if (Attribute* const to = place(key, Type::number)) to->number = static_cast<double>(value);
  }

  // The name: one of few, such as routes.
  Bytes name() const noexcept { return text(name_); }
  Bytes state() const noexcept { return text(state_); }  // the trace's, as it was received
  // The reason of the failure; empty: not given.
  Bytes status_text() const noexcept { return text(status_text_); }
  // The number of kept attributes.
  std::size_t attribute_count() const noexcept { return attribute_count_; }
  // REQUIRES index < attribute_count().
  const Attribute& attribute(std::size_t index) const noexcept { return attributes_[index]; }
  // The text of an attribute of this record.
  Bytes text(Slice slice) const noexcept { return {text_.data() + slice.at, slice.size}; }
  // The number of attributes beyond attributes_max.
  std::uint32_t dropped_attributes() const noexcept { return dropped_attributes_; }
  // The number of texts that did not fit into text_bytes_max.
  std::uint32_t cut_texts() const noexcept { return cut_texts_; }

 private:
  friend class SpanBuffer;
  friend class HeldSpans;

  Attribute* place(Key key, Type type) noexcept {
    if (attribute_count_ == attributes_max) {
      ++dropped_attributes_;
      return nullptr;
    }
    Attribute& to = attributes_[attribute_count_++];
    to.key = key.text().data();
    to.key_size = static_cast<std::uint32_t>(key.text().size());
    to.type = type;
    return &to;
  }
  Slice copy(Bytes value) noexcept {
    std::size_t size = value.size();
    if (size > text_bytes_max - text_size_) {
      size = text_bytes_max - text_size_;
      // Back to the beginning of a character.
      while (size > 0 && (static_cast<unsigned char>(value[size]) & 0xc0) == 0x80) --size;
      ++cut_texts_;
    }
    const Slice slice{static_cast<std::uint16_t>(text_size_), static_cast<std::uint16_t>(size)};
    if (size > 0) std::memcpy(text_.data() + text_size_, value.data(), size);
    text_size_ = static_cast<std::uint16_t>(text_size_ + size);
    return slice;
  }

  Slice name_;
  Slice status_text_;
  Slice state_;
  std::uint16_t attribute_count_;
  std::uint16_t text_size_;
  std::uint32_t dropped_attributes_;
  std::uint32_t cut_texts_;
  SpanRecord* next_;    // in the list that it is in
  SpanBuffer* buffer_;  // the buffer that owns it
  std::array<Attribute, attributes_max> attributes_;
  std::array<char, text_bytes_max> text_;
};

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
