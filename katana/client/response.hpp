// Response: what came back: a status, fields, and content.
//
// Owns       its bytes; fields and content are views of them.
// Thread     a value: move it where you like.
// Allocates  from the recycler.
// Invariant  the fields are those of the final reply; interim replies (1xx) are passed over, and so
//            are trailers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "katana/base/bytes.hpp"
#include "katana/base/text.hpp"
#include "katana/wire/http/head.hpp"

namespace katana::client {

// What a connection spoke.
enum class HttpVersion : std::uint8_t { http_1_0, http_1_1, http_2 };

class Response {
 public:
  Response() noexcept = default;

  unsigned status() const noexcept { return status_; }
  HttpVersion version() const noexcept { return version_; }
  // The first field of that name, in any case.
  std::optional<Bytes> find(Bytes name) const noexcept { return fields_.find(name); }
  std::size_t field_count() const noexcept { return fields_.field_count(); }
  Bytes name(std::size_t index) const noexcept { return fields_.name(index); }
  Bytes value(std::size_t index) const noexcept { return fields_.value(index); }

  Bytes content() const noexcept { return content_.bytes(); }
  Text take_content() noexcept { return std::exchange(content_, Text()); }

 private:
  friend class Call;
  // Of a head of HTTP/1.1 that the machine has read. Null, or what is wrong with it.
  const char* set_head(unsigned status, Text head) noexcept;
  // Of HTTP/2: the fields are copied.
  void set_fields(unsigned status, const http::Head& fields) noexcept;

  std::uint16_t status_ = 0;
  HttpVersion version_ = HttpVersion::http_1_1;
  Text head_;
  http::Head fields_;  // slices of head_, which stay where they are when it is moved
  Text content_;
};

}  // namespace katana::client
