// check_json(): instances as simdjson's document has them, so that nothing is built of what is only
// checked.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <bit>
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
  bool look(const JsonView& view, std::string& path) {
    const std::size_t size = path.size();
    bool good = true;
    if (view.type() == array_type) {
      std::size_t index = 0;
      view.for_each_item([&](const JsonView& item) {
        const Type type = item.type();
        if (type == array_type || type == object_type) {
          path.append("/").append(std::to_string(index));
          good = look(item, path);
          if (good) path.resize(size);
        }
        ++index;
        return good;
      });
    } else if (view.type() == object_type) {
      good = check_members(view, path);
    }
    return good;
  }

  bool check_members(const JsonView& view, std::string& path) {
    const std::size_t size = path.size();
    const std::size_t first = names_.size();
    bool good = true;
    view.for_each_member([&](Bytes name, const JsonView& value) {
      names_.push_back(name);
      const Type type = value.type();
      if (type != array_type && type != object_type) return true;
      path.append("/").append(escaped(name));
      good = look(value, path);
      if (good) path.resize(size);
      return good;
    });
    if (!good) return false;
    const std::span<Bytes> own(names_.data() + first, names_.size() - first);
    if (const Bytes* const twice = find_repeated(own)) {
      path.append("/").append(escaped(*twice));
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
    for (std::size_t at = 1; at < names.size(); ++at) {
      for (std::size_t before = 0; before < at; ++before) {
        if (names[before] == names[at]) return &names[at];
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
