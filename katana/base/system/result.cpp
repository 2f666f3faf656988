#include "katana/base/system/result.hpp"

#include <array>
#include <atomic>

namespace katana {

std::string_view code_name(Code code) noexcept {
  static constexpr std::array<std::string_view, 13> names = {
      "invalid argument",   "not found",         "already exists",  "out of range",
      "resource exhausted", "permission denied", "unauthenticated", "unavailable",
      "deadline exceeded",  "cancelled",         "unsupported",     "data loss",
      "internal error"};
  return names[static_cast<std::size_t>(code)];
}

// Written once, before it is shared; only the count changes later.
struct Error::Detail {
  Detail(Code code_of_all, std::string text, const Detail* wider_of)
      : code(code_of_all), message(std::move(text)), cause(wider_of) {}

  mutable std::atomic<std::uint32_t> shares = 1;
  Code code;
  std::string message;
  const Detail* cause;  // one share of it
};

Error::Error(Code code, std::string message)
    : Error(new Detail(code, std::move(message), nullptr)) {}

const Error::Detail* Error::detail() const noexcept {
  return has_detail() ? reinterpret_cast<const Detail*>(word_) : nullptr;
}

Code Error::detail_code() const noexcept { return detail()->code; }

// relaxed: the copying thread has a share already.
void Error::share() const noexcept { detail()->shares.fetch_add(1, std::memory_order_relaxed); }

void Error::release() noexcept {
  const Detail* last = detail();
  // acq_rel: the last owner destroys the detail after all other owners have read it. A loop,
  // because a long chain that the other side caused must not use up the stack.
  while (last != nullptr && last->shares.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    const Detail* const cause = last->cause;
    delete last;
    last = cause;
  }
}

std::string_view Error::message() const noexcept {
  return has_detail() ? std::string_view(detail()->message) : code_name(code());
}

Error Error::within(std::string context) const {
  Error cause = has_detail() ? *this : Error(code(), std::string(code_name(code())));
  const Error wider(new Detail(code(), std::move(context), cause.detail()));
  cause.word_ = moved_from;  // the wider error has its share now
  return wider;
}

std::string Error::describe() const {
  std::string text(message());
  if (!has_detail()) return text;
  for (const Detail* cause = detail()->cause; cause != nullptr; cause = cause->cause) {
    text += ": ";
    text += cause->message;
  }
  return text;
}

std::unexpected<Error> fail(Code code, const char* message) {
  return std::unexpected(Error(code, message));
}
std::unexpected<Error> fail(Code code, const std::string& message) {
  return std::unexpected(Error(code, message));
}
std::unexpected<Error> fail(Code code, std::string&& message) {
  return std::unexpected(Error(code, std::move(message)));
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
