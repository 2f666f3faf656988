#include "katana/base/result.hpp"

#include <array>

namespace katana {

std::string_view code_name(Code code) noexcept {
  static constexpr std::array<std::string_view, 12> names = {
      "invalid argument",   "not found",         "already exists", "out of range",
      "resource exhausted", "permission denied", "unavailable",    "deadline exceeded",
      "cancelled",          "unsupported",       "data loss",      "internal error"};
  return names[static_cast<std::size_t>(code)];
}

Error::Error(Code code, std::string message)
    : code_(code), detail_(std::make_shared<const Detail>(Detail{std::move(message), nullptr})) {}

std::string_view Error::message() const noexcept {
  return detail_ ? std::string_view(detail_->message) : code_name(code_);
}

Error Error::within(std::string context) const {
  Error wider(code_);
  auto cause = detail_;
  if (!cause)
    cause = std::make_shared<const Detail>(Detail{std::string(code_name(code_)), nullptr});
  wider.detail_ = std::make_shared<const Detail>(Detail{std::move(context), std::move(cause)});
  return wider;
}

std::string Error::describe() const {
  std::string text(message());
  if (!detail_) return text;
  for (const Detail* cause = detail_->cause.get(); cause; cause = cause->cause.get()) {
    text += ": ";
    text += cause->message;
  }
  return text;
}

}  // namespace katana
