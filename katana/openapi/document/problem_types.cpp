#include "katana/openapi/document/problem_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "katana/http/handlers/html.hpp"
#include "katana/openapi/document/served_content.hpp"

namespace katana::openapi {
namespace {

std::string page_of(const ProblemType& type) {
  return html(R"(<!doctype html><html lang="en"><meta charset="utf-8"><title>{}</title>)"
              R"(<h1>{}</h1><p>{}</p><dl><dt>type</dt><dd>{}</dd><dt>status</dt><dd>{}</dd></dl>)",
              std::string(type.title), std::string(type.title), std::string(type.description),
              std::string(type.uri), type.status)
      .markup();
}

}  // namespace

ProblemTypes::ProblemTypes(std::initializer_list<std::reference_wrapper<const ProblemType>> types) {
  for (const ProblemType& each : types) types_.push_back(&each);
}

bool ProblemTypes::has(const ProblemType& type) const {
  return std::ranges::any_of(types_,
                             [&](const ProblemType* each) { return each->uri == type.uri; });
}

void ProblemTypes::serve(Group group) const {
  for (const ProblemType* const type : types_) {
    const std::string_view prefix = group.prefix();
    if (!type->uri.starts_with('/') || !type->uri.starts_with(prefix)) continue;
    const std::shared_ptr<detail::ServedContent> page(
        new detail::ServedContent("text/html; charset=utf-8", "no-cache"));
    page->fill(page_of(*type));
    group.get(type->uri.substr(prefix.size()),
              [page](const RequestView& request) { return page->reply(request); });
  }
}

std::vector<Error> ProblemTypes::mistakes() const {
  std::vector<Error> mistakes;
  for (std::size_t index = 0; index < types_.size(); ++index) {
    const ProblemType& type = *types_[index];
    const auto refuse = [&](std::string_view what) {
      mistakes.emplace_back(Code::invalid_argument,
                            fmt::format("openapi: problem type '{}': {}", type.uri, what));
    };
    if (type.uri.empty() || type.title.empty()) refuse("it needs a uri and a title");
    if (type.status < 400 || type.status > 599) refuse("its status is not of 400 to 599");
    for (std::size_t other = 0; other < index; ++other) {
      if (types_[other]->uri == type.uri) refuse("two types have this uri");
    }
  }
  return mistakes;
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
