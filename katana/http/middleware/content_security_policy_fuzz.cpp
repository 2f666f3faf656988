// A policy that is accepted is written as text that parses to the same policy. The text can neither
// end its field nor hold two policies.
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/http/middleware/content_security_policy.hpp"
#include "katana/wire/http/reply_head.hpp"

namespace {

using namespace katana;

// The text has the keyword in place of the reply's nonce.
std::string text_of(const ContentSecurityPolicy& policy) {
  std::string text;
  for (const std::string& part : policy.parts()) {
    if (!text.empty()) {
      text.resize(text.size() - Bytes("'nonce-").size());
      text += "'nonce";
    }
    text += part;
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto policy = ContentSecurityPolicy::parse({reinterpret_cast<const char*>(data), size});
  if (!policy) return 0;
  const std::string text = text_of(*policy);
  KATANA_CHECK(http::valid_field("Content-Security-Policy", text));
  KATANA_CHECK(text.find(',') == std::string::npos);
  const auto again = ContentSecurityPolicy::parse(text);
  KATANA_CHECK(again && text_of(*again) == text && again->has_nonce() == policy->has_nonce());
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
