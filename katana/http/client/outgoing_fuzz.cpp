// Invariant: whatever method, URL and field a caller gives, the request is refused, or the server's
// parser reads exactly one head of one request. That head has the field as given, and nothing
// follows it. The same holds for HTTP/2, except for fields about a connection.
//
// The input is four texts, each behind a byte with its size: method, URL, name, value.
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/http/client/outgoing.hpp"
#include "katana/wire/http1/head_parser.hpp"
#include "katana/wire/http2/head_reader.hpp"

namespace katana::client {
namespace {

std::string take_text(Bytes& input) {
  if (input.empty()) return {};
  const auto size = static_cast<unsigned char>(input[0]);
  input.remove_prefix(1);
  const std::string text(input.substr(0, size));
  input.remove_prefix(text.size());
  return text;
}

void check_http2(const Outgoing& made, Bytes name, Bytes value) {
  const http2::RequestHead wanted = made.http2_head();
  if (!http2::is_sendable(wanted)) return;
  std::string block(http2::request_bytes_max(wanted), '\0');
  const char* const end = http2::put_request(block.data(), wanted);
  block.resize(static_cast<std::size_t>(end - block.data()));
  static const http2::Limits limits;
  static http2::HeadReader reader(limits);
  http2::Inflater inflater;
  reader.forget();
  const http2::HeadVerdict verdict = reader.read_request(inflater, block);
  KATANA_CHECK(verdict == http2::HeadVerdict::accepted || verdict == http2::HeadVerdict::refused);
  if (verdict == http2::HeadVerdict::refused)
    return;  // a method or field that the client does not
             // send
  KATANA_CHECK(reader.head().method_text() == made.method);
  KATANA_CHECK(reader.head().target() == made.target);
  KATANA_CHECK(http::equals_ignoring_case(name, "Proxy-Connection") ||
               reader.head().find(name) == value);
  KATANA_CHECK(reader.head().field_count() <= 4);
}

void check_one(Bytes input) {
  const std::string method = take_text(input), url = take_text(input);
  const std::string name = take_text(input), value = take_text(input);
  Request request = Request(method, url).field(name, value);
  const auto made = make_outgoing(request, HttpClientOptions());
  if (!made) return;
  const http1::Limits limits;
  http1::LineProgress progress;
  http::Head head;
  http1::Framing framing;
  const Text text = made->http1_head();
  const auto read = http1::HeadParser(limits).parse(text.bytes(), progress, head, framing);
  KATANA_CHECK(read.verdict == http1::HeadVerdict::complete);
  KATANA_CHECK(read.bytes == text.size());
  KATANA_CHECK(head.method_text() == method);
  KATANA_CHECK(head.find(name) == Bytes(value));
  KATANA_CHECK(framing.content != http1::ContentKind::chunked && framing.content_length == 0);
  KATANA_CHECK(head.field_count() <= 4);  // Host, Content-Length, the field, User-Agent
  check_http2(*made, name, value);
}

}  // namespace
}  // namespace katana::client

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  katana::client::check_one({reinterpret_cast<const char*>(data), size});
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
