// ServedContent: content that is constant while a service serves: a document, a script of a page.
//
// Owns       its text, unless that is a part of the program.
// Thread     fill() while the router is built; reply() any.
// Allocates  reply(): fields, from the recycler; content that is kept in gzip, for a client
//            without.
// Fails      never: 304 to a client that has it, 503 before fill().
// Invariant  a reply refers to the content, which therefore outlives the service.
#pragma once

#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/request.hpp"

namespace katana::openapi::detail {

class ServedContent {
 public:
  ServedContent(Literal type, Literal cache_control) noexcept
      : type_(type), cache_control_(cache_control) {}

  void fill(std::string text);
  // `content` is a part of the program, in gzip.
  void fill_gzip(Bytes content);
  Reply reply(const RequestView& request) const;

 private:
  void set(Bytes content);

  const Literal type_;
  const Literal cache_control_;
  std::string owned_;
  Bytes content_;
  std::string tag_, decoded_tag_;
  bool is_gzip_ = false;
};

// 64 bits as 16 hexadecimal digits, to tell one version of a content from another.
std::string fingerprint(Bytes content);

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
