#include "katana/openapi/contract/form_value.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "katana/container/json_read.hpp"
#include "katana/schema/shape.hpp"
#include "katana/wire/http/multipart.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::openapi {
namespace {

using container::List;
using container::Object;
using container::Value;

constexpr std::size_t values_max = 1000;

// Members of a form, one after another.
class Collected {
 public:
  explicit Collected(const schema::Schema& schema) : shape_(schema.root()) {}

  Result<void> add(Bytes name, Bytes text, bool is_json, bool is_file) {
    if (++count_ > values_max) {
      return fail(Code::invalid_argument, fmt::format("a form of more than {} values", values_max));
    }
    const schema::Shape member = shape_.member(name);
    const std::uint8_t types = member.types();
    const bool is_list = (types & schema::array_type) != 0 && (types & schema::string_type) == 0;
    Value value;
    if (is_json) {
      auto read = container::read_json<Value>(text);
      if (!read) return std::unexpected(read.error().within(fmt::format("part '{}'", name)));
      value = *std::move(read);
    } else if (is_file) {
      value = Value(text);
    } else {
      value = schema::value_of_text(text, is_list ? member.item(0).types() : types);
    }
    const bool is_whole = is_json && value.get_list() != nullptr;
    Value* const known = object_.find(name);
    if (known == nullptr) {
      object_.add(std::string(name),
                  is_list && !is_whole ? Value(List{std::move(value)}) : std::move(value));
    } else if (known->get_list() != nullptr) {
      known->as_list().push_back(std::move(value));
    } else {
      *known = Value(List{std::move(*known), std::move(value)});
    }
    return {};
  }
  Value take() { return std::move(object_); }

 private:
  schema::Shape shape_;
  Object object_;
  std::size_t count_ = 0;
};

std::optional<std::string> decoded(Bytes raw) {
  std::string text(raw);
  const auto size = http::decode_form(raw, text);
  if (!size) return std::nullopt;
  text.resize(*size);
  return text;
}

}  // namespace

Result<Value> urlencoded_value(Bytes content, const schema::Schema& schema) {
  Collected collected(schema);
  http::QueryReader reader(content);
  Bytes name, raw;
  while (reader.next(name, raw)) {
    const auto key = decoded(name);
    const auto text = decoded(raw);
    if (!key || !text) {
      return fail(Code::invalid_argument, fmt::format("expected valid percent-encoding, got '{}'",
                                                      (key ? raw : name).substr(0, 64)));
    }
    if (const auto added = collected.add(*key, *text, false, false); !added) {
      return std::unexpected(added.error());
    }
  }
  return collected.take();
}

Result<Value> multipart_value(Bytes type, Bytes content, const schema::Schema& schema) {
  const auto boundary = http::MultipartReader::boundary_of(type);
  if (!boundary) return fail(Code::invalid_argument, "multipart/form-data without a boundary");
  Collected collected(schema);
  http::MultipartReader reader(*boundary, {.parts_max = values_max});
  std::string name, text;
  bool is_json = false;
  bool is_file = false;
  while (true) {
    const auto [event, consumed] = reader.next(content);
    switch (event) {
      case http::MultipartEvent::need_bytes:
        if (consumed == 0) return fail(Code::invalid_argument, "the last boundary is missing");
        break;
      case http::MultipartEvent::part:
        name = reader.part().name;
        text.clear();
        is_json = reader.part().content_type.starts_with("application/json");
        is_file = reader.part().has_filename;
        break;
      case http::MultipartEvent::content: text += reader.content(); break;
      case http::MultipartEvent::part_end:
        if (const auto added = collected.add(name, text, is_json && !is_file, is_file); !added) {
          return std::unexpected(added.error());
        }
        break;
      case http::MultipartEvent::end: return collected.take();
      case http::MultipartEvent::refused:
        return fail(Code::invalid_argument, "malformed multipart/form-data");
    }
    content.remove_prefix(consumed);
  }
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
