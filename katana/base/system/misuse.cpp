#include "katana/base/system/misuse.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <array>
#include <cstdlib>
#include <stdexcept>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/coroutine/executor.hpp"
#include "katana/base/system/last_words.hpp"

namespace katana {

std::string describe_thread() {
  const std::string* site = current_activity != nullptr ? current_activity->site : nullptr;
  if (site == nullptr && Executor::current() != nullptr) site = Executor::current()->site();
  std::string text = " (";
  if (site != nullptr) text += fmt::format("on route {}, ", *site);
  if (current_activity != nullptr && !current_activity->name.empty()) {
    text += fmt::format("request {}, ", current_activity->name);
  }
  std::array<char, 16> name{};
  (void)pthread_getname_np(pthread_self(), name.data(), name.size());  // otherwise it stays empty
  return text + fmt::format("thread {})", name.data());
}

std::string misuse_sentence(Bytes what, Bytes remedy) {
  return fmt::format("{}{}: {}", what, describe_thread(), remedy);
}

void throw_misuse(Bytes what, Bytes remedy) {
  throw std::logic_error(misuse_sentence(what, remedy));
}

void die_of_misuse(Bytes what, Bytes remedy) noexcept {
  say_last_words("katana: " + misuse_sentence(what, remedy));
  std::abort();
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
