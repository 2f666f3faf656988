// Two steps, the second only taken when the first has no answer:
//
//   the whole path is a pattern     one hash, one comparison
//   walk of the tree                one load per byte at which patterns part
//
// The tree holds the patterns with parameters only, as a radix tree: text that patterns share
// stands once, and a node without a choice is merged into the one before it. A node consumes, in
// this order:
//
//   its kind      parameter: the segment; rest: all that is left; literal: nothing
//   its label     text that has to come next, slashes included; it may begin and end in mid-segment
//
// and then continues, the most specific way first:
//
//   at the end of the path     its endpoint, then the rest child
//   before it                  the literal child for the next byte, then the parameter child unless
//                              the segment is empty, then the rest child
//
// Parameter and rest children hang on nodes that end with a slash: where a segment starts. The walk
// keeps the ways it has not tried on a stack, most specific on top, and therefore meets the
// endpoints that fit in the order of specificity.
//
// Work. A node is reached in one way only, and at one place of a given path: the place follows from
// how many segments lie before it. So no walk visits a node twice, whatever it turns back from, and
// there is nothing to memoise. Work that doubles with each segment takes a tree that does, and the
// tree is the application's to write, never the peer's. node_visits_max() is the worst case of a
// tree: of the literal children only one can go with the next byte, so
//
//   visits(node) = 1 + max(visits(literal children)) + visits(parameter child) + visits(rest child)
//
// Hash. A 64x64 to 128 bit multiplication folded onto itself (the step of wyhash), over the first
// and the last eight bytes, which may overlap, and the words between. There is no secret seed:
// paths are only ever looked up, nothing that a peer sends is inserted, so the longest run of
// occupied slots is fixed when the table is built and no choice of paths makes it longer.

#include "katana/service/routes/route_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/url.hpp"

namespace katana {
namespace {

using http::Method;

constexpr std::size_t method_count = http::method_names.size();
// Where the any-method route stands among routes by method. It is all that extensions have.
constexpr std::size_t any_method = static_cast<std::size_t>(Method::extension);
static_assert(any_method == method_count);
constexpr std::uint32_t no_route = UINT32_MAX;
constexpr std::uint32_t root = 0;

constexpr std::size_t index_of(Method method) noexcept { return static_cast<std::size_t>(method); }

// ---- Allow -----------------------------------------------------------------------------------

struct AllowText {
  std::array<char, 63> text{};
  std::uint8_t size = 0;

  constexpr void append(Bytes more) noexcept {
    for (const char c : more) text[size++] = c;
  }
};

// Every value there can be, 32 KiB of constants: what a 405 allows depends on which patterns fit
// its path, and a finished text needs neither allocation nor owner.
constexpr std::array<AllowText, 1U << method_count> make_allow_table() {
  std::array<AllowText, 1U << method_count> table{};
  for (std::size_t bits = 0; bits < table.size(); ++bits) {
    for (std::size_t method = 0; method < method_count; ++method) {
      if ((bits >> method & 1U) == 0) continue;
      if (table[bits].size > 0) table[bits].append(", ");
      table[bits].append(http::method_names[method]);
    }
  }
  return table;
}

constexpr auto allow_table = make_allow_table();

// ---- Words and hash --------------------------------------------------------------------------

template <class Word>
std::uint64_t read_little_endian(const char* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = std::byteswap(word);
  return word;
}

std::uint64_t read_word(const char* from) noexcept {
  return read_little_endian<std::uint64_t>(from);
}

// A word of fewer than eight bytes, zeros above. Reads overlap instead of passing the end: a byte
// that is read twice lands in the same place twice.
inline std::uint64_t read_short_word(const char* from, std::size_t size) noexcept {
  const auto half = read_little_endian<std::uint32_t>;
  const auto byte = read_little_endian<std::uint8_t>;
  if (size >= 4) return half(from) | half(from + size - 4) << (size - 4) * 8;
  if (size == 0) return 0;
  const std::size_t middle = size / 2;
  return byte(from) | byte(from + middle) << middle * 8 | byte(from + size - 1) << (size - 1) * 8;
}

// The low bit of each byte.
constexpr std::uint64_t each_byte = 0x0101010101010101;
constexpr std::uint64_t all_slashes = '/' * each_byte;

// The lowest set bit is the highest bit of the lowest '/'; zero if there is none. Bits above the
// lowest may be false.
std::uint64_t slashes_in(std::uint64_t word) noexcept {
  const std::uint64_t zero_if_slash = word ^ all_slashes;
  return (zero_if_slash - each_byte) & ~zero_if_slash & (each_byte << 7);
}

using Key = detail::RouteKey;

constexpr std::size_t key_bytes = 16;

inline Key key_of(Bytes path) noexcept {
  const char* const text = path.data();
  const std::size_t size = path.size();
  if (size < 8) return {size, read_short_word(text, size), 0};
  return {size, read_word(text), read_word(text + size - 8)};
}

std::uint64_t fold_product(std::uint64_t left, std::uint64_t right) noexcept {
  __extension__ using Wide = unsigned __int128;  // an extension of both compilers
  const Wide product = static_cast<Wide>(left) * right;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Odd words with about as many ones as zeros; otherwise arbitrary.
constexpr std::uint64_t first_factor = 0xa0761d6478bd642f;
constexpr std::uint64_t last_factor = 0xe7037ed1a0b428db;
constexpr std::uint64_t middle_factor = 0x8ebc6af09c88c6e3;

// Of a path of at most key_bytes.
std::uint64_t hash_of(const Key& key) noexcept {
  return fold_product(key.first ^ first_factor, key.last ^ key.size ^ last_factor);
}

std::uint64_t hash_of(Key key, Bytes path) noexcept {
  for (std::size_t at = 8; at + 8 < path.size(); at += 8) {
    key.last = fold_product(key.last ^ read_word(path.data() + at), middle_factor);
  }
  return hash_of(key);
}

// Out of line, so that a short segment does not pay for the constants.
[[gnu::noinline]] const char* long_segment_end(const char* at, const char* end) noexcept {
  for (; end - at >= 8; at += 8) {
    const std::uint64_t slashes = slashes_in(read_word(at));
    if (slashes != 0) return at + std::countr_zero(slashes) / 8;
  }
  while (at != end && *at != '/') ++at;
  return at;
}

inline const char* segment_end(const char* at, const char* end) noexcept {
  constexpr std::ptrdiff_t short_bytes = 8;
  const char* const limit = end - at > short_bytes ? at + short_bytes : end;
  for (; at != limit; ++at) {
    if (*at == '/') return at;
  }
  return at == end ? at : long_segment_end(at, end);
}

// ---- Patterns --------------------------------------------------------------------------------

using SegmentKind = detail::RouteSegmentKind;

struct Segment {
  SegmentKind kind = SegmentKind::literal;
  Bytes text;  // of a literal: the segment; otherwise: the name
};

// REQUIRES: text is a segment of a pattern that add() accepts.
Segment segment_of(Bytes text) noexcept {
  if (!text.starts_with('{')) return {SegmentKind::literal, text};
  const Bytes name = text.substr(1, text.size() - 2);
  if (name.ends_with("...")) return {SegmentKind::rest, name.substr(0, name.size() - 3)};
  return {SegmentKind::parameter, name};
}

// Takes the next segment off the rest of a pattern, which starts with '/'.
Bytes take_segment(Bytes& rest) noexcept {
  const std::size_t end = std::min(rest.find('/', 1), rest.size());
  const Bytes segment = rest.substr(1, end - 1);
  rest.remove_prefix(end);
  return segment;
}

bool is_name_character(char c) noexcept {
  return (http::to_lower(c) >= 'a' && http::to_lower(c) <= 'z') ||
         http::is(c, http::digit_character) || c == '_' || c == '-';
}

bool is_brace(char c) noexcept { return c == '{' || c == '}'; }

// The pattern as a path is compared with it; nullopt if no path can be.
std::optional<std::string> normal_form(Bytes pattern) {
  std::string raw;  // what a client sends for it: braces and other text escaped
  for (const char c : pattern) {
    const bool escaped = !http::is(c, http::target_character) || Bytes("[]?").contains(c);
    if (escaped) fmt::format_to(std::back_inserter(raw), "%{:02X}", static_cast<unsigned char>(c));
    if (!escaped) raw += c;
  }
  const auto size = http::normalize_path(raw, raw);
  if (!size) return std::nullopt;
  raw.resize(*size);
  return raw;
}

// Reads one pattern. `shape` is the pattern with its names taken out: patterns of one shape fit the
// same paths. No literal holds a brace, so no two patterns share a shape by accident.
class PatternReader {
 public:
  PatternReader(Bytes method, Bytes pattern)
      : pattern_(pattern), subject_(fmt::format("route {} \"{}\"", method, pattern)) {}

  Result<std::string> read_shape() {
    Result<void> result = check_text();
    for (Bytes rest = pattern_; result && !rest.empty();) {
      const Bytes text = take_segment(rest);
      ++segment_count_;
      result = read_segment(text, rest.empty());
    }
    if (!result) return std::unexpected(result.error());
    return std::move(shape_);
  }

 private:
  template <class... Values>
  std::unexpected<Error> refuse(fmt::format_string<Values...> format, Values&&... values) const {
    return fail(Code::invalid_argument,
                subject_ + ": " + fmt::format(format, std::forward<Values>(values)...));
  }

  Result<void> check_text() const {
    if (!pattern_.starts_with('/')) {
      return refuse("a pattern starts with '/'; write \"/{}\"", pattern_);
    }
    if (pattern_.size() > route_pattern_bytes_max) {
      return refuse("the pattern has {} bytes, {} are allowed; take the tail with \"{{rest...}}\"",
                    pattern_.size(), route_pattern_bytes_max);
    }
    const auto segments = static_cast<std::size_t>(std::ranges::count(pattern_, '/'));
    if (segments > route_segments_max) {
      return refuse(
          "the pattern has {} segments, {} are allowed; take the tail with \"{{rest...}}\"",
          segments, route_segments_max);
    }
    const auto normal = normal_form(pattern_);
    if (!normal) {
      return refuse(
          "no path has a NUL byte, or a '%' without two hexadecimal digits;"
          " write \"%25\" for a percent sign");
    }
    if (const std::size_t at = normal->find_first_of("?#"); at != std::string::npos) {
      return refuse(
          "'{}' ends a path, so the pattern stops at \"{}\"; read the query in the handler,"
          " and take a segment that holds an escaped '{}' with \"{{name}}\"",
          (*normal)[at], normal->substr(0, at), (*normal)[at]);
    }
    if (std::ranges::count_if(*normal, is_brace) != std::ranges::count_if(pattern_, is_brace)) {
      return refuse(
          "no pattern can spell a brace; take a segment that holds one with \"{{name}}\"");
    }
    if (*normal != pattern_) {
      return refuse(
          "paths are normalised before they are compared, so this never fits; write \"{}\"",
          *normal);
    }
    return {};
  }

  Result<void> read_segment(Bytes text, bool is_last) {
    if (text.find_first_of("{}") == Bytes::npos) {
      shape_.append("/").append(text);
      return {};
    }
    if (auto result = check_braces(text); !result) return result;
    const Segment segment = segment_of(text);
    if (segment.kind == SegmentKind::rest && !is_last) {
      return refuse(
          "segment {} \"{}\" takes the rest of the path and has to be the last one;"
          " write \"{{{}}}\" for one segment",
          segment_count_, text, segment.text);
    }
    if (auto result = check_name(text, segment.text); !result) return result;
    shape_.append(segment.kind == SegmentKind::rest ? "/{...}" : "/{}");
    return {};
  }

  // One '{' that opens the segment and one '}' that closes it.
  Result<void> check_braces(Bytes text) const {
    const std::size_t second = text.find_first_of("{}", 1);
    const bool opens = text.starts_with('{');
    if (opens && text.ends_with('}') && second == text.size() - 1) return {};
    if (opens && second == Bytes::npos) {
      return refuse("segment {} \"{}\" opens a parameter and does not close it; write \"{}}}\"",
                    segment_count_, text, text);
    }
    return refuse(
        "segment {} \"{}\" has a brace beside other text, and a parameter is a whole"
        " segment; write \"{{name}}\" and take the value apart in the handler",
        segment_count_, text);
  }

  Result<void> check_name(Bytes text, Bytes name) {
    if (name.empty()) {
      return refuse("segment {} \"{}\" has no name; write {}", segment_count_, text,
                    text == "{}" ? "\"{name}\"" : "\"{name...}\"");
    }
    if (const auto* bad = std::ranges::find_if_not(name, is_name_character); bad != name.end()) {
      return refuse("segment {} \"{}\" has {:?} in its name; use letters, digits, '_' and '-'",
                    segment_count_, text, *bad);
    }
    for (const auto& [other, segment] : names_) {
      if (other != name) continue;
      return refuse("segment {} \"{}\" has the name of segment {}; give it one of its own",
                    segment_count_, text, segment);
    }
    if (names_.size() == route_parameters_max) {
      return refuse(
          "segment {} \"{}\" is parameter {}, {} are allowed; take the tail with"
          " \"{{rest...}}\"",
          segment_count_, text, names_.size() + 1, route_parameters_max);
    }
    names_.emplace_back(name, segment_count_);
    return {};
  }

  Bytes pattern_;
  std::string subject_;
  std::string shape_;
  std::size_t segment_count_ = 0;
  std::vector<std::pair<Bytes, std::size_t>> names_;  // and the segment each stands in
};

Bytes label_of(std::size_t method) noexcept {
  return method == any_method ? Bytes("any method") : http::method_names[method];
}

}  // namespace

Bytes allow_value(MethodSet methods) noexcept {
  const AllowText& allow = allow_table[methods.bits()];
  return {allow.text.data(), allow.size};
}

// ---- Matching --------------------------------------------------------------------------------

// Ends, because half of the slots are empty.
std::uint32_t RouteTable::find_literal(Bytes path) const noexcept {
  for (std::uint64_t index = hash_of(key_of(path), path);; ++index) {
    const LiteralSlot& slot = literals_[index & literal_mask_];
    if (slot.endpoint == none) return none;
    if (Bytes{slot.text, slot.key.size} == path) return slot.endpoint;
  }
}

// Meets the endpoints of the tree that fit a path, the most specific one first, and notes what the
// parameters on the way to them stand for. Its parts are inlined by force: their calls, and the
// registers saved for them, were a fifth of the instructions of a match.
class RouteTable::Walk {
 public:
  Walk(const RouteTable& table, Bytes path, PathParameters& parameters) noexcept
      : begin_(path.data()),
        end_(path.data() + path.size()),
        parameters_(parameters),
        node_(table.nodes_.data()),
        at_(begin_) {}

  // The next endpoint, or null.
  [[gnu::always_inline]] const Endpoint* next() noexcept {
    for (;;) {
      while (node_ != nullptr) {
        const Node& node = *node_;
        node_ = nullptr;
        ++visits_;
        if (node.kind != SegmentKind::literal) take_parameter(node);
        if (node.label_size > 0 && !take_label(node)) break;
        if (at_ == end_) {
          node_ = node.rest_child;
          if (node.endpoint != nullptr) return node.endpoint;
        } else {
          node_ = best_child(node);
        }
      }
      if (pending_count_ == 0) return nullptr;
      const Pending& pending = pending_[--pending_count_];
      node_ = pending.node;
      at_ = pending.at;
    }
  }

  std::uint32_t visits() const noexcept { return visits_; }

 private:
  struct Pending {
    const Node* node;
    const char* at;  // the place in the path where it begins
  };

  // Notes the value at this place of the path and passes it. Values of parameters further to the
  // left stay: whatever the walk has turned back from came to the right of them.
  [[gnu::always_inline]] void take_parameter(const Node& node) noexcept {
    const char* const begin = at_;
    at_ = node.kind == SegmentKind::rest ? end_ : segment_end(begin, end_);
    parameters_.extents_[node.parameter_index] = {static_cast<std::uint32_t>(begin - begin_),
                                                  static_cast<std::uint32_t>(at_ - begin)};
  }

  // Passes the label if it comes next.
  [[gnu::always_inline]] bool take_label(const Node& node) noexcept {
    const auto left = static_cast<std::size_t>(end_ - at_);
    if (left >= 8) {
      if (((read_word(at_) ^ node.label_word) & node.label_mask) != 0) return false;
      if (node.label_size > 8 && !long_label_follows(node, left)) return false;
    } else {
      if (left < node.label_size) return false;
      if (read_short_word(at_, node.label_size) != node.label_word) return false;
    }
    at_ += node.label_size;
    return true;
  }

  // After the first eight bytes.
  [[gnu::always_inline]] bool long_label_follows(const Node& node,
                                                 std::size_t left) const noexcept {
    const std::size_t size = node.label_size;
    if (left < size || read_word(at_ + size - 8) != read_word(node.label + size - 8)) return false;
    return size <= 16 || Bytes{at_, size} == Bytes{node.label, size};
  }

  // The node to visit next, or null; less specific ones are left for later.
  [[gnu::always_inline]] const Node* best_child(const Node& node) noexcept {
    const Node* best = node.rest_child;
    if (node.parameter_child != nullptr && *at_ != '/') {
      if (best != nullptr) push(best);
      best = node.parameter_child;
    }
    const auto place = static_cast<std::uint8_t>(*at_ - node.first_byte);
    if (place >= node.row_size) return best;
    const Node* const child = node.row[place];
    if (child == nullptr) return best;
    if (best != nullptr) push(best);
    return child;
  }

  void push(const Node* node) noexcept { pending_[pending_count_++] = {node, at_}; }

  const char* begin_;
  const char* end_;
  PathParameters& parameters_;
  const Node* node_;
  const char* at_;
  std::uint32_t pending_count_ = 0;
  std::uint32_t visits_ = 0;
  // A parameter and a rest for each place where a segment starts, at most. Not initialised: only
  // what was pushed is read.
  std::array<Pending, 2 * route_segments_max> pending_;
};

RouteMatch RouteTable::match(Method method, Bytes path, PathParameters& parameters) const noexcept {
  parameters.count_ = 0;
  const bool may_be_literal = (literal_sizes_ >> (path.size() % 64) & 1) != 0;
  if (!may_be_literal) return match_tree(method, path, {}, parameters);
  if (path.size() > key_bytes) return match_slowly(method, path, parameters);
  const Key key = key_of(path);
  const LiteralSlot& slot = literals_[hash_of(key) & literal_mask_];
  if (slot.key == key) {
    const std::uint32_t route = endpoints_[slot.endpoint].route_for[index_of(method)];
    if (route != no_route) return {.route = route, .allowed = {}, .kind = MatchKind::found};
  } else if (slot.endpoint == none) {
    return match_tree(method, path, {}, parameters);
  }
  return match_slowly(method, path, parameters);
}

// Any literal path, then the tree.
RouteMatch RouteTable::match_slowly(Method method, Bytes path,
                                    PathParameters& parameters) const noexcept {
  const std::uint32_t literal = find_literal(path);
  if (literal == none) return match_tree(method, path, {}, parameters);
  const Endpoint& endpoint = endpoints_[literal];
  const std::uint32_t route = endpoint.route_for[index_of(method)];
  if (route != no_route) return {.route = route, .allowed = {}, .kind = MatchKind::found};
  return match_tree(method, path, endpoint.allowed, parameters);
}

RouteMatch RouteTable::match_tree(Method method, Bytes path, MethodSet allowed,
                                  PathParameters& parameters) const noexcept {
  if (!nodes_.empty()) {
    KATANA_REQUIRE(path.size() <= UINT32_MAX);
    Walk walk(*this, path, parameters);
    while (const Endpoint* const endpoint = walk.next()) {
      const std::uint32_t route = endpoint->route_for[index_of(method)];
      if (route != no_route) {
        parameters.names_ = routes_[route].names.data();
        parameters.count_ = static_cast<std::uint32_t>(routes_[route].names.size());
        parameters.path_ = path.data();
        return {.route = route, .allowed = {}, .kind = MatchKind::found};
      }
      allowed |= endpoint->allowed;
    }
  }
  if (allowed.empty()) return {};
  return {.route = 0, .allowed = allowed, .kind = MatchKind::method_not_allowed};
}

Bytes RouteTable::pattern(std::uint32_t route) const noexcept {
  KATANA_REQUIRE(route < routes_.size());
  return routes_[route].pattern;
}

std::span<const Bytes> RouteTable::parameter_names(std::uint32_t route) const noexcept {
  KATANA_REQUIRE(route < routes_.size());
  return routes_[route].names;
}

std::uint32_t RouteTable::node_visits(Bytes path) const noexcept {
  if (nodes_.empty()) return 0;
  PathParameters parameters;
  Walk walk(*this, path, parameters);
  while (walk.next() != nullptr) continue;
  return walk.visits();
}

// ---- Building --------------------------------------------------------------------------------

// A node of the tree while it grows.
struct RouteTable::DraftNode {
  SegmentKind kind = SegmentKind::literal;
  std::uint8_t parameter_index = 0;
  Bytes label;
  std::map<std::uint8_t, std::uint32_t> literal_children;  // by the first byte of their label
  std::uint32_t parameter_child = none;
  std::uint32_t rest_child = none;
  std::uint32_t endpoint = none;
};

// Turns checked patterns into a table. Shapes come in their sorted order, so that the table's
// layout does not depend on the order of registration either.
class RouteTable::Assembler {
 public:
  using Served = RouteTableBuilder::Served;

  explicit Assembler(const std::vector<std::string>& patterns) {
    std::size_t bytes = 0;
    std::size_t names = 0;
    for (const std::string& pattern : patterns) {
      bytes += pattern.size();
      names += static_cast<std::size_t>(std::ranges::count(pattern, '{'));
    }
    table_.text_.reserve(bytes);  // reserved once, so that views into them stay valid
    table_.names_.reserve(names);
    for (const std::string& pattern : patterns) add_route(pattern);
  }

  void add_shape(const Served& served) {
    const std::uint32_t route = *std::ranges::find_if(
        served, [](std::uint32_t candidate) { return candidate != no_route; });
    const auto endpoint = static_cast<std::uint32_t>(table_.endpoints_.size());
    table_.endpoints_.push_back(endpoint_of(served));
    const Bytes pattern = table_.routes_[route].pattern;
    if (table_.routes_[route].names.empty()) {
      literals_.emplace_back(pattern, endpoint);
    } else {
      add_to_tree(pattern, endpoint);
    }
  }

  RouteTable take() && {
    fill_literals();
    std::size_t row_entries = 0;
    for (const DraftNode& draft : drafts_) row_entries += row_size_of(draft);
    table_.nodes_.reserve(drafts_.size());  // reserved once, so that pointers into them stay valid
    table_.rows_.reserve(row_entries);
    if (!drafts_.empty()) table_.node_visits_max_ = emit(root);
    return std::move(table_);
  }

 private:
  void add_route(Bytes pattern) {
    const char* const text = table_.text_.data() + table_.text_.size();
    table_.text_.insert(table_.text_.end(), pattern.begin(), pattern.end());
    const Bytes* const names = table_.names_.data() + table_.names_.size();
    Bytes rest{text, pattern.size()};
    while (!rest.empty()) {
      const Segment segment = segment_of(take_segment(rest));
      if (segment.kind != SegmentKind::literal) table_.names_.push_back(segment.text);
    }
    table_.routes_.push_back(
        {{text, pattern.size()}, {names, table_.names_.data() + table_.names_.size()}});
  }

  static Endpoint endpoint_of(const Served& served) {
    Endpoint endpoint{};
    endpoint.route_for = served;
    std::uint32_t& head = endpoint.route_for[index_of(Method::head)];
    if (head == no_route) head = served[index_of(Method::get)];
    for (std::size_t method = 0; method < method_count; ++method) {
      std::uint32_t& route = endpoint.route_for[method];
      if (route == no_route) route = served[any_method];
      if (route != no_route) endpoint.allowed.insert(static_cast<Method>(method));
    }
    endpoint.allowed.insert(Method::options);
    return endpoint;
  }

  // A pattern is runs of text, each up to a parameter or to its end.
  void add_to_tree(Bytes pattern, std::uint32_t endpoint) {
    if (drafts_.empty()) drafts_.emplace_back();
    std::uint32_t node = root;
    std::uint8_t parameter_count = 0;
    for (Bytes rest = pattern;;) {
      const std::size_t run = std::min(rest.find('{'), rest.size());
      node = node_after(node, rest.substr(0, run));
      rest.remove_prefix(run);
      if (rest.empty()) break;
      const Bytes parameter = rest.substr(0, rest.find('}') + 1);
      rest.remove_prefix(parameter.size());
      node = parameter_child_of(node, segment_of(parameter).kind, parameter_count++);
    }
    drafts_[node].endpoint = endpoint;
  }

  // The node at the end of the text that follows a node; made, and others split, as needed.
  std::uint32_t node_after(std::uint32_t node, Bytes text) {
    for (;;) {
      if (is_blank(drafts_[node])) {
        drafts_[node].label = text;
        return node;
      }
      const Bytes label = drafts_[node].label;
      const auto common =
          static_cast<std::size_t>(std::ranges::mismatch(label, text).in1 - label.begin());
      if (common < label.size()) split(node, common);
      text.remove_prefix(common);
      if (text.empty()) return node;
      const auto fresh = static_cast<std::uint32_t>(drafts_.size());
      const auto [child, made] = drafts_[node].literal_children.try_emplace(
          static_cast<std::uint8_t>(text.front()), fresh);
      node = child->second;
      if (!made) continue;
      drafts_.emplace_back().label = text;
      return fresh;
    }
  }

  static bool is_blank(const DraftNode& draft) {
    return draft.label.empty() && draft.endpoint == none && draft.literal_children.empty() &&
           draft.parameter_child == none && draft.rest_child == none;
  }

  // Keeps what a node consumes up to this place of its label; all the rest becomes a child.
  void split(std::uint32_t node, std::size_t place) {
    DraftNode tail = std::move(drafts_[node]);
    DraftNode head;
    head.kind = std::exchange(tail.kind, SegmentKind::literal);
    head.parameter_index = std::exchange(tail.parameter_index, std::uint8_t{0});
    head.label = tail.label.substr(0, place);
    tail.label.remove_prefix(place);
    head.literal_children.emplace(static_cast<std::uint8_t>(tail.label.front()),
                                  static_cast<std::uint32_t>(drafts_.size()));
    drafts_[node] = std::move(head);
    drafts_.push_back(std::move(tail));
  }

  std::uint32_t parameter_child_of(std::uint32_t node, SegmentKind kind, std::uint8_t index) {
    const bool is_rest = kind == SegmentKind::rest;
    std::uint32_t& child = is_rest ? drafts_[node].rest_child : drafts_[node].parameter_child;
    if (child != none) return child;
    child = static_cast<std::uint32_t>(drafts_.size());
    const std::uint32_t fresh = child;  // growing the vector ends the reference
    DraftNode& draft = drafts_.emplace_back();
    draft.kind = kind;
    draft.parameter_index = index;
    return fresh;
  }

  void fill_literals() {
    table_.literals_.resize(std::bit_ceil(2 * literals_.size() + 1));
    table_.literal_mask_ = table_.literals_.size() - 1;
    for (const auto& [path, endpoint] : literals_) {
      table_.literal_sizes_ |= std::uint64_t{1} << path.size() % 64;
      const Key key = key_of(path);
      std::uint64_t index = hash_of(key, path);
      while (table_.literals_[index & table_.literal_mask_].endpoint != none) ++index;
      table_.literals_[index & table_.literal_mask_] = {key, path.data(), endpoint};
    }
  }

  // Appends a node and all below it; returns the most visits they can cost. As deep a recursion as
  // a pattern has nodes.
  std::uint32_t emit(std::uint32_t draft_number) {
    const DraftNode& draft = drafts_[draft_number];
    Node& node = table_.nodes_.emplace_back();
    node.kind = draft.kind;
    node.parameter_index = draft.parameter_index;
    node.label = draft.label.data();
    node.label_size = static_cast<std::uint16_t>(draft.label.size());
    node.label_word = key_of(draft.label).first;
    if (node.label_size > 0) {
      node.label_mask = UINT64_MAX >> (8 - std::min(draft.label.size(), std::size_t{8})) * 8;
    }
    if (draft.endpoint != none) node.endpoint = &table_.endpoints_[draft.endpoint];
    const Node** const row = table_.rows_.data() + table_.rows_.size();
    node.row = row;
    node.row_size = static_cast<std::uint16_t>(row_size_of(draft));
    if (node.row_size > 0) node.first_byte = draft.literal_children.begin()->first;
    table_.rows_.resize(table_.rows_.size() + node.row_size);
    std::uint32_t visits = 0;
    for (const auto& [byte, child] : draft.literal_children) {
      row[byte - node.first_byte] = table_.nodes_.data() + table_.nodes_.size();
      visits = std::max(visits, emit(child));
    }
    visits += emit_if_any(draft.parameter_child, node.parameter_child);
    visits += emit_if_any(draft.rest_child, node.rest_child);
    return visits + 1;
  }

  std::uint32_t emit_if_any(std::uint32_t draft_number, const Node*& child) {
    if (draft_number == none) return 0;
    child = table_.nodes_.data() + table_.nodes_.size();
    return emit(draft_number);
  }

  static std::size_t row_size_of(const DraftNode& draft) {
    if (draft.literal_children.empty()) return 0;
    return draft.literal_children.rbegin()->first - draft.literal_children.begin()->first + 1U;
  }

  RouteTable table_;
  std::vector<DraftNode> drafts_;  // the root first; empty if no pattern has a parameter
  std::vector<std::pair<Bytes, std::uint32_t>> literals_;
};

Result<std::uint32_t> RouteTableBuilder::add(Method method, std::string_view pattern) {
  if (method == Method::extension) {
    return fail(Code::invalid_argument,
                fmt::format("route \"{}\": only the {} registered methods have routes of their own;"
                            " add the pattern for any method and read the method in the handler",
                            pattern, method_count));
  }
  return add_route(index_of(method), pattern);
}

Result<std::uint32_t> RouteTableBuilder::add_any_method(std::string_view pattern) {
  return add_route(any_method, pattern);
}

Result<std::uint32_t> RouteTableBuilder::add_route(std::size_t method, std::string_view pattern) {
  Result<std::string> shape = PatternReader(label_of(method), pattern).read_shape();
  if (!shape) return std::unexpected(shape.error());
  const auto route = static_cast<std::uint32_t>(patterns_.size());
  if (route == routes_max) {
    return fail(Code::resource_exhausted,
                fmt::format("route {} \"{}\": the table has {} routes already and holds no more;"
                            " replace routes that differ in one segment by a parameter",
                            label_of(method), pattern, routes_max));
  }
  Served nothing;
  nothing.fill(no_route);
  std::uint32_t& served = shapes_.try_emplace(std::move(*shape), nothing).first->second[method];
  if (served != no_route) {
    return fail(Code::already_exists,
                fmt::format("route {0} \"{1}\": \"{2}\" is registered for {0} already and fits the"
                            " same paths; keep one of them",
                            label_of(method), pattern, patterns_[served]));
  }
  served = route;
  patterns_.emplace_back(pattern);
  return route;
}

RouteTable RouteTableBuilder::build() && {
  RouteTable::Assembler assembler(patterns_);
  for (const auto& [shape, served] : shapes_) assembler.add_shape(served);
  return std::move(assembler).take();
}

}  // namespace katana
