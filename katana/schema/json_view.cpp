// check_json(): instances as simdjson's document has them, so that nothing is built of what is only
// checked.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "katana/container/json_read.hpp"
#include "katana/schema/evaluation.hpp"
#include "katana/schema/schema.hpp"

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
  // Counted, because simdjson's own count ends at 2^24.
  std::size_t size() const noexcept {
    std::size_t count = 0;
    if (type() == array_type) {
      for_each_item([&](const JsonView&) { return ++count != 0; });
    } else {
      for_each_member([&](Bytes, const JsonView&) { return ++count != 0; });
    }
    return count;
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

// A name that comes twice somewhere: which of its values counts is for each reader to say.
class Names {
 public:
  // False: it found one, and its pointer is in `path`.
  bool check(const JsonView& root, std::string& path) {
    names_.clear();
    return look(root, path);
  }

 private:
  // The path is made from its end, and only when there is one.
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
    // Names of one mark may be the same; nearly all have one of their own.
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

  std::vector<Bytes> names_;  // of the objects that are being looked at
};

// A thread's parser, and a padded copy of the text.
struct Parser {
  static constexpr std::size_t kept_bytes_max = 1024 * 1024;
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
};

}  // namespace

bool Schema::check_json(Bytes text, container::Findings& findings,
                        const container::ReadOptions& options) const {
  if (text.size() > options.bytes_max) {
    findings.set_malformed(fmt::format("more than {} octets", options.bytes_max));
    return false;
  }
  static thread_local Parser parser;
  parser.fit(text.size() + container::json_padding_bytes);
  if (!text.empty()) std::memcpy(parser.copy.get(), text.data(), text.size());
  std::memset(parser.copy.get() + text.size(), ' ', container::json_padding_bytes);
  simdjson::error_code error = simdjson::SUCCESS;
  if (parser.parser.capacity() < text.size() || parser.parser.max_depth() != options.depth_max) {
    error = parser.parser.allocate(std::max<std::size_t>(4096, std::bit_ceil(text.size())),
                                   options.depth_max);
  }
  dom::element root;
  if (error == simdjson::SUCCESS) {
    error = parser.parser.parse(parser.copy.get(), text.size(), false).get(root);
  }
  bool fits = false;
  if (error != simdjson::SUCCESS) {
    findings.set_malformed(fmt::format("not JSON: {}", simdjson::error_message(error)));
  } else if (std::string path; !parser.names.check(JsonView(root), path)) {
    findings.add(path, "comes twice");
  } else {
    fits = Evaluation<JsonView>(findings).run(*root_, JsonView(root));
  }
  if (parser.copy_bytes > Parser::kept_bytes_max) parser = Parser();
  return fits;
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
