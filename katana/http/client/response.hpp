// Response: a reply: status, headers and body.
//
// Owns       its bytes; fields and content are views of them.
// Thread     a value: any, one at a time.
// Allocates  from the recycler.
// Invariant  the fields are those of the final reply; interim replies (1xx) and trailers are
//            dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/wire/http/head.hpp"

namespace katana::client {

// The version of HTTP on a connection.
enum class HttpVersion : std::uint8_t { http_1_0, http_1_1, http_2 };

// A reply that redirected.
struct Hop {
  unsigned status = 0;  // 3xx
  std::string url;      // of the reply that redirected
};

class Response {
 public:
  Response() noexcept = default;

  unsigned status() const noexcept { return status_; }  // of the final reply, never 1xx
  // The version of the connection on which the reply came.
  HttpVersion version() const noexcept { return version_; }
  // The first header of that name, ignoring case.
  std::optional<Bytes> find(Bytes name) const noexcept KATANA_VIEW { return fields_.find(name); }
  std::size_t field_count() const noexcept { return fields_.field_count(); }
  Bytes name(std::size_t index) const noexcept { return fields_.name(index); }
  Bytes value(std::size_t index) const noexcept { return fields_.value(index); }

  // The whole body, without its content coding if decoded().
  Bytes content() const noexcept KATANA_VIEW { return content_.bytes(); }
  // Moves it out: content() is empty afterwards.
  Text take_content() noexcept { return std::exchange(content_, Text()); }
  // Whether a content coding was removed; the headers are still the server's.
  bool decoded() const noexcept { return decoded_; }

  // The URL of the reply, after redirects.
  const std::string& url() const noexcept { return url_; }
  // The redirects that were followed, in order.
  const std::vector<Hop>& hops() const noexcept { return hops_; }

  // ---- for the client
  void set_route(std::string url, std::vector<Hop> hops) noexcept {
    url_ = std::move(url);
    hops_ = std::move(hops);
  }
  void set_decoded(Text content) noexcept {
    content_ = std::move(content);
    decoded_ = true;
  }

 private:
  friend class Call;
  // Sets the head from one of HTTP/1.1 that the machine has accepted. Returns null, or the mistake
  // in it.
  const char* set_head(unsigned status, Text head) noexcept;
  // Sets the head from HTTP/2, and copies the fields.
  void set_fields(unsigned status, const http::Head& fields) noexcept;

  std::uint16_t status_ = 0;
  HttpVersion version_ = HttpVersion::http_1_1;
  Text head_;
  http::Head fields_;  // offsets into head_: moving it keeps them valid
  Text content_;
  std::string url_;
  std::vector<Hop> hops_;
  bool decoded_ = false;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
