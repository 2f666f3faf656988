#include "katana/wire/http1/head_parser.hpp"

#include <algorithm>

#include "katana/base/system/check.hpp"
#include "katana/wire/http1/kernels.hpp"

namespace katana::http1 {
namespace {

using http::CharacterClass;
using http::is;

const char* find_not(CharacterClass wanted, const char* p, const char* end) noexcept {
  while (p != end && is(*p, wanted)) ++p;
  return p;
}

bool is_version_digits(Bytes text) noexcept {
  return text.size() == 3 && is(text[0], http::digit_character) && text[1] == '.' &&
         is(text[2], http::digit_character);
}

// RFC 9112 §3: method SP request-target SP HTTP-version, exactly.
Refusal check_request_line(Bytes line) noexcept {
  const char* const end = line.data() + line.size();
  const char* p = find_not(http::token_character, line.data(), end);
  if (p == line.data() || p == end || *p != ' ') return Refusal::bad_request_line;
  const char* const target = p + 1;
  p = find_not(http::target_character, target, end);
  if (p == target || p == end || *p != ' ') return Refusal::bad_request_line;
  const Bytes version(p + 1, static_cast<std::size_t>(end - p - 1));
  if (!version.starts_with("HTTP/") || !is_version_digits(version.substr(5))) {
    return Refusal::bad_request_line;
  }
  return version[5] == '1' ? Refusal::none : Refusal::unsupported_version;
}

Refusal check_field_line(Bytes line) noexcept {
  if (line[0] == ' ' || line[0] == '\t') return Refusal::folded_field;
  const char* const end = line.data() + line.size();
  const char* const p = find_not(http::token_character, line.data(), end);
  if (p == end || p == line.data()) return Refusal::bad_field_line;
  if (*p == ' ' || *p == '\t') return Refusal::white_space_before_colon;
  return *p == ':' ? Refusal::none : Refusal::bad_field_line;
}

HeadResult refuse(Refusal refusal) noexcept { return {HeadVerdict::refused, refusal, 0}; }

// Why the bytes before `at` cannot begin an acceptable head, if they are too many.
Refusal check_size(const Limits& limits, const LineProgress& progress, std::size_t at) noexcept {
  if (progress.lines == 0) {
    return at > limits.request_line_bytes_max ? Refusal::request_line_too_long : Refusal::none;
  }
  return at > limits.head_bytes_max - 2 ? Refusal::head_too_long : Refusal::none;
}

Refusal check_line(const Limits& limits, Bytes line, std::size_t lines_before) noexcept {
  if (lines_before == 0) return check_request_line(line);
  if (lines_before > limits.fields_max) return Refusal::too_many_fields;
  return check_field_line(line);
}

}  // namespace

HeadResult check_lines(const Limits& limits, Bytes input, LineProgress& progress) noexcept {
  const char* const base = input.data();
  const char* const end = base + input.size();
  // One byte beyond the limit is examined: "too long" then does not depend on how much has arrived.
  const char* const last = base + std::min(input.size(), limits.head_bytes_max + 1);
  for (;;) {
    const char* const line = base + progress.line_at;
    const char* const stop =
        find_not(http::value_character, base + std::max(progress.line_at, progress.searched), last);
    const auto at = static_cast<std::size_t>(stop - base);
    if (const Refusal refusal = check_size(limits, progress, at); refusal != Refusal::none) {
      return refuse(refusal);
    }
    progress.searched = static_cast<std::uint16_t>(at);
    if (stop == last) return {HeadVerdict::incomplete};
    if (*stop == '\n') return refuse(Refusal::bare_line_break);
    if (*stop != '\r') return refuse(Refusal::control_character);
    if (stop + 1 == end) return {HeadVerdict::incomplete};
    if (stop[1] != '\n') return refuse(Refusal::bare_line_break);
    if (stop == line && progress.lines > 0) return {HeadVerdict::complete, Refusal::none, at + 2};
    const Bytes text(line, static_cast<std::size_t>(stop - line));
    const Refusal refusal = check_line(limits, text, progress.lines);
    if (refusal != Refusal::none) return refuse(refusal);
    ++progress.lines;
    progress.line_at = static_cast<std::uint16_t>(at + 2);
  }
}

HeadResult HeadParser::parse_in_pieces(Bytes input, LineProgress& progress, http::Head& head,
                                       Framing& framing) noexcept {
  const HeadResult form = check_lines(limits_, input, progress);
  if (form.verdict != HeadVerdict::complete) return form;
  return whole_(limits_, input.substr(0, form.bytes), head, framing, host_);
}

bool supported(Kernels kernels) noexcept {
  switch (kernels) {
    case Kernels::scalar: return true;
#if defined(__x86_64__)
    case Kernels::sse42: return __builtin_cpu_supports("sse4.2") != 0;
    case Kernels::avx2:
      return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0;
#elif defined(__aarch64__)
    case Kernels::neon: return true;
#endif
    default: return false;
  }
}

Kernels best_kernels() noexcept {
  for (const Kernels each : {Kernels::neon, Kernels::avx2, Kernels::sse42}) {
    if (supported(each)) return each;
  }
  return Kernels::scalar;
}

HeadParser::HeadParser(const Limits& limits, Kernels kernels) noexcept : limits_(limits) {
  KATANA_REQUIRE(are_valid(limits) && supported(kernels));
  switch (kernels) {
#if defined(__x86_64__)
    case Kernels::sse42: whole_ = parse_whole_sse42; break;
    case Kernels::avx2: whole_ = parse_whole_avx2; break;
#elif defined(__aarch64__)
    case Kernels::neon: whole_ = parse_whole_neon; break;
#endif
    default: whole_ = parse_whole_scalar; break;
  }
}

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
