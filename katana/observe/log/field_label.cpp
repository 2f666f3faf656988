#include "katana/observe/log/field_label.hpp"

#include "katana/observe/log/escape.hpp"

namespace katana::log {

namespace {

// Whether the line itself has a member of this name (json_layout.hpp).
bool is_own_name(Bytes name) noexcept {
  return name == "time" || name == "level" || name == "logger" || name == "message" ||
         name == "thread";
}

}  // namespace

void append_text_label(Bytes name, Buffer& out) {
  out.push_back(' ');
  escape_line(name, out);
  out.push_back('=');
}

void append_json_label(Bytes name, Buffer& out) {
  append(out, ",\"");
  escape_json(name, out);
  if (is_own_name(name)) out.push_back('_');
  append(out, "\":");
}

FieldLabel label_of(Bytes name) {
  Buffer text, json;
  append_text_label(name, text);
  append_json_label(name, json);
  return {{text.data(), text.size()}, {json.data(), json.size()}};
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
