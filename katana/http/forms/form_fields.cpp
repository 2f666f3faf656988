#include "katana/http/forms/form_fields.hpp"

#include <fmt/format.h>

#include "katana/http/handlers/framework_problems.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::detail {

// Moves to the next part that is a field; its content is complete.
bool MultipartPairs::next() {
  using Event = http::MultipartEvent;
  while (!rest_.empty()) {
    const auto step = reader_.next(rest_);
    if (step.event == Event::part) {
      const http::MultipartPart& part = reader_.part();
      name_ = part.name;
      filename_ = part.filename;
      has_filename_ = part.has_filename;
      type_ = part.content_type.empty() ? Bytes("text/plain") : part.content_type;
      content_.clear();
    }
    if (step.event == Event::content) content_ += reader_.content();
    rest_.remove_prefix(step.consumed);
    if (step.event == Event::part_end && !is_file_not_chosen()) return true;
    if (step.event == Event::refused || step.event == Event::end) return false;
    if (step.event == Event::need_bytes && step.consumed == 0) return false;
  }
  return false;
}

std::optional<Error> MultipartPairs::error() const {
  if (reader_.ended()) return std::nullopt;
  const char* const words = reader_.refusal() == http::MultipartRefusal::too_many_parts
                                ? "The form has too many parts."
                            : reader_.refusal() == http::MultipartRefusal::none
                                ? "The form ends too soon."
                                : "The content is no multipart/form-data (RFC 7578).";
  return Error(Code::invalid_argument, words);
}

FormKind form_kind_of(const RequestView& request, Bytes& boundary) noexcept {
  const Bytes type = request.field("content-type").value_or("");
  if (const auto found = http::MultipartReader::boundary_of(type)) {
    boundary = *found;
    return FormKind::parts;
  }
  Bytes name = type.substr(0, type.find(';'));
  while (name.ends_with(' ') || name.ends_with('\t')) name.remove_suffix(1);
  return http::equals_ignoring_case(name, "application/x-www-form-urlencoded") ? FormKind::pairs
                                                                               : FormKind::other;
}

Refusal refuse_form_type(const RequestView& request) {
  constexpr Bytes taken = "application/x-www-form-urlencoded, multipart/form-data";
  constexpr std::size_t shown_bytes_max = 64;
  const std::optional<Bytes> type = request.field("content-type");
  const std::string words =
      type ? fmt::format("The Content-Type is '{}'; this takes a form: {}.",
                         type->substr(0, shown_bytes_max), taken)
           : fmt::format("There is no Content-Type; this takes a form: {}.", taken);
  return Refusal(problem(problem_types::unsupported_media_type, words)
                     .with("Accept", taken));  // RFC 9110 §15.5.16
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
