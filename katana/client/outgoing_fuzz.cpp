// Invariant: whatever method, URL and field a caller gives, what goes out is refused, or it is one
// head of one request to the server's parser, with the field as it was given and nothing behind.
//
// The input is four texts, each behind a byte with its size: method, URL, name, value.
#include <cstdint>
#include <string>

#include "katana/base/check.hpp"
#include "katana/client/outgoing.hpp"
#include "katana/wire/http1/head_parser.hpp"

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

void check_one(Bytes input) {
  const std::string method = take_text(input), url = take_text(input);
  const std::string name = take_text(input), value = take_text(input);
  const auto made = make_outgoing(Request(method, url).field(name, value), HttpClientOptions());
  if (!made) return;
  const http1::Limits limits;
  http1::LineProgress progress;
  http::Head head;
  http1::Framing framing;
  const auto read = http1::HeadParser(limits).parse(made->head, progress, head, framing);
  KATANA_CHECK(read.verdict == http1::HeadVerdict::complete);
  KATANA_CHECK(read.bytes == made->head.size());
  KATANA_CHECK(head.method_text() == method);
  KATANA_CHECK(head.find(name) == Bytes(value));
  KATANA_CHECK(framing.content != http1::ContentKind::chunked && framing.content_length == 0);
  KATANA_CHECK(head.field_count() <= 4);  // Host, Content-Length, the field, User-Agent
}

}  // namespace
}  // namespace katana::client

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  katana::client::check_one({reinterpret_cast<const char*>(data), size});
  return 0;
}
