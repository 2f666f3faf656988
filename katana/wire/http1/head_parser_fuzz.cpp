// Invariant: every set of kernels gives the same verdict on the bytes, however they are cut. An
// accepted head agrees with its lines and is within the limits.
//
// The input is a byte that chooses limits, four that choose places to cut, and the bytes of a head.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/wire/http/url.hpp"
#include "katana/wire/http1/head_parser.hpp"

namespace {

using katana::Bytes;
using katana::http::Head;
using katana::http1::ContentKind;
using katana::http1::Framing;
using katana::http1::HeadParser;
using katana::http1::HeadResult;
using katana::http1::HeadVerdict;
using katana::http1::Kernels;
using katana::http1::Limits;
using katana::http1::LineProgress;

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Verdict {
  HeadResult result{HeadVerdict::incomplete};
  Framing framing;
  std::string bytes, method, target;
  unsigned minor_version = 0;
  Fields fields;
};

bool same(const Verdict& left, const Verdict& right) {
  const auto key = [](const Verdict& verdict) {
    const Framing& framing = verdict.framing;
    return std::tie(verdict.result.verdict, verdict.result.refusal, verdict.result.bytes,
                    verdict.bytes, verdict.method, verdict.target, verdict.minor_version,
                    verdict.fields, framing.content, framing.keep_alive, framing.expects_continue,
                    framing.wants_upgrade, framing.content_length);
  };
  return key(left) == key(right);
}

Limits limits_from(std::uint8_t choice) {
  Limits limits;
  if ((choice & 1) != 0) limits.request_line_bytes_max = 24;
  if ((choice & 2) != 0) limits.head_bytes_max = 64 + (choice >> 4);
  if ((choice & 4) != 0) limits.fields_max = 3;
  limits.request_line_bytes_max =
      std::min(limits.request_line_bytes_max, limits.head_bytes_max - 4);
  return limits;
}

// Parses the first bytes of the text at each of `sizes`, each time from a heap block of that size.
// AddressSanitizer then finds a read outside of them.
Verdict parse(const Limits& limits, Kernels kernels, Bytes text,
              const std::vector<std::size_t>& sizes) {
  HeadParser parser(limits, kernels);
  Verdict verdict;
  LineProgress progress;
  for (const std::size_t size : sizes) {
    const auto block = std::make_unique<char[]>(size);
    std::copy_n(text.data(), size, block.get());
    Head head;
    verdict.result = parser.parse({block.get(), size}, progress, head, verdict.framing);
    if (verdict.result.verdict == HeadVerdict::incomplete) continue;
    if (verdict.result.verdict == HeadVerdict::refused) break;
    verdict.bytes = head.bytes();
    verdict.method = head.method_text();
    verdict.target = head.target();
    verdict.minor_version = head.minor_version();
    for (std::size_t index = 0; index < head.field_count(); ++index) {
      verdict.fields.emplace_back(head.name(index), head.value(index));
    }
    break;
  }
  // The framing of a request that is not accepted means nothing.
  if (verdict.result.verdict != HeadVerdict::complete) verdict.framing = {};
  return verdict;
}

Bytes without_white_space(Bytes text) {
  while (!text.empty() && Bytes(" \t").contains(text.front())) text.remove_prefix(1);
  while (!text.empty() && Bytes(" \t").contains(text.back())) text.remove_suffix(1);
  return text;
}

// Checks that the lines of an accepted head, split at each CRLF, agree with the reported fields.
void check_lines_of(const Verdict& verdict, const Limits& limits) {
  Bytes rest = verdict.bytes;
  KATANA_CHECK(rest.size() == verdict.result.bytes && rest.size() <= limits.head_bytes_max);
  const Bytes request_line = rest.substr(0, rest.find("\r\n"));
  KATANA_CHECK(request_line.size() <= limits.request_line_bytes_max);
  const std::string start = verdict.method + " " + verdict.target + " HTTP/1.";
  KATANA_CHECK(request_line.starts_with(start) && request_line.size() == start.size() + 1);
  KATANA_CHECK(verdict.minor_version == (request_line.back() == '0' ? 0U : 1U));
  rest.remove_prefix(request_line.size() + 2);
  KATANA_CHECK(verdict.fields.size() <= limits.fields_max);
  for (const auto& [name, value] : verdict.fields) {
    const Bytes line = rest.substr(0, rest.find("\r\n"));
    KATANA_CHECK(line.find_first_of(Bytes("\r\n\0", 3)) == Bytes::npos);
    KATANA_CHECK(line.starts_with(name + ":"));
    KATANA_CHECK(katana::http::all_are(name, katana::http::token_character) && !name.empty());
    KATANA_CHECK(without_white_space(line.substr(name.size() + 1)) == value);
    rest.remove_prefix(line.size() + 2);
  }
  KATANA_CHECK(rest == "\r\n");
}

std::vector<std::string> values_of(const Fields& fields, Bytes wanted) {
  std::vector<std::string> values;
  for (const auto& [name, value] : fields) {
    if (katana::http::equals_ignoring_case(name, wanted)) values.push_back(value);
  }
  return values;
}

// No accepted head leaves room for another opinion about its host or its length.
void check_meaning_of(const Verdict& verdict) {
  const auto hosts = values_of(verdict.fields, "Host");
  const auto lengths = values_of(verdict.fields, "Content-Length");
  const auto codings = values_of(verdict.fields, "Transfer-Encoding");
  KATANA_CHECK(hosts.size() == 1 || (hosts.empty() && verdict.minor_version == 0));
  for (const std::string& host : hosts) KATANA_CHECK(katana::http::valid_authority(host));
  KATANA_CHECK(lengths.size() + std::min(codings.size(), std::size_t{1}) <= 1);
  const Framing& framing = verdict.framing;
  KATANA_CHECK((framing.content == ContentKind::chunked) == !codings.empty());
  for (const std::string& length : lengths) {
    KATANA_CHECK(!length.empty() && katana::http::all_are(length, katana::http::digit_character));
    const std::string digits =
        length.substr(std::min(length.find_first_not_of('0'), length.size() - 1));
    KATANA_CHECK(std::to_string(framing.content_length) == digits);
  }
  KATANA_CHECK((framing.content == ContentKind::length) == (framing.content_length > 0));
  KATANA_CHECK(verdict.minor_version == 1 || !framing.expects_continue);
  KATANA_CHECK(framing.content != ContentKind::none || !framing.expects_continue);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 5) return 0;
  const Limits limits = limits_from(data[0]);
  const Bytes text(reinterpret_cast<const char*>(data) + 5, size - 5);
  std::vector<std::size_t> cuts;
  for (std::size_t index = 1; index < 5; ++index) {
    cuts.push_back(data[index] * (text.size() / 256 + 1) % (text.size() + 1));
  }
  std::ranges::sort(cuts);
  cuts.push_back(text.size());
  const Verdict whole = parse(limits, Kernels::scalar, text, {text.size()});
  for (const Kernels kernels : {Kernels::scalar, Kernels::sse42, Kernels::avx2}) {
    if (!supported(kernels)) continue;
    KATANA_CHECK(same(parse(limits, kernels, text, {text.size()}), whole));
    KATANA_CHECK(same(parse(limits, kernels, text, cuts), whole));
  }
  if (whole.result.verdict == HeadVerdict::complete) {
    check_lines_of(whole, limits);
    check_meaning_of(whole);
  } else if (whole.result.verdict == HeadVerdict::incomplete) {
    const std::string ended = std::string(text) + "\r\n\r\n";
    const Verdict verdict = parse(limits, Kernels::scalar, ended, {ended.size()});
    KATANA_CHECK(verdict.result.verdict != HeadVerdict::incomplete);
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
