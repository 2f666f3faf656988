// The input is a schema and data, with a line end between them. A compiled schema gives the same
// verdict for a text and for the value that was read from it.
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/schema/schema.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana;
  const Bytes input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\n');
  auto document = container::read_json<container::Value>(input.substr(0, end));
  if (!document) return 0;
  const auto schema = schema::Schema::compile(*std::move(document), {.assert_formats = true});
  if (!schema) {
    KATANA_CHECK(!schema.error().message().empty());
    return 0;
  }
  const Bytes text = end == Bytes::npos ? Bytes() : input.substr(end + 1);
  const auto value = container::read_json<container::Value>(text);
  container::Findings of_text;
  const bool text_fits = schema->check_json(text, of_text);
  KATANA_CHECK(text_fits == of_text.empty());
  if (!value) return 0;
  container::Findings of_value;
  KATANA_CHECK(schema->check(*value, of_value) == of_value.empty());
  KATANA_CHECK(of_value.empty() == text_fits);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
