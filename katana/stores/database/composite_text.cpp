#include "katana/stores/database/composite_text.hpp"

#include <fmt/format.h>

namespace katana::database::detail {
namespace {

// Texts of misfits are literals but for those of fields, which are made when one does not fit.
const char* keep_misfit(std::string text) {
  static thread_local std::string kept;
  kept = std::move(text);
  return kept.c_str();
}

}  // namespace

const char* misfit_of_field(Bytes field, const char* why) {
  return keep_misfit(fmt::format("has the field '{}', which {}", field, why));
}

const char* field_is_missing(Bytes field) {
  return keep_misfit(fmt::format("has no field '{}'", field));
}

}  // namespace katana::database::detail

// SPDX-License-Identifier: Apache-2.0
