#include "katana/stores/database/statement_observer.hpp"

namespace katana::database::detail {

void Observation::start(const Observed& observed, Order order, const Sql* sql,
                        const Activity* activity) noexcept {
  observer_ = observed.by;
  system_ = observed.system;
  sql_ = sql;
  activity_ = activity;
  order_ = order;
  began_ = observer_->now();
  if (auto* const running = ThreadLists<Observation>::own()) running->push_back(*this);
}

const StatementName& Observation::name() const noexcept {
  return sql_ != nullptr ? observer_->names.find(*sql_) : observer_->names.find(order_);
}

Bytes Observation::text() const noexcept { return sql_ != nullptr ? sql_->text() : Bytes(); }

void Observation::report(std::int64_t rows, std::optional<Kind> failure) noexcept {
  const StatementName& name = this->name();
  StatementObserver& observer = *observer_;
  observer_ = nullptr;
  leave_list();
  const Instant ended = paused_at_ != never ? paused_at_ : observer.now();
  // The code that destroys a call is not always in its activity.
  const Activity* const activity = activity_ != nullptr ? activity_ : current_activity;
  const ActivityScope scope(activity);
  observer.on_statement({.name = name.text,
                         .number = name.number,
                         .text = text(),
                         .system = system_,
                         .began = began_,
                         .duration = {(ended - began_).ns - paused_.ns},
                         .rows = rows,
                         .failure = failure,
                         .request_id = activity != nullptr ? activity->name : Bytes(),
                         .trace_id = activity != nullptr ? activity->trace : Bytes()});
}

}  // namespace katana::database::detail

// SPDX-License-Identifier: Apache-2.0
