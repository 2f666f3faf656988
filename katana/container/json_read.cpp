#include "katana/container/json_read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "katana/base/utf8.hpp"

namespace katana::container::detail {
namespace {

constexpr Bytes json_space = " \t\r\n";

std::size_t offset_of_bad_utf8(Bytes text) noexcept {
  std::size_t offset = 0;
  while (const std::size_t length = utf8_length(text.substr(offset))) offset += length;
  return offset;
}

Bytes words_of(simdjson::error_code error) noexcept {
  switch (error) {
    case simdjson::EMPTY: return "there is no value";
    case simdjson::UNCLOSED_STRING: return "a string does not end";
    case simdjson::UNESCAPED_CHARS: return "a control character in a string";
    case simdjson::UTF8_ERROR: return "text that is not UTF-8";
    case simdjson::MEMALLOC: return "no memory to read it";
    case simdjson::CAPACITY: return "it is too long to be read";
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT: return "an object or array does not end";
    default: return "a comma, colon, name or value is missing or out of place";
  }
}

}  // namespace

struct JsonSource::Kept {
  ondemand::parser parser;
  std::unique_ptr<char[]> copy;
  std::size_t copy_bytes = 0;
  bool in_use = false;
};

JsonSource::Kept& JsonSource::kept() {
  static thread_local Kept kept;
  return kept;
}

JsonSource::JsonSource(Findings& findings, const ReadOptions& options)
    : kept_(&kept()),
      owns_kept_(kept_->in_use),
      reading_(findings, options, {"JSON", offset, this}) {
  if (owns_kept_) kept_ = std::make_unique<Kept>().release();
  kept_->in_use = true;
}

JsonSource::~JsonSource() {
  if (owns_kept_) {
    delete kept_;
    return;
  }
  kept_->in_use = false;
  if (kept_->copy_bytes > kept_bytes_max || kept_->parser.capacity() > kept_bytes_max) {
    document_ = {};
    *kept_ = Kept();
  }
}

std::optional<std::size_t> JsonSource::offset(const void* self) noexcept {
  auto* const source = const_cast<JsonSource*>(static_cast<const JsonSource*>(self));
  const char* at = nullptr;
  if (!source->is_open_ || source->document_.current_location().get(at) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  const auto offset = static_cast<std::size_t>(at - source->begin_);
  return source->is_wrapped_ && offset != 0 ? offset - 1 : offset;
}

const char* JsonSource::copy(Bytes text) {
  const std::size_t extra = is_wrapped_ ? 2 : 0;
  const std::size_t wanted = text.size() + extra + json_padding_bytes;
  if (kept_->copy_bytes < wanted) {
    kept_->copy_bytes = std::max<std::size_t>(4096, std::bit_ceil(wanted));
    kept_->copy = std::make_unique_for_overwrite<char[]>(kept_->copy_bytes);
  }
  char* at = kept_->copy.get();
  if (is_wrapped_) *at++ = '[';
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  at += text.size();
  if (is_wrapped_) *at++ = ']';
  std::memset(at, ' ', json_padding_bytes);
  return kept_->copy.get();
}

bool JsonSource::start(const char* text, std::size_t size) {
  begin_ = text;
  if (kept_->parser.capacity() < size) {
    // Doubling, so that texts which grow little by little do not allocate each time.
    const std::size_t capacity = std::max<std::size_t>(4096, std::bit_ceil(size));
    if (const auto error = kept_->parser.allocate(capacity)) return refuse_text(error, {});
  }
  const auto error = kept_->parser.iterate(text, size, size + json_padding_bytes).get(document_);
  if (error != simdjson::SUCCESS) [[unlikely]]
    return refuse_text(error, {text, size});
  is_open_ = true;
  return true;
}

bool JsonSource::open(Bytes text, bool is_padded) {
  if (text.size() > reading_.options().bytes_max) {
    reading_.malformed(fmt::format("more than {} octets", reading_.options().bytes_max));
    return false;
  }
  const std::size_t first = text.find_first_not_of(json_space);
  is_wrapped_ = first == Bytes::npos || (text[first] != '{' && text[first] != '[');
  const std::size_t extra = is_wrapped_ ? 2 : 0;
  const bool in_place = is_padded && !is_wrapped_;
  return start(in_place ? text.data() : copy(text), text.size() + extra);
}

bool JsonSource::refuse_text(simdjson::error_code error, Bytes text) {
  if (error == simdjson::UTF8_ERROR) {
    const std::size_t offset = offset_of_bad_utf8(text) - (is_wrapped_ ? 1 : 0);
    reading_.malformed(fmt::format("{} at octet {}", words_of(error), offset));
  } else {
    reading_.malformed(words_of(error));
  }
  return false;
}

bool JsonSource::close() {
  const char* at = nullptr;
  if (document_.current_location().get(at) != simdjson::SUCCESS) [[likely]]
    return true;
  malformed("something follows the value");
  return false;
}

Taken JsonSource::malformed(simdjson::error_code error) { return malformed(words_of(error)); }

Taken JsonSource::malformed(Bytes words) {
  reading_.malformed(words);
  return Taken::malformed;
}

Bytes JsonNode::token_trimmed() {
  const Bytes all = token();
  return all.substr(0, all.find_last_not_of(json_space) + 1);
}

bool JsonNode::is_literal() {
  const Bytes all = token();
  return all.starts_with('t') || all.starts_with('f') || all.starts_with('n');
}

std::optional<Kind> JsonNode::kind() {
  const Bytes all = token_trimmed();
  if (all.empty()) return std::nullopt;
  switch (all.front()) {
    case '{': return Kind::object;
    case '[': return Kind::list;
    case '"': return Kind::text;
    case 't':
    case 'f': return Kind::boolean;
    case 'n': return Kind::null;
    default: break;
  }
  if (!is_json_number(all)) return std::nullopt;
  return is_json_integer(all) ? Kind::integer : Kind::real;
}

std::string JsonNode::number_text() {
  const Bytes all = token_trimmed();
  return is_json_number(all) ? std::string(all) : std::string();
}

std::string JsonNode::shown() {
  constexpr std::size_t bytes_max = 40;
  return number_text().substr(0, bytes_max);
}

// Nothing could be taken: because it is something else, or because it is nothing at all.
Taken JsonNode::unread() {
  const Bytes all = token_trimmed();
  const std::optional<Kind> found = kind();
  const bool is_word = found == Kind::boolean || found == Kind::null;
  if (found && (!is_word || all == "true" || all == "false" || all == "null")) {
    return Taken::mismatch;
  }
  return source_.malformed("expected a value");
}

Taken JsonNode::number_fault(bool wants_integer) {
  const Taken taken = unread();
  if (taken != Taken::mismatch) return taken;
  const std::optional<Kind> found = kind();
  const bool is_number = found == Kind::integer || (found == Kind::real && !wants_integer);
  return is_number ? Taken::out_of_range : Taken::mismatch;
}

Taken JsonNode::container_fault(simdjson::error_code error, Kind wanted) {
  const Taken taken = unread();
  // It begins as it should, so what is wrong comes later.
  return taken == Taken::mismatch && kind() == wanted ? source_.malformed(error) : taken;
}

Taken JsonNode::take_escaped(const char* begin, std::string& to) {
  if (unescape_string(begin, to)) return Taken::good;
  return source_.malformed("an escape that JSON does not have, or half a surrogate pair");
}

Taken JsonNode::too_deep() {
  source_.reading().too_deep();
  return Taken::malformed;
}

Taken JsonNode::take(Octets& to) {
  const Bytes all = token_trimmed();
  if (!all.starts_with('"')) return unread();
  std::string text;
  if (!unescape_string(all.data() + 1, text)) return take_escaped(all.data() + 1, text);
  return decode_base64(text, to) ? Taken::good : Taken::mismatch;
}

// REQUIRES kind() to be that of an object.
Peeked JsonNode::peek(Bytes name) {
  Peeked peeked{.is_malformed = true};
  ondemand::object object;
  auto error =
      is_root_ ? source_.document().get_object().get(object) : value_.get_object().get(object);
  if (error != simdjson::SUCCESS) return container_fault(error, Kind::object), peeked;
  if (!source_.reading().enter()) return too_deep(), peeked;
  std::string text;
  for (auto item : object) {
    ondemand::field field;
    if ((error = std::move(item).get(field))) return source_.malformed(error), peeked;
    if (!JsonKey(source_, field.key().raw()).text(text)) return peeked;
    JsonNode node(source_, field.value());
    if (text == name) {
      peeked.is_found = true;
      peeked.kind = node.kind();
      if (peeked.kind == Kind::text && node.take(peeked.text) != Taken::good) return peeked;
      break;
    }
    if (!node.skip()) return peeked;
  }
  source_.reading().leave();
  bool has_members = false;
  if ((error = object.reset().get(has_members))) return source_.malformed(error), peeked;
  peeked.is_read = !has_members;  // reset() goes past an object without members
  peeked.is_malformed = false;
  return peeked;
}

bool JsonNode::skip() {
  const std::optional<Kind> found = kind();
  std::string text;
  if (found == Kind::object) {
    return each_field([&](JsonKey& key, JsonNode& node) {
             return key.text(text) && node.skip();
           }) == Taken::good;
  }
  if (found == Kind::list) {
    return each_item([](JsonNode& node) { return node.skip(); }) == Taken::good;
  }
  // What is one token is judged where it stands; the iteration goes past it.
  if (found == Kind::text) return take_escaped(token().data() + 1, text) == Taken::good;
  return unread() == Taken::mismatch;
}

}  // namespace katana::container::detail
