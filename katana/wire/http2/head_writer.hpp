// HeadWriter: reply heads as header blocks (RFC 7541), without state between them: no dynamic table
// is used, so that no connection has one for what it sends (decision 0053).
//
// Owns       the block it wrote last, in which nearly all replies of a service are alike.
// Borrows    the fields that every reply has (Server, Date), until they are set anew.
// Thread     its reactor's.
// Allocates  never.
// Fails      never; the caller brings bytes_max() bytes of room.
// Invariant  names are in lower case, and none is about a connection.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/bytes.hpp"
#include "katana/base/hints.hpp"
#include "katana/wire/http/reply_head.hpp"

namespace katana::http2 {

// Of the static table, by name.
enum class StaticName : std::uint8_t {
  status = 8,
  content_length = 28,
  content_type = 31,
  date = 33,
  server = 54,
  strict_transport_security = 56,
};

// A field whose name the static table has, not to be indexed. At most bytes of value + 5.
char* put_field(char* to, StaticName name, Bytes value) noexcept;

class HeadWriter {
 public:
  // Fields, as put_field() writes them, that stand in every head. They may change in place if they
  // are set again.
  void set_server_and_date(Bytes block) noexcept {
    server_and_date_ = block;
    kept_size_ = 0;
  }

  // Room that write() needs for `head`.
  std::size_t bytes_max(const http::ReplyHead& head) const noexcept {
    // A field's line is longer than its block, but for strings that are long themselves.
    const std::size_t fields = head.fields.size() + head.more_fields.size();
    return kept_capacity + server_and_date_.size() + head.content_type.size() + fields +
           fields / 32 + 64;
  }

  // Writes a block with a Content-Length if that is not negative. Returns its end.
  // REQUIRES a status of three digits.
  char* write(char* to, const http::ReplyHead& head, std::int64_t content_length) noexcept;

 private:
  static constexpr std::size_t kept_capacity = 160;
  static constexpr std::size_t type_capacity = 48;

  bool is_alike(const http::ReplyHead& head, std::int64_t content_length) const noexcept;
  [[gnu::noinline]] char* write_anew(char* to, const http::ReplyHead& head,
                                     std::int64_t content_length) noexcept;

  Bytes server_and_date_;
  std::int64_t kept_length_ = 0;
  std::uint16_t kept_size_ = 0;  // 0: none is kept
  std::uint16_t kept_status_ = 0;
  std::uint16_t kept_type_size_ = 0;
  std::array<char, type_capacity> kept_type_;
  alignas(32) std::array<char, kept_capacity> kept_;
};

}  // namespace katana::http2
