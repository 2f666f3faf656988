#include "katana/data/container/form_read.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

#include "katana/base/values/base64.hpp"
#include "katana/data/container/json_scan.hpp"

namespace katana::container::detail {
namespace {

template <class Number>
Taken number_of(const FormLeaf* leaf, Number& to) {
  if (leaf == nullptr) return Taken::mismatch;
  const std::string& text = leaf->text;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, to);
  if (error == std::errc::result_out_of_range && at == end) return Taken::out_of_range;
  return error == std::errc() && at == end ? Taken::good : Taken::mismatch;
}

// "1.0" is an integer, as in JSON Schema: a form and its contract then agree.
template <class Integer>
Taken integer_of(const FormLeaf* leaf, Integer& to) {
  const Taken taken = number_of(leaf, to);
  if (taken != Taken::mismatch || leaf == nullptr || !is_json_number(leaf->text)) return taken;
  const auto whole = whole_number(leaf->text);
  if (!whole) return taken;
  return whole->get(to) ? Taken::good : Taken::out_of_range;
}

Kinds kinds_of_text(const FormLeaf& leaf) {
  Kinds kinds = kinds_of(Kind::text);
  const FormNode node(leaf);
  std::int64_t integer = 0;
  std::uint64_t natural = 0;
  double real = 0;
  if (leaf.text == "true" || leaf.text == "false") kinds |= kinds_of(Kind::boolean);
  // By its form: with a text alternative "1.0" is text; with other numbers it is a number.
  if (number_of(&leaf, integer) == Taken::good) kinds |= kinds_of(Kind::integer);
  if (number_of(&leaf, natural) == Taken::good) kinds |= kinds_of(Kind::natural);
  if (node.take(real) == Taken::good) kinds |= kinds_of(Kind::real);
  return kinds;
}

}  // namespace

std::optional<Kind> FormNode::kind() const {
  if (leaf_ != nullptr) return Kind::text;
  return node_->is_numbered() || node_->unnumbered() != nullptr ? Kind::list : Kind::object;
}

Kinds FormNode::kinds() const {
  if (leaf_ != nullptr) return static_cast<Kinds>(kinds_of_text(*leaf_) | kinds_of(Kind::list));
  const Kinds list = kind() == Kind::list ? kinds_of(Kind::list) : Kinds{0};
  return static_cast<Kinds>(list | kinds_of(Kind::object));
}

std::optional<Kind> FormNode::kind_among(Kinds wanted) const {
  const Kinds found = kinds() & wanted;
  const bool is_many = node_ != nullptr && node_->values.size() > 1;
  if (is_many && (found & kinds_of(Kind::list)) != 0) return Kind::list;
  const Kinds scalars = found & ~(kinds_of(Kind::list) | kinds_of(Kind::object));
  std::int64_t whole = 0;
  if (scalars == 0 && (wanted & kinds_of(Kind::integer)) != 0 && take(whole) == Taken::good) {
    return Kind::integer;
  }
  for (const Kind each : {Kind::boolean, Kind::integer, Kind::natural, Kind::real, Kind::text,
                          Kind::list, Kind::object}) {
    if ((found & kinds_of(each)) != 0) return each;
  }
  return kind();
}

Looked FormNode::look(MemberVisitor& visitor) const {
  for (const auto& [name, member] : node_->members) {
    const FormNode node(*member);
    const Bytes text = node.leaf_ == nullptr ? Bytes() : Bytes(node.leaf_->text);
    Kinds kinds = node.kinds();
    if (node.kind_among(kinds_of(Kind::integer)) == Kind::integer) {
      kinds |= kinds_of(Kind::integer);
    }
    if (!visitor.visit(name, kinds, text)) break;
  }
  return {};
}

Taken FormNode::take(bool& to) const {
  if (leaf_ == nullptr) return Taken::mismatch;
  to = leaf_->text == "true" || leaf_->text == "1";
  return to || leaf_->text == "false" || leaf_->text == "0" ? Taken::good : Taken::mismatch;
}

Taken FormNode::take(std::int64_t& to) const { return integer_of(leaf_, to); }
Taken FormNode::take(std::uint64_t& to) const { return integer_of(leaf_, to); }

// "nan" and "inf" are refused: few handlers expect to compare or store them.
Taken FormNode::take(double& to) const {
  const Taken taken = number_of(leaf_, to);
  return taken == Taken::good && !std::isfinite(to) ? Taken::mismatch : taken;
}

Taken FormNode::take(std::string& to) const {
  if (leaf_ == nullptr) return Taken::mismatch;
  to = leaf_->text;
  return Taken::good;
}

Taken FormNode::take(Octets& to) const {
  if (leaf_ == nullptr) return Taken::mismatch;
  const auto decoded = katana::decode_base64(leaf_->text);
  if (!decoded) return Taken::mismatch;
  const auto* const begin = reinterpret_cast<const std::byte*>(decoded->data());
  to.assign(begin, begin + decoded->size());
  return Taken::good;
}

}  // namespace katana::container::detail

// SPDX-License-Identifier: Apache-2.0
