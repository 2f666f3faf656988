// KATANA_DESCRIBE: names the members of a struct, so that text can be turned into it and back
// without a code generator.
//
//   struct Page { int limit = 20; std::int64_t after = 0; };
//   KATANA_DESCRIBE(Page, limit, after)
//
// Place it in the namespace of the struct. A described struct's members keep the values of its
// initialisers unless the input names them. At most 32 members.
#pragma once

#include <string_view>
#include <tuple>

namespace katana {

template <class Struct, class Member>
struct DescribedMember {
  std::string_view name;
  Member Struct::* pointer;
};

template <class T>
concept Described = requires(const T* type) { katana_describe(type); };

// Calls `visit(name, member)` for each member in order.
template <Described T, class Visit>
constexpr void for_each_member(T& value, Visit&& visit) {
  std::apply([&](const auto&... member) { (visit(member.name, value.*member.pointer), ...); },
             katana_describe(static_cast<const T*>(nullptr)));
}

}  // namespace katana

#define KATANA_DETAIL_MEMBER(Struct, member) \
  ::katana::DescribedMember<Struct, decltype(Struct::member)> { #member, &Struct::member }

// Applies KATANA_DETAIL_MEMBER to each argument: the preprocessor's recursion, four levels of four.
#define KATANA_DETAIL_PARENS ()
#define KATANA_DETAIL_EXPAND(...) \
  KATANA_DETAIL_EXPAND3(KATANA_DETAIL_EXPAND3(KATANA_DETAIL_EXPAND3(__VA_ARGS__)))
#define KATANA_DETAIL_EXPAND3(...) \
  KATANA_DETAIL_EXPAND2(KATANA_DETAIL_EXPAND2(KATANA_DETAIL_EXPAND2(__VA_ARGS__)))
#define KATANA_DETAIL_EXPAND2(...) \
  KATANA_DETAIL_EXPAND1(KATANA_DETAIL_EXPAND1(KATANA_DETAIL_EXPAND1(__VA_ARGS__)))
#define KATANA_DETAIL_EXPAND1(...) __VA_ARGS__
#define KATANA_DETAIL_EACH(Struct, member, ...) \
  KATANA_DETAIL_MEMBER(Struct, member)          \
  __VA_OPT__(, KATANA_DETAIL_AGAIN KATANA_DETAIL_PARENS(Struct, __VA_ARGS__))
#define KATANA_DETAIL_AGAIN() KATANA_DETAIL_EACH

#define KATANA_DESCRIBE(Struct, ...)                                                       \
  [[maybe_unused]] constexpr auto katana_describe(const Struct*) {                         \
    return std::make_tuple(KATANA_DETAIL_EXPAND(KATANA_DETAIL_EACH(Struct, __VA_ARGS__))); \
  }
