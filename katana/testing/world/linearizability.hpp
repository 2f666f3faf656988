// linearizable(): whether one object can have done the calls of a history one at a time, each
// between its invocation and its return.
//
//   std::vector<RegisterCall> calls = …;
//   const Linearized judged = linearizable(RegisterModel{}, calls);
//   EXPECT_TRUE(judged.holds) << judged.describe();
//
// A call without a known outcome (LinearCall::is_open) may have taken effect at any time after its
// invocation, or never. The search is that of Wing and Gong (1993) with the memory of Lowe (2017).
// Each set of done calls is tried once with each state of the object. A model has:
//
//   Call                 derived from LinearCall
//   State                with operator<
//   State initial() const
//   std::optional<State> apply(const State&, const Call&) const
//                        the state after the call. Nothing: the call cannot have had its result in
//                        that state. The results of an open call are ignored.
//
// Owns       copies.
// Thread     any.
// Allocates  for each state that the search visits.
// Fails      `gave_up` after states_max states: the history is too concurrent to be judged.
// Invariant  the answer does not depend on the order of `calls`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/instant.hpp"

namespace katana::testing {

// The base of each model's Call.
struct LinearCall {
  Instant invoked = {};   // when it began
  Instant returned = {};  // of an open call: ignored
  bool is_open = false;   // its outcome is unknown
  std::string text = {};  // for the report, such as "ada#3 write 7"
};

// The result of a search for an order.
struct Linearized {
  bool holds = false;      // an order was found
  bool gave_up = false;    // neither: the search had too many states
  std::size_t states = 0;  // that were visited
  // The longest order that was found, and the calls that fit nowhere behind it.
  std::vector<std::string> order = {};
  std::vector<std::string> left = {};

  // For the report of a failure: the order, and what did not fit.
  std::string describe() const;
};

namespace detail {

template <class Model>
class LinearSearch {
 public:
  using Call = typename Model::Call;
  using State = typename Model::State;

  LinearSearch(const Model& model, const std::vector<Call>& calls, std::size_t states_max)
      : model_(model), states_max_(states_max), done_((calls.size() + 63) / 64) {
    for (const Call& each : calls) calls_.push_back(&each);
    std::ranges::sort(calls_, {},
                      [](const Call* each) { return std::pair(each->invoked.ns, each); });
    for (const Call* each : calls_) closed_left_ += each->is_open ? 0 : 1;
  }

  Linearized run() {
    search(model_.initial());
    for (const std::size_t index : best_) result_.order.push_back(calls_[index]->text);
    for (std::size_t index = 0; index < calls_.size() && !result_.holds; ++index) {
      const bool is_in = std::ranges::find(best_, index) != best_.end();
      if (!is_in && !calls_[index]->is_open) result_.left.push_back(calls_[index]->text);
    }
    return std::move(result_);
  }

 private:
  // A place in the search: the call that was done, and the state before it.
  struct Step {
    std::size_t index;
    State before;
  };

  bool is_done(std::size_t index) const { return (done_[index / 64] >> (index % 64) & 1) != 0; }
  void flip(std::size_t index) {
    done_[index / 64] ^= std::uint64_t{1} << (index % 64);
    closed_left_ = calls_[index]->is_open ? closed_left_
                   : is_done(index)       ? closed_left_ - 1
                                          : closed_left_ + 1;
  }
  // The next call from `from` on that may be done now: one invoked before every return of a call
  // that is not done.
  std::size_t next(std::size_t from) const {
    Instant first_return = never;
    for (std::size_t index = 0; index < calls_.size(); ++index) {
      const Call& call = *calls_[index];
      if (call.invoked > first_return) break;
      if (is_done(index)) continue;
      if (index >= from) return index;
      if (!call.is_open) first_return = std::min(first_return, call.returned);
    }
    return calls_.size();
  }

  void search(State state) {
    std::size_t from = 0;
    while (closed_left_ > 0) {
      std::size_t index = next(from);
      std::optional<State> after;
      for (; index < calls_.size(); index = next(index + 1)) {
        after = model_.apply(state, *calls_[index]);
        if (!after) continue;
        flip(index);
        if (seen_.emplace(done_, *after).second) break;
        flip(index);
      }
      if (index < calls_.size()) {
        steps_.push_back({index, std::exchange(state, *std::move(after))});
        keep_best();
        from = 0;
        if (++result_.states > states_max_) return void(result_.gave_up = true);
        continue;
      }
      if (steps_.empty()) return;
      flip(steps_.back().index);
      from = steps_.back().index + 1;
      state = std::move(steps_.back().before);
      steps_.pop_back();
    }
    keep_best();
    result_.holds = true;
  }
  void keep_best() {
    if (steps_.size() <= best_.size()) return;
    best_.clear();
    for (const Step& each : steps_) best_.push_back(each.index);
  }

  const Model& model_;
  const std::size_t states_max_;
  std::vector<const Call*> calls_;  // by invocation
  std::vector<std::uint64_t> done_;
  std::size_t closed_left_ = 0;
  std::vector<Step> steps_;
  std::vector<std::size_t> best_;
  std::set<std::pair<std::vector<std::uint64_t>, State>> seen_;
  Linearized result_;
};

}  // namespace detail

template <class Model>
Linearized linearizable(const Model& model, const std::vector<typename Model::Call>& calls,
                        std::size_t states_max = 1'000'000) {
  return detail::LinearSearch<Model>(model, calls, states_max).run();
}

// ---- models

// A call of a register with a text. The state is the value; nothing: it has none.
struct RegisterCall : LinearCall {
  // The effect of a call.
  enum class Kind : std::uint8_t {
    read,      // of the value
    write,     // whatever is there
    exchange,  // only over `expected`
  };
  Kind kind = Kind::read;                    // what it does
  std::string key = {};                      // of a map; see linearizable_map()
  std::optional<std::string> value = {};     // that was read or is to be written; nothing: none
  std::optional<std::string> expected = {};  // of exchange: it writes only over this value
  bool exchanged = true;                     // of exchange: whether it wrote
};

// The rules of a register with a text.
struct RegisterModel {
  using Call = RegisterCall;                 // of the history
  using State = std::optional<std::string>;  // the value; nothing: none
  State initial_value = {};                  // before the first call

  // The state before the first call.
  State initial() const { return initial_value; }
  // The state behind `call`; nothing: it cannot be the next one.
  std::optional<State> apply(const State& state, const Call& call) const;
};

// A map of registers: linearizable if and only if each key is (locality, Herlihy and Wing 1990).
Linearized linearizable_map(const std::vector<RegisterCall>& calls,
                            const std::map<std::string, std::string>& initial = {},
                            std::size_t states_max = 1'000'000);

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
