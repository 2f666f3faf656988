// Extraction: handler parameters made from a request.
//
//   Path<T>               the next parameter of the route's pattern, in order
//   Query<T>              a described struct filled from the query: ?limit=20&after=7
//   Header<T>, Cookie<T>  from header fields and from cookies (http/handlers/head_fields.hpp)
//   RequestView, Request  all of it
//
// A value is a number, a bool, std::string, a described enumeration, or of a type with a TextForm.
// Such types are Uuid, Timestamp, Date, Decimal, container::AsJson<T>, or your own. A member of a
// struct is a value, a std::optional of one, or a std::vector: ?tag=a&tag=b.
//
// Fails      400. `errors` lists every member that does not fit, as 422 of Json<T> does, with the
//            member's name, the expected and the received value. A query that breaks a rule of its
//            description fails the same way.
#pragma once

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/values/described.hpp"
#include "katana/data/container/findings.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/request.hpp"

namespace katana {

// The next {parameter} of the pattern, decoded and read as T; 400 when it is no T.
template <class T>
struct Path {
  T value;  // also *path, path->
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

// The query as the members of T. A member that the query lacks keeps its initialiser. 400 with all
// values that are not of their member's type or break its rule.
template <Described T>
struct Query {
  T value;  // also *query, query->
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

namespace detail {

// Whether a value that does not fit is explained. If not, its Error is a code without a message.
enum class Telling : std::uint8_t { words, nothing };

// Returns an Error with the words "expected EXPECTED, got 'TEXT'".
Error not_a(Bytes expected, Bytes text, Telling telling);

// A parameter of one value that does not fit. The name is that of the route.
struct Misfit {
  const char* kind;  // "path parameter"
  Bytes name;
  Error words;  // its message does not repeat the name
};

// Adds the finding "/NAME", unless an equal one is in the list. Full findings only count it.
void add_misfit(container::Findings& findings, Bytes name, Bytes words);
// Adds a name that is none of `names`, and suggests the nearest of them. A name that is in the list
// is not added again. Full findings only count it.
void add_unknown(container::Findings& findings, Bytes encoded,
                 std::span<const std::string_view> names);
// All findings as one error: "query parameter 'limit': is missing; query parameter 'after': …".
// Entries of the dictionary `own` have the names that were sent (base/values/separators.hpp).
Error misfits_error(const container::Findings& findings, const char* kind, Bytes own = {});

// Reads a whole number that is written with a point or exponent: "1.0", "1e2". JSON Schema counts
// these as integers. Empty: the text is none, or it is beyond the range of the type.
std::optional<std::int64_t> parse_whole(Bytes text);
std::optional<std::uint64_t> parse_whole_natural(Bytes text);

// Reads text as T. The Error has words without a name: "expected a number, got 'x'".
template <class T>
Result<T> parse_text(Bytes text, Telling telling = Telling::words) {
  if constexpr (std::same_as<T, bool>) {
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
    return std::unexpected(not_a("true or false", text, telling));
  } else if constexpr (std::is_arithmetic_v<T>) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool valid = error == std::errc{} && end == text.data() + text.size();
    // "nan" and "inf" are refused: hardly a handler means to compare or to store them.
    if constexpr (std::floating_point<T>) valid = valid && __builtin_isfinite(value);
    if (valid) return value;
    if constexpr (std::signed_integral<T>) {
      const auto whole = parse_whole(text);
      if (whole && std::in_range<T>(*whole)) return static_cast<T>(*whole);
    } else if constexpr (std::unsigned_integral<T>) {
      const auto whole = parse_whole_natural(text);
      if (whole && std::in_range<T>(*whole)) return static_cast<T>(*whole);
    }
    constexpr const char* expected = !std::integral<T> ? "a number"
                                     : std::unsigned_integral<T>
                                         ? "a whole number that is not negative"
                                         : "a whole number";
    return std::unexpected(not_a(expected, text, telling));
  } else if constexpr (DescribedEnum<T>) {
    if (const auto found = enumerator_from<T>(text)) return *found;
    if (telling == Telling::nothing) return fail(Code::invalid_argument);
    return std::unexpected(not_a(enumerator_choices<T>(), text, telling));
  } else if constexpr (TextFormed<T>) {
    if (auto parsed = TextForm<T>::parse(text)) return *std::move(parsed);
    if (telling == Telling::nothing) return fail(Code::invalid_argument);
    if constexpr (requires { TextForm<T>::misfit(text); }) {
      return fail(Code::invalid_argument, std::string(TextForm<T>::misfit(text)));
    } else {
      return std::unexpected(not_a(TextForm<T>::expected, text, telling));
    }
  } else {
    static_assert(
        std::same_as<T, std::string>,
        "a number, a bool, std::string, a described enumeration (KATANA_DESCRIBE_ENUM), or "
        "a type with a katana::TextForm");
    return std::string(text);
  }
}

Text decoded_segment(Bytes segment);
// Empty: the percent-encoding is not valid.
std::optional<Text> decoded_form(Bytes encoded);
inline Error not_decoded(Bytes raw, Telling telling) {
  return not_a("valid percent-encoding", raw, telling);
}
// Whether `encoded` is the form encoding of `name`.
bool is_form_name(Bytes encoded, Bytes name);

// The names and values of a query, one after another.
class QueryPairs {
 public:
  explicit QueryPairs(Bytes query, const char* what = "query parameter") noexcept
      : kind(what), reader_(query) {}

  const char* const kind;
  bool next() noexcept { return reader_.next(name_, raw_); }
  bool is(Bytes name) const { return is_form_name(name_, name); }
  Bytes shown_name() const noexcept { return name_; }
  template <class T>
  Result<T> value(Telling telling) const {
    const auto text = decoded_form(raw_);
    if (!text) return std::unexpected(not_decoded(raw_, telling));
    return parse_text<T>(text->bytes(), telling);
  }
  std::optional<Error> error() const noexcept { return std::nullopt; }

 private:
  http::QueryReader reader_;
  Bytes name_, raw_;
};

template <class T>
inline constexpr bool is_list_parameter = ListMember<WithoutOptional<T>>;

// Reads the current value and checks it against the rules of its description.
template <class Value, class Pairs>
Result<Value> parse_ruled(const Rules<Value>& rules, const Pairs& pairs, Telling telling) {
  auto parsed = pairs.template value<Value>(rules.secret ? Telling::nothing : telling);
  const bool is_broken = parsed && !obeys(rules, *parsed);
  if (telling == Telling::nothing) {
    if (is_broken) return fail(Code::invalid_argument);
  } else if (!parsed && rules.secret) {
    return fail(Code::invalid_argument, "is malformed; it is secret and not shown");
  } else if (is_broken) {
    return fail(Code::invalid_argument, std::string(broken_rule(rules, *parsed)));
  }
  return parsed;
}

// Adds an item to a list: all values of a name that comes more than once count.
template <class Field, class Pairs, class M>
std::optional<Error> parse_item(const Field& field, const Pairs& pairs, M& member, bool first,
                                Telling telling) {
  if (first) member = M();  // the given values replace the initialiser
  auto& list = [&member]() -> auto& {
    if constexpr (is_optional<M>) {
      return member ? *member : member.emplace();
    } else {
      return member;
    }
  }();
  if (list.size() >= field.rules.length_max) {
    if (telling == Telling::nothing) return Error(Code::invalid_argument);
    return Error(Code::invalid_argument,
                 fmt::format("is given more than {} times", field.rules.length_max));
  }
  auto parsed = parse_ruled(field.rules.each, pairs, telling);
  if (!parsed) return parsed.error();
  list.push_back(*std::move(parsed));
  return std::nullopt;
}

template <class Field, class Pairs, class M>
std::optional<Error> parse_member(const Field& field, const Pairs& pairs, M& member,
                                  Telling telling) {
  auto parsed = parse_ruled(field.rules, pairs, telling);
  if (!parsed) return parsed.error();
  member = *std::move(parsed);
  return std::nullopt;
}

inline Misfit path_misfit(const RequestView& request, std::size_t index, const Error& words) {
  return {"path parameter", request.parameters()[index].name, words};
}

template <class T>
Result<T> parse_path_parameter(const RequestView& request, std::size_t index) {
  const PathParameter parameter = request.parameters()[index];
  if constexpr (std::is_arithmetic_v<T>) {  // nearly always there is nothing to decode and nothing
                                            // to copy
    if (parameter.value.find('%') == Bytes::npos) {
      return parse_text<T>(parameter.value);
    }
  }
  return parse_text<T>(decoded_segment(parameter.value).bytes());
}

// Wrong values of one member that are explained. Further ones are only counted, and equal ones not
// even that: a form may repeat a wrong value as often as its size allows.
inline constexpr std::uint8_t misfits_told_max = 16;

// A member while the pairs are read.
struct MemberState {
  bool is_given = false;
  std::uint8_t misfits = 0;  // wrong values, up to misfits_told_max

  Telling telling(const container::Findings& findings) const noexcept {
    return findings.full() || misfits == misfits_told_max ? Telling::nothing : Telling::words;
  }
  // Notes a wrong value. `telling`: that of its error.
  void note(container::Findings& findings, Bytes name, const Error& error, Telling telling);
};
template <Described T>
using MemberStates = std::array<MemberState, field_count<T>>;

// Stores the current value in the member of its name.
template <Described T, class Pairs>
void take_pair(const Pairs& pairs, T& value, MemberStates<T>& states,
               container::Findings& findings) {
  constexpr bool strict = unknown_names<T> == UnknownNames::refuse;
  bool known = false;
  std::size_t place = 0;
  for_each_field(value, [&](const auto& field, auto& member) {
    MemberState& state = states[place++];
    if (known || !pairs.is(field.name)) return;
    known = true;
    const bool first = !std::exchange(state.is_given, true);
    const Telling telling = state.telling(findings);
    std::optional<Error> error;
    if constexpr (is_list_parameter<std::remove_reference_t<decltype(member)>>) {
      error = parse_item(field, pairs, member, first, telling);
    } else if (first || !strict) {
      error = parse_member(field, pairs, member, telling);
    } else if (telling == Telling::nothing) {
      error = Error(Code::invalid_argument);
    } else {
      error = Error(Code::invalid_argument, "is given more than once");
    }
    if (error) state.note(findings, field.name, *error, telling);
  });
  if (strict && !known) add_unknown(findings, pairs.shown_name(), described_names<T>);
}

// Explains why a list is too short. Empty: it is not.
template <class Field, class M>
std::string check_list(const Field& field, const M& member) {
  if constexpr (is_list_parameter<M>) {
    if constexpr (is_optional<M>) {
      if (member && !obeys(field.rules, *member)) {
        return std::string(broken_rule(field.rules, *member));
      }
    } else if (!obeys(field.rules, member)) {
      return std::string(broken_rule(field.rules, member));
    }
  }
  return {};
}

// Adds what is wrong with members whose pairs were read: lists that are too short, and what is
// missing. A list with a wrong item lacks that item, and its length says nothing.
template <Described T>
void check_members(const T& value, const MemberStates<T>& states, container::Findings& findings) {
  std::size_t place = 0;
  for_each_field(value, [&](const auto& field, const auto& member) {
    const MemberState& state = states[place++];
    std::string wrong;
    if (state.is_given) {
      if (state.misfits == 0) wrong = check_list(field, member);
    } else if (field.rules.presence == Presence::required) {
      wrong = "is missing";
    }
    if (!wrong.empty()) add_misfit(findings, field.name, wrong);
  });
}

// If a name comes more than once, the last value counts, in a list all of them. Names that T lacks
// are ignored. A T with KATANA_DESCRIBE_STRICT refuses both. False: `findings` names all mistakes.
// Mistakes beyond the limit of `findings` cost no words.
template <Described T, class Pairs>
bool read_pairs(Pairs& pairs, T& value, container::Findings& findings) {
  MemberStates<T> states{};
  while (pairs.next()) take_pair(pairs, value, states, findings);
  if (const std::optional<Error> error = pairs.error()) {
    findings.set_malformed(std::string(error->message()));
    return false;
  }
  check_members(value, states, findings);
  if (!findings.empty()) return false;
  check_across(value,
               [&](Bytes member, std::string words) { add_misfit(findings, member, words); });
  return findings.empty();
}

// How many Path<> parameters come before the one at `index` of a parameter list.
template <class T>
inline constexpr bool is_path = false;
template <class T>
inline constexpr bool is_path<Path<T>> = true;

// The names of a Query<>'s members that are marked secret.
template <class P>
struct SecretsOf {
  static void add_to(std::vector<std::string>&) {}
};
template <class T>
struct SecretsOf<Query<T>> {
  static void add_to(std::vector<std::string>& names) {
    for_each_field<T>([&](const auto& field) {
      if (field.rules.secret) names.emplace_back(field.name);
    });
  }
};
template <class Tuple>
struct SecretsOfAll;
template <class... P>
struct SecretsOfAll<std::tuple<P...>> {
  static void add_to(std::vector<std::string>& names) { (SecretsOf<P>::add_to(names), ...); }
};
template <class Tuple>
std::vector<std::string> secret_parameters() {
  std::vector<std::string> names;
  SecretsOfAll<Tuple>::add_to(names);
  return names;
}

// Makes the problem for an Error of reading a parameter or a field of a form; `errors` has it, too.
Reply parameter_problem(const Error& error);
// The reply that is sent instead of calling the handler when a parameter cannot be made. An Error
// serves as well.
struct Refusal {
  Reply reply;
};

// 400 with all findings in parameters of a kind, such as "query parameter". `own` is that of
// misfits_error().
Refusal refuse_parameters(const container::Findings& findings, const char* kind, Bytes own = {});
// The same with one finding.
Refusal refuse_parameter(const char* kind, Bytes name, Bytes words);

// Reads the members of a parameter's value, or refuses the request.
template <class Parameter, class Pairs>
std::expected<Parameter, Refusal> extract_pairs(Pairs pairs) {
  std::expected<Parameter, Refusal> parameter{std::in_place};
  container::Findings findings;
  if (read_pairs(pairs, parameter->value, findings)) [[likely]]
    return parameter;
  return std::unexpected(refuse_parameters(findings, pairs.kind));
}

// True if a parameter is made from the body, which must then have arrived.
template <class P>
inline constexpr bool wants_content = false;

// Extractor<P>::from(request, n) makes a parameter of type P; n is the number of Path<> parameters
// before it.
template <class P>
struct Extractor;
template <class T>
struct Extractor<Path<T>> {
  static std::expected<Path<T>, Misfit> from(const RequestView& request, std::size_t index) {
    auto value = parse_path_parameter<T>(request, index);
    if (!value) return std::unexpected(path_misfit(request, index, value.error()));
    return Path<T>{*std::move(value)};
  }
};
template <class T>
struct Extractor<Query<T>> {
  static std::expected<Query<T>, Refusal> from(const RequestView& request, std::size_t) {
    return extract_pairs<Query<T>>(QueryPairs(request.query()));
  }
};
template <>
struct Extractor<Request> {
  static Result<Request> from(const RequestView& request, std::size_t) { return Request(request); }
};

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
