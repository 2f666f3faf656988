#include "katana/observe/log/json_layout.hpp"

#include <algorithm>
#include <cmath>

#include "katana/observe/log/escape.hpp"
#include "katana/observe/log/field_label.hpp"

namespace katana::log {

namespace {

constexpr Bytes line_begin = R"({"time":")";

void append_string(Bytes text, Buffer& out) {
  out.push_back('"');
  escape_json(text, out);
  out.push_back('"');
}

}  // namespace

void JsonLayout::add(const Entry& entry, Buffer& out) {
  append(out, line_begin);
  append(out, time_.text(entry.wall_ns));
  append(out, R"(","level":")");
  append(out, level_name(entry.site->level));
  append(out, R"(","logger":")");
  escape_json(entry.site->logger, out);
  append(out, R"(","message":")");
  entry.site->plan.format_escaped(entry.arguments, out, scratch_, escape_json);
  append(out, R"(","thread":)");
  const fmt::format_int thread(entry.thread_id);
  append(out, {thread.data(), thread.size()});
  std::size_t index = 0;
  for (std::span<const Value> fields = entry.fields; !fields.empty(); ++index) {
    if (index < entry.site->labels.size()) [[likely]]
      append(out, entry.site->labels[index].json);
    else
      append_json_label(fields.front().name, out);
    fields = fields.subspan(append_value(fields, out));
  }
  append(out, "}\n");
}

std::size_t JsonLayout::whole_bytes(Bytes file) const {
  const std::size_t line = file.rfind('\n') + 1;  // 0 when there is none
  return file.substr(line).starts_with(line_begin) ? line : file.size();
}

std::size_t JsonLayout::append_value(std::span<const Value> values, Buffer& out) {
  const Value& value = values.front();
  switch (value.kind) {
    case Kind::object: return append_object(values, out);
    case Kind::text:
      out.push_back('"');
      escape_json(value.text, out);
      if (value.cut) append(out, "…");
      out.push_back('"');
      return 1;
    case Kind::boolean:
    case Kind::signed_integer:
    case Kind::unsigned_integer: return log::append_value(values, out);
    case Kind::real32:
    case Kind::real64:
      if (std::isfinite(value.real)) return log::append_value(values, out);
      break;
    default: break;
  }
  scratch_.clear();
  const std::size_t count = log::append_value(values, scratch_);
  append_string({scratch_.data(), scratch_.size()}, out);
  return count;
}

std::size_t JsonLayout::append_object(std::span<const Value> values, Buffer& out) {
  out.push_back('{');
  std::size_t at = 1;
  while (at < values.size() && values[at].kind != Kind::object_end) {
    if (at > 1) out.push_back(',');
    append_string(values[at].name, out);
    out.push_back(':');
    at += append_value(values.subspan(at), out);
  }
  out.push_back('}');
  return std::min(at + 1, values.size());
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
