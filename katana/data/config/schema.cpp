#include "katana/data/config/schema.hpp"

#include "katana/base/text/json_string.hpp"

namespace katana::config::detail {
namespace {

void append_quoted(std::string& to, Bytes text) {
  Text quoted;
  append_json_text(quoted, text);
  to += quoted.bytes();
}

}  // namespace

void SchemaText::begin(Bytes key) {
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

void SchemaText::open(Bytes key, char bracket) {
  begin(key);
  text_ += bracket;
  ++depth_;
  first_ = true;
}

void SchemaText::close(char bracket) {
  --depth_;
  if (!first_) {
    text_ += '\n';
    text_.append(2 * std::size_t{depth_}, ' ');
  }
  text_ += bracket;
  first_ = false;
}

void SchemaText::add(Bytes key, Bytes text) {
  begin(key);
  append_quoted(text_, text);
}

void SchemaText::add_raw(Bytes key, Bytes json) {
  begin(key);
  text_ += json;
}

void SchemaText::add_item(Bytes text) {
  begin({});
  append_quoted(text_, text);
}

}  // namespace katana::config::detail

// SPDX-License-Identifier: Apache-2.0
