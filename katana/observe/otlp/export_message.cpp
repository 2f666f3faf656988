#include "katana/observe/otlp/export_message.hpp"

#include "katana/base/text/utf8.hpp"

namespace katana::otlp {

void add_text_attribute(ProtobufWriter& out, std::uint32_t number, Bytes key, Bytes value) {
  out.pair(number, key, value);
}

std::string export_request(const Resource& resource, const Scope& scope, Bytes items) {
  std::string request;
  request.reserve(items.size() + 1024);
  ProtobufWriter out(request);
  const std::size_t of_resource = out.begin(1);
  const std::size_t about = out.begin(1);
  for (const auto& [key, value] : resource.attributes()) add_text_attribute(out, 1, key, value);
  out.end(about);
  const std::size_t of_scope = out.begin(2);
  const std::size_t recorder = out.begin(1);
  out.string(1, scope.name);
  out.string(2, scope.version);
  out.end(recorder);
  request += items;
  out.string(3, schema_url);
  out.end(of_scope);
  out.string(3, schema_url);
  out.end(of_resource);
  return request;
}

std::optional<ExportReply> read_reply(Bytes content) {
  ExportReply reply;
  ProtobufReader in(content);
  while (in.next()) {
    if (in.number() != 1) continue;
    ProtobufReader partial(in.bytes());
    while (partial.next()) {
      if (partial.number() == 1) reply.rejected = static_cast<std::int64_t>(partial.value());
      if (partial.number() == 2) {
        reply.message.clear();
        Bytes message = partial.bytes().substr(0, 200);
        while (!message.empty()) reply.message += take_character(message);
      }
    }
    if (!partial.is_good()) return std::nullopt;
  }
  if (!in.is_good() || reply.rejected < 0) return std::nullopt;
  return reply;
}

}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
