// Head: a parsed message head, as offsets from one base pointer.
//
// Owns       nothing; base() is borrowed from the holder of the head's bytes.
// Thread     a value; one reactor reuses one Head for every request.
// Allocates  never.
// Invariant  every slice lies inside [base, base + bytes). Moving the bytes is one memcpy and
//            one rebase().
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/method.hpp"

namespace katana::http {

// A part of a head.
struct Slice {
  std::uint16_t at = 0;  // offset from Head::base()
  std::uint16_t size = 0;
};

// One header line.
struct Field {
  Slice name;   // as sent; compare ignoring case
  Slice value;  // without surrounding white space
};

// A head with more fields than this is refused (431), whatever the limits are.
inline constexpr std::size_t fields_capacity = 128;
// A head is addressed by 16 bits.
inline constexpr std::size_t head_bytes_capacity = 65'535;

class Head {
 public:
  Method method() const noexcept { return method_; }                 // extension: see method_text()
  Bytes method_text() const noexcept { return text(method_text_); }  // as sent
  // The request target as sent: path and query in most requests.
  Bytes target() const noexcept { return text(target_); }
  // The target is a path that is normal as it stands: origin-form without query, escapes and dots.
  bool target_is_plain() const noexcept { return target_is_plain_; }
  // 1 for HTTP/1.1, 0 for HTTP/1.0; the highest minor version that both sides know otherwise.
  unsigned minor_version() const noexcept { return minor_version_; }

  std::size_t field_count() const noexcept { return field_count_; }  // repeated headers count each
  // The name of a field as sent; REQUIRES index < field_count().
  Bytes name(std::size_t index) const noexcept { return text(fields_[index].name); }
  // Without surrounding white space; REQUIRES index < field_count().
  Bytes value(std::size_t index) const noexcept { return text(fields_[index].value); }
  // The first field of that name, ignoring case (RFC 9110 §5.1).
  std::optional<Bytes> find(Bytes name) const noexcept {
    for (std::size_t index = 0; index < field_count_; ++index) {
      if (fields_[index].name.size == name.size() &&
          equals_ignoring_case(this->name(index), name)) {
        return value(index);
      }
    }
    return std::nullopt;
  }

  // All of the head's bytes.
  Bytes bytes() const noexcept { return {base_, bytes_}; }
  // The bytes stand at `base` now.
  void rebase(const char* base) noexcept { base_ = base; }

  // ---- for parsers ----
  const char* base() const noexcept { return base_; }
  void begin(const char* base) noexcept {
    base_ = base;
    field_count_ = 0;
  }
  void set_bytes(std::size_t bytes) noexcept { bytes_ = static_cast<std::uint16_t>(bytes); }
  void set_request_line(Method method, Slice method_text, Slice target,
                        unsigned minor_version) noexcept {
    set_method(method, method_text);
    set_target(target);
    set_minor_version(minor_version);
  }
  void set_method(Method method, Slice text) noexcept {
    method_ = method;
    method_text_ = text;
  }
  void set_target(Slice target) noexcept { target_ = target; }
  void set_target_is_plain(bool plain) noexcept { target_is_plain_ = plain; }
  void set_minor_version(unsigned minor_version) noexcept {
    minor_version_ = static_cast<std::uint8_t>(minor_version);
  }
  // REQUIRES field_count() < fields_capacity.
  void add_field(Slice name, Slice value) noexcept { fields_[field_count_++] = {name, value}; }

  // A copy takes only the fields in use: a head with four fields is 90 bytes, not a kilobyte.
  Head() noexcept = default;
  Head(const Head& other) noexcept { *this = other; }
  Head& operator=(const Head& other) noexcept {
    base_ = other.base_;
    bytes_ = other.bytes_;
    method_ = other.method_;
    minor_version_ = other.minor_version_;
    method_text_ = other.method_text_;
    target_ = other.target_;
    target_is_plain_ = other.target_is_plain_;
    field_count_ = other.field_count_;
    for (std::size_t index = 0; index < field_count_; ++index)
      fields_[index] = other.fields_[index];
    return *this;
  }

 private:
  Bytes text(Slice slice) const noexcept { return {base_ + slice.at, slice.size}; }

  const char* base_ = nullptr;
  std::uint16_t bytes_ = 0;
  Method method_ = Method::get;
  std::uint8_t minor_version_ = 1;
  Slice method_text_;
  Slice target_;
  std::uint16_t field_count_ = 0;
  bool target_is_plain_ = false;
  std::array<Field, fields_capacity> fields_;
};

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
