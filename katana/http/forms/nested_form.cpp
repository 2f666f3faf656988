#include "katana/http/forms/nested_form.hpp"

#include <memory>
#include <optional>
#include <string>

#include "katana/http/handlers/framework_problems.hpp"

namespace katana::detail {
namespace {

constexpr const char* kind = "form field";

std::optional<Refusal> add_parts(container::FormTree& tree, MultipartPairs pairs,
                                 const NestedNames& names) {
  while (pairs.next()) {
    const Bytes name = pairs.shown_name();
    FormFile file = *pairs.value<FormFile>(Telling::nothing);
    container::FormLeaf leaf{std::move(file.content)};
    leaf.part = std::make_unique<container::FormLeaf::Part>(std::move(file.filename),
                                                            std::move(file.content_type));
    auto refused = add_nested(tree, name, std::move(leaf), kind, names);
    if (refused) return refused;
  }
  if (const auto error = pairs.error()) return Refusal(parameter_problem(*error));
  return std::nullopt;
}

}  // namespace

std::expected<container::FormTree, Refusal> form_tree_of(const RequestView& request,
                                                         const NestedNames& names) {
  Bytes boundary;
  const FormKind form = form_kind_of(request, boundary);
  if (form == FormKind::other) return std::unexpected(refuse_form_type(request));
  std::expected<container::FormTree, Refusal> tree{std::in_place};
  std::optional<Refusal> refused =
      form == FormKind::parts ? add_parts(*tree, MultipartPairs(boundary, request.content()), names)
                              : add_nested_pairs(*tree, request.content(), kind, names);
  if (refused) return std::unexpected(*std::move(refused));
  return tree;
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
