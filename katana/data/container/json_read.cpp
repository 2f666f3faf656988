#include "katana/data/container/json_read.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "katana/base/text/utf8.hpp"
#include "katana/data/container/json_scan.hpp"

namespace katana::container::detail {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(json_padding_bytes == simdjson::SIMDJSON_PADDING);

template <class T>
concept Handled = sizeof(T) <= sizeof(JsonHandle) && alignof(T) <= alignof(JsonHandle) &&
                  std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>;

template <Handled T>
void put(JsonHandle& handle, const T& value) noexcept {
  ::new (handle.storage.data()) T(value);
}
// The object in a handle. REQUIRES that it is a T.
template <Handled T>
T& get(JsonHandle& handle) noexcept {
  return *std::launder(reinterpret_cast<T*>(handle.storage.data()));
}
ondemand::value& value_in(JsonHandle& handle) noexcept { return get<ondemand::value>(handle); }

constexpr Bytes json_space = " \t\r\n";

std::size_t offset_of_bad_utf8(Bytes text) noexcept {
  std::size_t offset = 0;
  while (const std::size_t length = utf8_length(text.substr(offset))) offset += length;
  return offset;
}

// The place of an unterminated string, or of a control character in a string.
std::size_t offset_of_bad_string(Bytes text) noexcept {
  std::size_t begin = 0;
  bool is_within = false;
  for (std::size_t index = 0; index < text.size(); ++index) {
    const char c = text[index];
    if (c == '"') {
      is_within = !is_within;
      if (is_within) begin = index;
    } else if (is_within && static_cast<unsigned char>(c) < 0x20) {
      return index;
    } else if (is_within && c == '\\') {
      ++index;
    }
  }
  return begin;
}

// The line and the column behind `before`, as editors count: from 1, one column per character.
std::string line_and_column(Bytes before) {
  const auto lines = std::ranges::count(before, '\n');
  const Bytes line = before.substr(before.rfind('\n') + 1);  // npos + 1 is 0
  const auto column = std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  return fmt::format("line {}, column {}", lines + 1, column + 1);
}

Bytes words_of(int error) noexcept {
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
  ondemand::document document;
  std::unique_ptr<char[]> copy;
  std::size_t copy_bytes = 0;
  std::size_t size = 0;           // size of the text that is read
  const char* mistake = nullptr;  // place of the mistake; null: the place of the parser
  bool in_use = false;
};

JsonSource::Kept& JsonSource::kept() {
  static thread_local Kept kept;
  return kept;
}

JsonSource::JsonSource(Findings& findings, const ReadOptions& options)
    : kept_(&kept()),
      owns_kept_(kept_->in_use),
      // The message has the place, as line and column.
      reading_(findings, options,
               {"JSON", [](const void*) { return std::optional<std::size_t>(); }, this}) {
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
    *kept_ = Kept();
  }
}

std::optional<std::size_t> JsonSource::offset(const void* self) noexcept {
  auto* const source = const_cast<JsonSource*>(static_cast<const JsonSource*>(self));
  const char* at = source->kept_->mistake;
  if (at == nullptr && (!source->is_open_ ||
                        source->kept_->document.current_location().get(at) != simdjson::SUCCESS)) {
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
  kept_->size = size;
  kept_->mistake = nullptr;
  if (kept_->parser.capacity() < size) {
    // Doubles the capacity: texts that grow slowly do not allocate each time.
    const std::size_t capacity = std::max<std::size_t>(4096, std::bit_ceil(size));
    if (const auto error = kept_->parser.allocate(capacity)) return refuse_text(error, {});
  }
  const auto error =
      kept_->parser.iterate(text, size, size + json_padding_bytes).get(kept_->document);
  if (error != simdjson::SUCCESS) [[unlikely]]
    return refuse_text(error, {text, size});
  is_open_ = true;
  return true;
}

bool JsonSource::open(Bytes text, bool is_padded) {
  if (text.size() > reading_.options().bytes_max) {
    reading_.malformed(fmt::format("more than {} bytes", reading_.options().bytes_max));
    return false;
  }
  const std::size_t first = text.find_first_not_of(json_space);
  is_wrapped_ = first == Bytes::npos || (text[first] != '{' && text[first] != '[');
  const std::size_t extra = is_wrapped_ ? 2 : 0;
  const bool in_place = is_padded && !is_wrapped_;
  return start(in_place ? text.data() : copy(text), text.size() + extra);
}

bool JsonSource::refuse_text(int error, Bytes text) {
  if (error == simdjson::UTF8_ERROR) kept_->mistake = text.data() + offset_of_bad_utf8(text);
  if (error == simdjson::UNCLOSED_STRING || error == simdjson::UNESCAPED_CHARS) {
    kept_->mistake = text.data() + offset_of_bad_string(text);
  }
  malformed(words_of(error));
  return false;
}

bool JsonSource::close() {
  const char* at = nullptr;
  if (kept_->document.current_location().get(at) != simdjson::SUCCESS) [[likely]]
    return true;
  malformed("something follows the value");
  return false;
}

Taken JsonSource::malformed_token(int error) {
  if (error == simdjson::INCOMPLETE_ARRAY_OR_OBJECT) {
    // The parser is at the begin, but the missing part belongs to the end.
    const Bytes text(begin_, kept_->size - (is_wrapped_ ? 1 : 0));
    kept_->mistake = begin_ + text.find_last_not_of(json_space) + 1;
  }
  return malformed(words_of(error));
}

Taken JsonSource::malformed(Bytes words) {
  const auto at = offset(this);
  if (at && *at <= kept_->size) {
    const Bytes before(begin_ + (is_wrapped_ ? 1 : 0), *at);
    reading_.malformed(fmt::format("{}: {}", line_and_column(before), words));
  } else {
    reading_.malformed(words);
  }
  return Taken::malformed;
}

bool JsonKey::resolve() {
  if (is_resolved_ || *find_string_end(raw_) != '\\') return false;
  is_resolved_ = text(text_);
  return is_resolved_;
}

bool JsonKey::text(std::string& to) {
  const char* const end = find_string_end(raw_);
  if (*end == '"') [[likely]] {
    to.assign(raw_, end);
    return true;
  }
  if (unescape_string(raw_, to)) return true;
  source_.malformed("an escape that JSON does not have, or half a surrogate pair");
  return false;
}

Bytes JsonKey::raw_text() const noexcept { return {raw_, find_string_end(raw_)}; }

// ---- arrays and objects, item by item ----

Taken JsonNode::open_list(JsonWalk& walk) {
  ondemand::array array;
  ondemand::array_iterator begin;
  auto error = is_root_ ? source_.kept_->document.get_array().get(array)
                        : value_in(value_).get_array().get(array);
  if (error == simdjson::SUCCESS) [[likely]]
    error = array.begin().get(begin);
  if (error != simdjson::SUCCESS) [[unlikely]]
    return container_fault(error, Kind::list);
  if (!source_.reading().enter()) return source_.reading().too_deep(), Taken::malformed;
  put(walk.place, begin);
  return Taken::good;
}

Taken JsonNode::open_object(JsonWalk& walk) {
  ondemand::object object;
  ondemand::object_iterator begin;
  auto error = is_root_ ? source_.kept_->document.get_object().get(object)
                        : value_in(value_).get_object().get(object);
  if (error == simdjson::SUCCESS) [[likely]]
    error = object.begin().get(begin);
  if (error != simdjson::SUCCESS) [[unlikely]]
    return container_fault(error, Kind::object);
  if (!source_.reading().enter()) return source_.reading().too_deep(), Taken::malformed;
  put(walk.place, begin);
  return Taken::good;
}

bool JsonNode::next_item(JsonWalk& walk) {
  auto& place = get<ondemand::array_iterator>(walk.place);
  if (walk.is_begun) ++place;
  walk.is_begun = true;
  if (place == ondemand::array_iterator()) return false;
  ondemand::value value;
  if (const auto error = (*place).get(value)) [[unlikely]] {
    source_.malformed_token(error);
    walk.is_malformed = true;
    return false;
  }
  put(value_, value);
  is_root_ = false;
  return true;
}

const char* JsonNode::next_field(JsonWalk& walk) {
  auto& place = get<ondemand::object_iterator>(walk.place);
  if (walk.is_begun) ++place;
  walk.is_begun = true;
  if (place == ondemand::object_iterator()) return nullptr;
  ondemand::field field;
  if (const auto error = (*place).get(field)) [[unlikely]] {
    source_.malformed_token(error);
    walk.is_malformed = true;
    return nullptr;
  }
  put(value_, field.value());
  is_root_ = false;
  return field.key().raw();
}

Taken JsonNode::leave(const JsonWalk& walk) noexcept {
  if (walk.is_malformed) [[unlikely]]
    return Taken::malformed;
  source_.reading().leave();
  return Taken::good;
}

bool JsonNode::unwrap(JsonWalk& walk) {
  ondemand::array array;
  ondemand::array_iterator begin;
  auto error = source_.kept_->document.get_array().get(array);
  if (error == simdjson::SUCCESS) error = array.begin().get(begin);
  if (error != simdjson::SUCCESS) return source_.malformed_token(error), false;
  put(walk.place, begin);
  if (next_item(walk)) return true;
  if (!walk.is_malformed) source_.malformed("there is no value");
  return false;
}

bool JsonNode::is_last(JsonWalk& walk) {
  if (next_item(walk)) return source_.malformed("something follows the value"), false;
  return !walk.is_malformed;
}

// ---- one value ----

Bytes JsonNode::token() {
  if (!is_root_) return value_in(value_).raw_json_token();
  Bytes token;
  const auto error = source_.kept_->document.raw_json_token().get(token);
  return error == simdjson::SUCCESS ? token : Bytes();
}

bool JsonNode::take_null() {
  if (token_trimmed() == "null") return true;
  source_.malformed("expected a value");
  return false;
}

Taken JsonNode::take(bool& to) {
  if (is_root_) return Taken::mismatch;
  if (value_in(value_).get_bool().get(to) == simdjson::SUCCESS) [[likely]]
    return Taken::good;
  return is_literal() ? unread() : Taken::mismatch;
}

Taken JsonNode::take(std::int64_t& to) {
  if (is_root_) return Taken::mismatch;
  if (value_in(value_).get_int64().get(to) == simdjson::SUCCESS) [[likely]]
    return Taken::good;
  return take_whole(to);
}

Taken JsonNode::take(std::uint64_t& to) {
  if (is_root_) return Taken::mismatch;
  if (value_in(value_).get_uint64().get(to) == simdjson::SUCCESS) [[likely]]
    return Taken::good;
  return take_whole(to);
}

Taken JsonNode::take(double& to) {
  if (is_root_) return Taken::mismatch;
  if (value_in(value_).get_double().get(to) == simdjson::SUCCESS) [[likely]]
    return Taken::good;
  return number_fault();
}

Taken JsonNode::take(std::string& to) {
  if (is_root_) return Taken::mismatch;
  ondemand::raw_json_string raw;
  if (value_in(value_).get_raw_json_string().get(raw) != simdjson::SUCCESS) [[unlikely]]
    return unread();
  const char* const begin = raw.raw();
  const char* const end = find_string_end(begin);
  if (*end != '"') [[unlikely]]
    return take_escaped(begin, to);
  to.assign(begin, end);
  return Taken::good;
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

// The reason why no value was taken: it has another kind, or it is malformed.
Taken JsonNode::unread() {
  const Bytes all = token_trimmed();
  const std::optional<Kind> found = kind();
  const bool is_word = found == Kind::boolean || found == Kind::null;
  if (found && (!is_word || all == "true" || all == "false" || all == "null")) {
    return Taken::mismatch;
  }
  return source_.malformed("expected a value");
}

Taken JsonNode::number_fault() {
  const Taken taken = unread();
  if (taken != Taken::mismatch) return taken;
  const std::optional<Kind> found = kind();
  return found == Kind::integer || found == Kind::real ? Taken::out_of_range : Taken::mismatch;
}

// A token that was not taken stays in its place; the iteration goes past it.
template <class T>
Taken JsonNode::take_whole(T& to) {
  const Taken taken = unread();
  if (taken != Taken::mismatch) return taken;
  const Bytes all = token_trimmed();
  const auto whole = is_json_number(all) ? whole_number(all) : std::nullopt;
  if (!whole) return Taken::mismatch;
  return whole->get(to) ? Taken::good : Taken::out_of_range;
}

std::optional<Kind> JsonNode::kind_among(Kinds wanted) {
  const std::optional<Kind> found = kind();
  const Kinds numbers = kinds_of(Kind::real) | kinds_of(Kind::integer);
  if (found != Kind::real || (wanted & numbers) != kinds_of(Kind::integer)) return found;
  return whole_number(token_trimmed()) ? Kind::integer : Kind::real;
}

Taken JsonNode::container_fault(int error, Kind wanted) {
  const Taken taken = unread();
  // Its begin is right: the mistake is further behind.
  return taken == Taken::mismatch && kind() == wanted ? source_.malformed_token(error) : taken;
}

Taken JsonNode::take_escaped(const char* begin, std::string& to) {
  if (unescape_string(begin, to)) return Taken::good;
  source_.kept_->mistake = begin - 1;
  return source_.malformed("an escape that JSON does not have, or half a surrogate pair");
}

Taken JsonNode::take(Octets& to) {
  const Bytes all = token_trimmed();
  if (!all.starts_with('"')) return unread();
  std::string text;
  if (!unescape_string(all.data() + 1, text)) return take_escaped(all.data() + 1, text);
  return decode_base64(text, to) ? Taken::good : Taken::mismatch;
}

// Visits the members. REQUIRES that kind() is that of an object.
Looked JsonNode::look(MemberVisitor& visitor) {
  Looked looked{.is_malformed = true};
  ondemand::object object;
  auto error = is_root_ ? source_.kept_->document.get_object().get(object)
                        : value_in(value_).get_object().get(object);
  if (error != simdjson::SUCCESS) return container_fault(error, Kind::object), looked;
  if (!source_.reading().enter()) return source_.reading().too_deep(), looked;
  std::string name;
  std::string text;
  for (auto item : object) {
    ondemand::field field;
    if ((error = std::move(item).get(field))) return source_.malformed_token(error), looked;
    if (!JsonKey(source_, field.key().raw()).text(name)) return looked;
    JsonNode node(source_);
    put(node.value_, field.value());
    node.is_root_ = false;
    const std::optional<Kind> kind = node.kind();
    text.clear();
    const bool is_text = kind == Kind::text;
    if (is_text && node.take(text) != Taken::good) return looked;
    Kinds kinds = kind ? kinds_of(*kind) : Kinds{0};
    if (kind == Kind::real && node.kind_among(kinds_of(Kind::integer)) == Kind::integer) {
      kinds |= kinds_of(Kind::integer);
    }
    if (!visitor.visit(name, kinds, text)) break;
    if (!is_text && !node.skip()) return looked;
  }
  source_.reading().leave();
  bool has_members = false;
  if ((error = object.reset().get(has_members))) return source_.malformed_token(error), looked;
  looked.is_read = !has_members;  // reset() goes past an object without members
  looked.is_malformed = false;
  return looked;
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
  // A single token is validated in its place; the iteration then goes past it.
  if (found == Kind::text) return take_escaped(token().data() + 1, text) == Taken::good;
  return unread() == Taken::mismatch;
}

}  // namespace katana::container::detail

// SPDX-License-Identifier: Apache-2.0
