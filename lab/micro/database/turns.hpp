// Turns: a reactor's turns without a reactor: the work of one, and its end.
//
// Owns       nothing.
// Thread     one.
// Fails      by ending the program when work leaves for another thread: measured calls are answered
//            at once.
#pragma once

#include <utility>

#include "katana/base/coroutine/executor.hpp"
#include "lab/micro/micro.hpp"

namespace bench {

class Turns final : public katana::Executor {
 public:
  template <class F>
  void turn(F&& happens) {
    enter(this);
    std::forward<F>(happens)();
    end_turn();
    enter(nullptr);
  }
  void post(katana::Message&) noexcept override { micro::fail(1, "a point read left its reactor"); }
};

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
