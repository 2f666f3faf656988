#include "katana/observe/log/plan.hpp"

#include <fmt/args.h>
#include <fmt/compile.h>

#include <algorithm>
#include <deque>

#include "katana/base/text/format.hpp"
#include "katana/observe/log/escape.hpp"

namespace katana::log {

namespace {

std::size_t append_object(std::span<const Value> values, Buffer& out) {
  out.push_back('{');
  std::size_t at = 1;
  while (at < values.size() && values[at].kind != Kind::object_end) {
    if (at > 1) append(out, ", ");
    append(out, values[at].name);
    append(out, ": ");
    at += append_value(values.subspan(at), out);
  }
  out.push_back('}');
  return std::min(at + 1, values.size());
}

// Calls `use` with the value as the type that fmt formats.
template <class Use>
void visit(std::span<const Value> values, const Use& use) {
  const Value& value = values.front();
  switch (value.kind) {
    case Kind::boolean: return use(value.unsigned_integer != 0);
    case Kind::character: return use(static_cast<char>(value.unsigned_integer));
    case Kind::signed_integer: return use(value.signed_integer);
    case Kind::unsigned_integer: return use(value.unsigned_integer);
    case Kind::real32: return use(static_cast<float>(value.real));
    case Kind::real64: return use(value.real);
    case Kind::pointer:
      return use(reinterpret_cast<const void*>(std::uintptr_t{value.unsigned_integer}));
    default: break;
  }
  Buffer text;
  append_value(values, text);
  use(Bytes(text.data(), text.size()));
}

void append_failure(Bytes pattern, const std::exception& error, Buffer& out) {
  append(out, pattern);
  append(out, " [not formatted: ");
  append(out, error.what());
  append(out, "]");
}

}  // namespace

std::size_t extent(std::span<const Value> values) noexcept {
  std::size_t depth = 0, at = 0;
  do {
    if (values[at].kind == Kind::object) ++depth;
    if (values[at].kind == Kind::object_end && depth > 0) --depth;
    ++at;
  } while (depth > 0 && at < values.size());
  return at;
}

std::size_t append_value(std::span<const Value> values, Buffer& out) {
  const Value& value = values.front();
  switch (value.kind) {
    case Kind::signed_integer: {
      const fmt::format_int digits(value.signed_integer);
      append(out, {digits.data(), digits.size()});
      break;
    }
    case Kind::unsigned_integer: {
      const fmt::format_int digits(value.unsigned_integer);
      append(out, {digits.data(), digits.size()});
      break;
    }
    case Kind::text:
      append(out, value.text);
      if (value.cut) append(out, "…");
      break;
    case Kind::object: return append_object(values, out);
    case Kind::object_end: break;
    default:
      visit(values, [&out](const auto& plain) {
        fmt::format_to(fmt::appender(out), FMT_COMPILE("{}"), plain);
      });
  }
  return 1;
}

Plan::Plan(Bytes pattern) {
  if (parse(pattern)) {
    for (Step& step : steps_) {
      step.literal_is_plain = plain_prefix(step.literal) == step.literal.size();
    }
    return;
  }
  steps_.clear();
  whole_ = pattern;
}

// False: a form that steps cannot express.
bool Plan::parse(Bytes pattern) {
  std::string literal;
  while (!pattern.empty()) {
    const char c = pattern.front();
    if (c != '{' && c != '}') {
      const std::size_t end = std::min(pattern.find_first_of("{}"), pattern.size());
      literal += pattern.substr(0, end);
      pattern.remove_prefix(end);
    } else if (pattern.size() > 1 && pattern[1] == c) {
      literal += c;
      pattern.remove_prefix(2);
    } else {
      const std::size_t end = pattern.find('}');
      if (c == '}' || end == Bytes::npos) return false;
      const Bytes inside = pattern.substr(1, end - 1);
      // A number, a name or a nested field: left to fmt.
      if (!inside.empty() && inside.front() != ':') return false;
      if (inside.find('{') != Bytes::npos) return false;
      const bool plain = inside.size() <= 1;
      steps_.push_back(
          {std::move(literal), plain ? "" : std::string(pattern.substr(0, end + 1)), true});
      literal.clear();
      pattern.remove_prefix(end + 1);
    }
  }
  steps_.push_back({std::move(literal), "", false});
  return true;
}

void Plan::format(std::span<const Value> arguments, Buffer& out, Buffer& scratch) const {
  format_escaped(arguments, out, scratch, [](Bytes text, Buffer& to) { append(to, text); });
}

void Plan::format_specified(const std::string& specification, std::span<const Value> value,
                            Buffer& out) {
  try {
    visit(value, [&](const auto& plain) {
      fmt::vformat_to(fmt::appender(out), specification, fmt::make_format_args(plain));
    });
  } catch (const std::exception& error) {
    append_failure(specification, error, out);
  }
}

void Plan::format_whole(std::span<const Value> arguments, Buffer& out) const {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  std::deque<std::string> texts;  // elements keep their address as it grows
  while (!arguments.empty()) {
    visit(arguments, [&](const auto& plain) {
      if constexpr (std::is_same_v<std::decay_t<decltype(plain)>, Bytes>) {
        store.push_back(Bytes(texts.emplace_back(plain)));
      } else {
        store.push_back(plain);
      }
    });
    arguments = arguments.subspan(extent(arguments));
  }
  const std::size_t before = out.size();
  try {
    fmt::vformat_to(fmt::appender(out), whole_, store);
  } catch (const std::exception& error) {
    out.resize(before);
    append_failure(whole_, error, out);
  }
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
