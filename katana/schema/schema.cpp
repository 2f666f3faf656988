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
  auto compiled = schema::compile(std::move(document), pointer, std::move(options));
  if (!compiled) return std::unexpected(compiled.error().within("compile a JSON Schema"));
  return Schema(*std::move(compiled));
}

bool Schema::check(const Value& value, container::Findings& findings) const {
  return Evaluation<ValueView>(findings).run(*compiled_->root, ValueView(value));
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
