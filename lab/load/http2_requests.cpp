#include "lab/load/http2_requests.hpp"

#include <fmt/format.h>

#include <optional>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/head.hpp"
#include "katana/wire/http/reply_head.hpp"
#include "katana/wire/http2/request_writer.hpp"

namespace katana::load {
namespace {

struct Fields {
  std::string lines;
  std::optional<std::string> host;
  std::optional<std::string> length;
};

// The fields in the form that the writer of blocks takes.
Result<Fields> read_fields(const RequestSpec& spec) {
  Fields fields;
  for (const std::string& header : spec.headers) {
    const std::size_t colon = header.find(':');
    const Bytes name = Bytes(header).substr(0, colon);
    const Bytes value = http::trimmed(Bytes(header).substr(colon + 1));
    if (!http::valid_field(name, value)) {
      return fail(Code::invalid_argument,
                  fmt::format("--header '{}' has a byte that HTTP/2 does not send", header));
    }
    if (http::equals_ignoring_case(name, "host")) {
      fields.host = value;
    } else if (http::equals_ignoring_case(name, "content-length")) {
      fields.length = value;
    } else {
      fields.lines += fmt::format("{}: {}\r\n", name, value);
    }
  }
  if (fields.length) fields.lines += fmt::format("content-length: {}\r\n", *fields.length);
  return fields;
}

}  // namespace

Result<void> add_blocks(Target& target, const RequestSpec& spec) {
  auto fields = read_fields(spec);
  if (!fields) return std::unexpected(fields.error());
  for (Request& request : target.requests) {
    http2::RequestHead head;
    head.method = request.method;
    head.scheme = target.url.tls ? "https" : "http";
    head.target = request.path;
    head.authority = fields->host ? *fields->host : target.url.authority;
    head.fields = fields->lines;
    const bool announces =
        !spec.body.empty() || request.method == "POST" || request.method == "PUT";
    if (!fields->length && announces) {
      head.content_length = static_cast<std::int64_t>(spec.body.size());
    }
    const std::size_t room = http2::request_bytes_max(head);
    if (room > http::head_bytes_capacity) {
      return fail(Code::invalid_argument,
                  fmt::format("the head of {} {} is larger than {} bytes: give fewer --header",
                              request.method, request.path, http::head_bytes_capacity));
    }
    request.block.resize(room);
    char* const end = http2::put_request(request.block.data(), head);
    request.block.resize(static_cast<std::size_t>(end - request.block.data()));
    request.content = spec.body;
  }
  return {};
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
