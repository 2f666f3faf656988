#include "katana/http/coding/codec.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "katana/base/system/check.hpp"

namespace katana::coding {
namespace {

std::size_t index_of(http::Coding coding) noexcept { return static_cast<std::size_t>(coding); }

// The component of the codec, which is also the name of its function.
std::string_view component_of(http::Coding coding) noexcept {
  return coding == http::Coding::brotli ? "brotli" : http::coding_name(coding);
}

}  // namespace

Codecs::Codecs(std::initializer_list<Codec> codecs) noexcept {
  for (const Codec& each : codecs) {
    KATANA_REQUIRE(each.coding != http::Coding::identity && each.make_encoder != nullptr &&
                   each.make_decoder != nullptr);
    codecs_[index_of(each.coding)] = each;
    codings_.insert(each.coding);
  }
}

std::string names_of(http::Codings codings) {
  std::string names;
  for (std::size_t index = 0; index < http::coding_count; ++index) {
    const auto each = static_cast<http::Coding>(index);
    if (!codings.contains(each)) continue;
    if (!names.empty()) names += ", ";
    names += http::coding_name(each);
  }
  return names;
}

std::string Codecs::names() const { return names_of(codings_); }

Result<http::Codings> Codecs::pick(std::span<const std::string> wanted) const {
  if (wanted.empty()) return codings_;
  http::Codings picked;
  for (const std::string& name : wanted) {
    const auto coding = http::coding_from(name);
    if (!coding || *coding == http::Coding::identity) {
      return fail(Code::invalid_argument,
                  fmt::format("unknown content coding '{}'; this program has: {}", name, names()));
    }
    if (!contains(*coding)) {
      return fail(Code::invalid_argument,
                  fmt::format("content coding '{}' is not one that this program has ({}): link "
                              "katana::{}, and put coding::{}() into the codecs",
                              name, names(),
                              *coding == http::Coding::gzip ? "coding" : component_of(*coding),
                              component_of(*coding)));
    }
    picked.insert(*coding);
  }
  return picked;
}

std::unique_ptr<Encoder> Codecs::make_encoder(http::Coding coding,
                                              const EncoderOptions& options) const {
  KATANA_REQUIRE(contains(coding));
  return codecs_[index_of(coding)].make_encoder(options);
}

std::unique_ptr<Decoder> Codecs::make_decoder(http::Coding coding,
                                              const DecoderLimits& limits) const {
  KATANA_REQUIRE(contains(coding));
  return codecs_[index_of(coding)].make_decoder(limits);
}

}  // namespace katana::coding

// SPDX-License-Identifier: Apache-2.0
