// check_json(): reads instances directly from simdjson's document. Nothing is built from data that
// is only checked.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "katana/base/text/format.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_scan.hpp"
#include "katana/data/schema/evaluation.hpp"
#include "katana/data/schema/schema.hpp"

namespace katana::schema {

namespace {

namespace dom = simdjson::dom;

class JsonView {
 public:
  explicit JsonView(dom::element element) noexcept : element_(element) {}
  static JsonView of_text(Bytes text) noexcept { return JsonView(text); }

  Type type() const noexcept {
    if (is_text_) return string_type;
    switch (element_.type()) {
      case dom::element_type::NULL_VALUE: return null_type;
      case dom::element_type::BOOL: return boolean_type;
      case dom::element_type::INT64:
      case dom::element_type::UINT64: return integer_type;
      case dom::element_type::DOUBLE: return is_integer(number()) ? integer_type : number_type;
      case dom::element_type::STRING: return string_type;
      case dom::element_type::ARRAY: return array_type;
      case dom::element_type::OBJECT: return object_type;
    }
    return null_type;
  }
  bool is_object() const noexcept { return element_.is_object(); }
  bool is_composed() const noexcept { return element_.is_array() || element_.is_object(); }
  Number number() const noexcept {
    std::int64_t integer = 0;
    if (element_.get_int64().get(integer) == simdjson::SUCCESS) return static_cast<Number>(integer);
    std::uint64_t natural = 0;
    if (element_.get_uint64().get(natural) == simdjson::SUCCESS) {
      return static_cast<Number>(natural);
    }
    double real = 0;
    (void)!element_.get_double().get(real);
    return static_cast<Number>(real);
  }
  Bytes text() const noexcept {
    if (is_text_) return text_;
    std::string_view text;
    (void)!element_.get_string().get(text);
    return text;
  }
  bool boolean() const noexcept {
    bool value = false;
    (void)!element_.get_bool().get(value);
    return value;
  }
  std::size_t size() const noexcept {
    constexpr std::size_t counted_max = 0xffffff;  // the count of simdjson ends there
    std::size_t count = 0;
    if (dom::array items; element_.get_array().get(items) == simdjson::SUCCESS) {
      if (const std::size_t counted = items.size(); counted < counted_max) return counted;
      for_each_item([&](const JsonView&) { return ++count != 0; });
    } else if (dom::object members; element_.get_object().get(members) == simdjson::SUCCESS) {
      if (const std::size_t counted = members.size(); counted < counted_max) return counted;
      for_each_member([&](Bytes, const JsonView&) { return ++count != 0; });
    }
    return count;
  }
  // An element consists only of its document and its place there.
  std::uint64_t identity() const noexcept {
    static_assert(std::has_unique_object_representations_v<dom::element>);
    const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(element_);
    return words[0] ^ words[1];
  }
  bool has(Bytes name) const noexcept {
    bool found = false;
    for_each_member([&](Bytes other, const JsonView&) { return !(found = name == other); });
    return found;
  }
  template <class Visit>
  void for_each_item(Visit&& visit) const {
    dom::array items;
    if (element_.get_array().get(items) != simdjson::SUCCESS) return;
    for (const dom::element each : items) {
      if (!visit(JsonView(each))) return;
    }
  }
  template <class Visit>
  void for_each_member(Visit&& visit) const {
    dom::object members;
    if (element_.get_object().get(members) != simdjson::SUCCESS) return;
    for (const dom::key_value_pair each : members) {
      if (!visit(Bytes(each.key), JsonView(each.value))) return;
    }
  }

 private:
  explicit JsonView(Bytes text) noexcept : is_text_(true), text_(text) {}
  dom::element element_;
  bool is_text_ = false;
  Bytes text_;
};

// Finds a repeated name in an object. Readers disagree which of its values counts.
class Names {
 public:
  // False: it found one, and its pointer is in `path`.
  bool check(const JsonView& root, std::string& path) {
    names_.clear();
    return look(root, path);
  }

 private:
  // The path is built from its end, and only if a name was found.
  bool look(const JsonView& view, std::string& path) {
    if (view.is_object()) return check_members(view, path);
    std::size_t index = 0;
    bool good = true;
    view.for_each_item([&](const JsonView& item) {
      if (item.is_composed() && !look(item, path)) {
        path.insert(0, "/" + std::to_string(index));
        good = false;
      }
      ++index;
      return good;
    });
    return good;
  }

  bool check_members(const JsonView& view, std::string& path) {
    const std::size_t first = names_.size();
    bool good = true;
    view.for_each_member([&](Bytes name, const JsonView& value) {
      names_.push_back(name);
      if (value.is_composed() && !look(value, path)) {
        path.insert(0, "/" + escaped(name));
        good = false;
      }
      return good;
    });
    if (!good) return false;
    const std::span<Bytes> own(names_.data() + first, names_.size() - first);
    if (const Bytes* const twice = find_repeated(own)) {
      path = "/" + escaped(*twice);
      good = false;
    }
    names_.resize(first);
    return good;
  }

  static const Bytes* find_repeated(std::span<Bytes> names) {
    constexpr std::size_t few = 16;
    if (names.size() > few) {
      std::ranges::sort(names);
      const auto found = std::ranges::adjacent_find(names);
      return found == names.end() ? nullptr : &*found;
    }
    // Names with the same mark may be equal; nearly all names have a unique mark.
    std::uint64_t marks = 0;
    for (std::size_t at = 0; at < names.size(); ++at) {
      const Bytes name = names[at];
      const auto first = static_cast<unsigned char>(name.empty() ? '\0' : name.front());
      const std::uint64_t mark = std::uint64_t{1} << ((first + 5 * name.size()) % 64);
      const bool is_seen = (marks & mark) != 0;
      marks |= mark;
      if (!is_seen) continue;
      for (std::size_t before = 0; before < at; ++before) {
        if (names[before] == name) return &names[at];
      }
    }
    return nullptr;
  }

  std::vector<Bytes> names_;  // names of the objects that are searched
};

// A thread's parser, and a padded copy of the text.
struct Parser {
  static constexpr std::size_t kept_bytes_max = 1024 * 1024;
  static constexpr std::size_t bytes_max = simdjson::SIMDJSON_MAXSIZE_BYTES;
  dom::parser parser;
  Names names;
  std::unique_ptr<char[]> copy;
  std::size_t copy_bytes = 0;
  bool in_use = false;

  void fit(std::size_t wanted) {
    if (copy_bytes >= wanted) return;
    copy_bytes = std::max<std::size_t>(4096, std::bit_ceil(wanted));
    copy = std::make_unique_for_overwrite<char[]>(copy_bytes);
  }

  // Parses a copy of the text; the copy is kept.
  simdjson::error_code parse(Bytes text, std::size_t depth, dom::element& root) {
    if (text.size() > bytes_max) return simdjson::CAPACITY;
    fit(text.size() + container::json_padding_bytes);
    if (!text.empty()) std::memcpy(copy.get(), text.data(), text.size());
    std::memset(copy.get() + text.size(), ' ', container::json_padding_bytes);
    simdjson::error_code error = simdjson::SUCCESS;
    if (parser.capacity() < text.size() || parser.max_depth() != depth) {
      error = parser.allocate(std::max<std::size_t>(4096, std::bit_ceil(text.size())), depth);
    }
    if (error != simdjson::SUCCESS) return error;
    return parser.parse(copy.get(), text.size(), false).get(root);
  }
};

// For a number beyond doubles. True: it is too close to 0; false: it is too large.
bool is_tiny(Bytes number) noexcept {
  const std::size_t exponent_at = std::min(number.find_first_of("eE"), number.size());
  const Bytes digits = number.substr(0, exponent_at);
  Bytes exponent = number.substr(std::min(exponent_at + 1, number.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  // For such a long exponent only its sign matters.
  if (exponent.size() > 9) return exponent.starts_with('-');
  std::int64_t shift = 0;
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), shift);
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<std::int64_t>(digits.find_first_of("123456789"));
  return shift + point - first < 0;
}

// Replaces JSON numbers that simdjson refuses: an integer beyond 64 bits, and a number beyond
// doubles.
void append_nearest(std::string& to, Bytes number) {
  std::int64_t integer = 0;
  std::uint64_t natural = 0;
  const char* const end = number.data() + number.size();
  const bool is_whole = container::detail::is_json_integer(number);
  const bool is_kept =
      !container::detail::is_json_number(number) ||
      (is_whole && (std::from_chars(number.data(), end, integer).ec == std::errc() ||
                    std::from_chars(number.data(), end, natural).ec == std::errc()));
  double real = 0;
  const bool is_beyond =
      !is_kept && std::from_chars(number.data(), end, real).ec == std::errc::result_out_of_range;
  if (is_beyond) {
    const double largest = std::numeric_limits<double>::max();
    real = is_tiny(number) ? 0 : number.starts_with('-') ? -largest : largest;
  }
  if (!is_kept && (is_whole || is_beyond)) {
    fmt::format_to(std::back_inserter(to), "{:.17e}", real);
  } else {
    to += number;
  }
}

// The text with each such number replaced by the double that is nearest.
std::string with_nearest_numbers(Bytes text) {
  constexpr Bytes number_signs = "+-.0123456789Ee";
  std::string made;
  made.reserve(text.size());
  while (!text.empty()) {
    const char c = text.front();
    std::size_t size = 1;
    if (c == '"') {
      while (size < text.size() && text[size] != '"') size += text[size] == '\\' ? 2 : 1;
      size = std::min(size + 1, text.size());
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      size = std::min(text.find_first_not_of(number_signs), text.size());
      append_nearest(made, text.substr(0, size));
      text.remove_prefix(size);
      continue;
    }
    made += text.substr(0, size);
    text.remove_prefix(size);
  }
  return made;
}

// The message with the line and the column. The reader of containers finds them; simdjson does not.
std::string malformed_words(Bytes text, const container::ReadOptions& options,
                            simdjson::error_code error) {
  container::Value value;
  container::Findings findings;
  if (!container::read_json(text, value, findings, options) && findings.malformed()) {
    return findings.list().front().words;
  }
  return fmt::format("not JSON: {}", simdjson::error_message(error));
}

}  // namespace

bool Schema::check_json(Bytes text, container::Findings& findings, StepBudget& budget,
                        const container::ReadOptions& options) const {
  if (text.size() > options.bytes_max) {
    findings.set_malformed(fmt::format("more than {} bytes", options.bytes_max));
    return false;
  }
  static thread_local Parser parser;
  dom::element root;
  simdjson::error_code error = parser.parse(text, options.depth_max, root);
  if (error == simdjson::NUMBER_ERROR) {
    const std::string nearest = with_nearest_numbers(text);
    error = parser.parse(nearest, options.depth_max, root);
  }
  bool fits = false;
  if (error != simdjson::SUCCESS) {
    findings.set_malformed(malformed_words(text, options, error));
  } else if (std::string path; !parser.names.check(JsonView(root), path)) {
    findings.add(path, "comes twice");
  } else {
    fits = Evaluation<JsonView>(findings, budget).run(*root_, JsonView(root));
  }
  if (parser.copy_bytes > Parser::kept_bytes_max) parser = Parser();
  return fits;
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
