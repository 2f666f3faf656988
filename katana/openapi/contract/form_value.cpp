#include "katana/openapi/contract/form_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "katana/data/container/form_tree.hpp"
#include "katana/openapi/contract/form_tree_value.hpp"
#include "katana/openapi/contract/parameter.hpp"
#include "katana/wire/http/multipart.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::openapi {
namespace {

using container::Findings;
using container::FormLeaf;
using container::FormTree;
using container::Value;

// Members of a form, one after another.
class Collected {
 public:
  explicit Collected(const schema::Schema& schema)
      : shape_(schema.root()), names_(shape_.names()) {}

  Result<void> add(Bytes name, FormLeaf leaf) {
    // Brackets of a property's name are a part of it.
    const bool is_property = std::ranges::find(names_, name) != names_.end();
    return is_property ? tree_.add_plain(name, std::move(leaf)) : tree_.add(name, std::move(leaf));
  }
  Value value(Findings& findings) const {
    return form_tree_value(tree_.root(), shape_, {}, findings);
  }

 private:
  schema::Shape shape_;
  std::vector<std::string> names_;
  FormTree tree_;
};

std::optional<std::string> decoded(Bytes raw) {
  std::string text(raw);
  const auto size = http::decode_form(raw, text);
  if (!size) return std::nullopt;
  text.resize(*size);
  return text;
}

Error malformed(Bytes raw) {
  return Error(Code::invalid_argument,
               fmt::format("expected valid percent-encoding, got '{}'", raw.substr(0, 64)));
}

// Where the list is one text, its items.
std::vector<Bytes> items_of(Bytes raw, Bytes name, std::span<const FormStyle> styles) {
  const auto found = std::ranges::find(styles, name, &FormStyle::name);
  if (found == styles.end() || found->explode || found->style == model::Style::deep_object) {
    return {raw};
  }
  return items_of_style(found->style, raw);
}

}  // namespace

Result<Value> urlencoded_value(Bytes content, const schema::Schema& schema,
                               std::span<const FormStyle> styles, Findings& findings) {
  Collected collected(schema);
  http::QueryReader reader(content);
  Bytes name, raw;
  while (reader.next(name, raw)) {
    const auto key = decoded(name);
    if (!key) return std::unexpected(malformed(name));
    for (const Bytes item : items_of(raw, *key, styles)) {
      auto text = decoded(item);
      if (!text) return std::unexpected(malformed(item));
      if (const auto added = collected.add(*key, {*std::move(text)}); !added) {
        return std::unexpected(added.error());
      }
    }
  }
  return collected.value(findings);
}

Result<Value> multipart_value(Bytes type, Bytes content, const schema::Schema& schema,
                              Findings& findings) {
  const auto boundary = http::MultipartReader::boundary_of(type);
  if (!boundary) return fail(Code::invalid_argument, "multipart/form-data without a boundary");
  Collected collected(schema);
  http::MultipartReader reader(*boundary, {.parts_max = FormTree::values_max});
  std::string name;
  FormLeaf leaf;
  while (true) {
    const auto [event, consumed] = reader.next(content);
    switch (event) {
      case http::MultipartEvent::need_bytes:
        if (consumed == 0) return fail(Code::invalid_argument, "the last boundary is missing");
        break;
      case http::MultipartEvent::part:
        name = reader.part().name;
        leaf = {};
        leaf.part = std::make_unique<FormLeaf::Part>(std::string(reader.part().filename),
                                                     std::string(reader.part().content_type));
        break;
      case http::MultipartEvent::content: leaf.text += reader.content(); break;
      case http::MultipartEvent::part_end:
        if (const auto added = collected.add(name, std::move(leaf)); !added) {
          return std::unexpected(added.error());
        }
        break;
      case http::MultipartEvent::end: return collected.value(findings);
      case http::MultipartEvent::refused:
        return fail(Code::invalid_argument, "malformed multipart/form-data");
    }
    content.remove_prefix(consumed);
  }
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
