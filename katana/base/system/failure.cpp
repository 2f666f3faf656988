#include "katana/base/system/failure.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <typeinfo>

namespace katana {
namespace {

constexpr int nesting_max = 16;

// Replaces control characters, which could begin a new record in a log file.
void append_line(std::string& to, Bytes text) {
  for (const char c : text) {
    if (to.size() >= failure_bytes_max) return;
    to += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
}

void append_chain(std::string& to, const std::exception_ptr& exception, int depth);

template <class Exception>
void append_nested(std::string& to, const Exception& exception, int depth) {
  const auto* const nested = dynamic_cast<const std::nested_exception*>(&exception);
  if (nested == nullptr || nested->nested_ptr() == nullptr || depth >= nesting_max) return;
  to += ": ";
  append_chain(to, nested->nested_ptr(), depth + 1);
}

void append_chain(std::string& to, const std::exception_ptr& exception, int depth) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& thrown) {
    append_line(to, thrown.what());
    append_nested(to, thrown, depth);
  } catch (const Error& thrown) {
    append_line(to, thrown.describe());
  } catch (const std::string& thrown) {
    append_line(to, thrown);
  } catch (const char* thrown) {
    append_line(to, thrown);
  } catch (const std::nested_exception& thrown) {
    to += "(no std::exception)";
    append_nested(to, thrown, depth);
  } catch (...) {
    to += "(no std::exception)";
  }
}

}  // namespace

std::string describe(const std::exception_ptr& exception) {
  std::string text;
  if (exception != nullptr) append_chain(text, exception, 0);
  return text;
}

std::string type_name(const std::exception_ptr& exception) {
  if (exception == nullptr) return {};
  try {
    std::rethrow_exception(exception);
  } catch (...) {
    const std::type_info* const type = abi::__cxa_current_exception_type();
    if (type == nullptr) return "unknown";
    const std::unique_ptr<char, decltype(&std::free)> plain(
        abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr), &std::free);
    // std::throw_with_nested wraps the given type in another one.
    std::string name = plain != nullptr ? plain.get() : type->name();
    constexpr Bytes wrapped = "std::_Nested_exception<";
    if (name.starts_with(wrapped) && name.ends_with('>')) {
      name = name.substr(wrapped.size(), name.size() - wrapped.size() - 1);
    }
    return name;
  }
}

std::string cause_of(const Failure& failure) {
  if (failure.exception != nullptr) return describe(failure.exception);
  std::string text;
  if (failure.error != nullptr) append_line(text, failure.error->describe());
  return text;
}

std::string describe(const Failure& failure) {
  std::string text;
  const auto add = [&](Bytes part) {
    if (part.empty()) return;
    if (!text.empty()) text += ": ";
    append_line(text, part);
  };
  add(failure.place);
  add(failure.what);
  add(type_name(failure.exception));
  add(cause_of(failure));
  if (text.size() > failure_bytes_max) text.resize(failure_bytes_max);
  return text;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
