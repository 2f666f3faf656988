#include "katana/observe/audit/audit_event.hpp"

#include <fmt/format.h>

#include "katana/base/text/json_string.hpp"
#include "katana/base/text/text.hpp"

namespace katana::audit {
namespace {

void append_member(Text& to, Bytes name, Bytes value) {
  if (value.empty()) return;
  to.append(",\"");
  to.append(name);
  to.append("\":");
  append_json_text(to, value);
}

}  // namespace

Result<std::string> render(const AuditEvent& event, Timestamp at) {
  std::size_t bytes = event.action.size() + event.actor.size() + event.object.size();
  for (const auto& [name, value] : event.details) bytes += name.size() + value.size();
  Text text;
  if (bytes <= line_bytes_max) {
    const auto time = TextForm<Timestamp>::write(at);
    text.append("\"at\":");
    append_json_text(text, Bytes(time));
    append_member(text, "action", event.action);
    append_member(text, "outcome", enumerator_name(event.outcome));
    append_member(text, "actor", event.actor);
    append_member(text, "issuer", event.issuer);
    append_member(text, "object", event.object);
    append_member(text, "address", event.address);
    append_member(text, "request", event.request_id);
    Bytes separator = ",\"details\":{";
    for (const auto& [name, value] : event.details) {
      text.append(separator);
      append_json_text(text, name);
      text.append(":");
      append_json_text(text, value);
      separator = ",";
    }
    if (!event.details.empty()) text.append("}");
  }
  if (bytes > line_bytes_max || text.size() > line_bytes_max) {
    return fail(Code::out_of_range,
                fmt::format("audit: '{}' has more than {} bytes; shorten object and details",
                            event.action.substr(0, 64), line_bytes_max));
  }
  return std::string(text.bytes());
}

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
