#include "katana/schema/schema.hpp"

#include <utility>

#include "katana/schema/compiled.hpp"
#include "katana/schema/compiler.hpp"
#include "katana/schema/evaluation.hpp"
#include "katana/schema/value_view.hpp"

namespace katana::schema {

Result<Schema> Schema::compile(Value document, Options options) {
  return compile_at(std::move(document), {}, std::move(options));
}

Result<Schema> Schema::compile_at(Value document, Bytes pointer, Options options) {
  const std::string pointers[] = {std::string(pointer)};
  auto made = compile_each(std::move(document), pointers, std::move(options));
  if (!made) return std::unexpected(made.error());
  return std::move(made->front());
}

Result<std::vector<Schema>> Schema::compile_each(Value document,
                                                 std::span<const std::string> pointers,
                                                 Options options) {
  auto compiled = schema::compile(std::move(document), pointers, std::move(options));
  if (!compiled) return std::unexpected(compiled.error().within("compile a JSON Schema"));
  std::vector<Schema> made;
  made.reserve((*compiled)->roots.size());
  for (const Node* const root : (*compiled)->roots) made.push_back(Schema(*compiled, root));
  return made;
}

bool Schema::check(const Value& value, container::Findings& findings) const {
  return Evaluation<ValueView>(findings).run(*root_, ValueView(value));
}

bool Schema::check_text(Bytes text, container::Findings& findings) const {
  return Evaluation<ValueView>(findings).run(*root_, ValueView::of_text(text));
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
