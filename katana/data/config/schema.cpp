#include "katana/data/config/schema.hpp"

#include "katana/base/text/json_string.hpp"

namespace katana::config {
namespace {

void append_quoted(std::string& to, Bytes text) {
  Text quoted;
  append_json_text(quoted, text);
  to += quoted.bytes();
}

// Writes the members of a JSON object one after another.
class SchemaText {
 public:
  void open(Bytes key, char bracket) {
    begin(key);
    text_ += bracket;
    ++depth_;
    first_ = true;
  }
  void close(char bracket) {
    --depth_;
    if (!first_) {
      text_ += '\n';
      text_.append(2 * std::size_t{depth_}, ' ');
    }
    text_ += bracket;
    first_ = false;
  }
  void add(Bytes key, Bytes text) {
    begin(key);
    append_quoted(text_, text);
  }
  void add_raw(Bytes key, Bytes json) {
    begin(key);
    text_ += json;
  }
  void add_item(Bytes text) { add({}, text); }  // of a list
  std::string take() { return std::move(text_); }

 private:
  void begin(Bytes key) {
    if (depth_ > 0) {
      if (!first_) text_ += ',';
      text_ += '\n';
      text_.append(2 * std::size_t{depth_}, ' ');
    }
    first_ = false;
    if (key.empty()) return;
    append_quoted(text_, key);
    text_ += ": ";
  }

  std::string text_;
  unsigned depth_ = 0;
  bool first_ = true;
};

void write_type(SchemaText& out, const Type& type);

void write_group(SchemaText& out, const Group& group) {
  out.add("type", "object");
  out.add_raw("additionalProperties", "false");
  out.open("properties", '{');
  for (const Member& member : group.members) {
    out.open(member.name, '{');
    if (!member.help.empty()) out.add("description", member.help);
    write_type(out, member.type());
    out.close('}');
  }
  out.close('}');
}

void write_scalar(SchemaText& out, const ScalarType& type) {
  if (type.names.empty()) {
    out.add_raw("type", type.schema_type);
    return;
  }
  out.open("enum", '[');
  for (const EnumeratorValue& each : type.names) out.add_item(each.name);
  out.close(']');
}

void write_type(SchemaText& out, const Type& type) {
  const Type& value = type.without_optional();
  if (value.kind == Type::Kind::group) return write_group(out, *value.group);
  if (value.kind == Type::Kind::scalar) return write_scalar(out, *value.scalar);
  const bool is_list = value.kind == Type::Kind::list;
  out.add("type", is_list ? "array" : "object");
  out.open(is_list ? "items" : "additionalProperties", '{');
  write_type(out, value.container->element());
  out.close('}');
}

}  // namespace

std::string json_schema(const Type& type, Bytes title) {
  SchemaText out;
  out.open({}, '{');
  out.add("$schema", "https://json-schema.org/draft/2020-12/schema");
  out.add("title", title);
  write_group(out, *type.group);
  out.close('}');
  return out.take() + "\n";
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
