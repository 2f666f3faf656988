#include "katana/data/schema/schema.hpp"

#include <utility>

#include "katana/data/schema/compiled.hpp"
#include "katana/data/schema/compiler.hpp"
#include "katana/data/schema/evaluation.hpp"
#include "katana/data/schema/value_view.hpp"

namespace katana::schema {
namespace {

// The approximate size of a value as text.
std::size_t bytes_of(const Value& value) noexcept {
  constexpr std::size_t of_a_value = 4;
  std::size_t bytes = of_a_value;
  if (const auto* const list = value.get_list()) {
    for (const Value& each : *list) bytes += bytes_of(each);
  } else if (const auto* const object = value.get_object()) {
    for (const container::Member& each : *object) bytes += each.name.size() + bytes_of(each.value);
  } else if (value.kind() == container::Kind::text) {
    bytes += value.as_text().size();
  }
  return bytes;
}

}  // namespace

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

bool Schema::check(const Value& value, container::Findings& findings, StepBudget& budget) const {
  return Evaluation<ValueView>(findings, budget).run(*root_, ValueView(value));
}

bool Schema::check(const Value& value, container::Findings& findings) const {
  StepBudget budget(StepBudget::for_bytes(bytes_of(value)));
  return check(value, findings, budget);
}

bool Schema::check_text(Bytes text, container::Findings& findings, StepBudget& budget) const {
  return Evaluation<ValueView>(findings, budget).run(*root_, ValueView::of_text(text));
}

bool Schema::check_text(Bytes text, container::Findings& findings) const {
  StepBudget budget(StepBudget::for_bytes(text.size()));
  return check_text(text, findings, budget);
}

bool Schema::check_json(Bytes text, container::Findings& findings,
                        const container::ReadOptions& options) const {
  StepBudget budget(StepBudget::for_bytes(text.size()));
  return check_json(text, findings, budget, options);
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
