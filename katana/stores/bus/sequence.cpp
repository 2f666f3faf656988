#include "katana/stores/bus/sequence.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/base/values/secrets.hpp"

namespace katana::bus {
namespace {

constexpr std::uint64_t count_mask = (std::uint64_t{1} << generation_shift) - 1;
constexpr unsigned silent_repeats_max = 3;
// The longest time that a message may be under way. A subscriber that came less than this before
// the first number may have been too late for it.
constexpr Duration age_slack = seconds(1);

KeyedHash new_hash() {
  std::array<std::uint64_t, 2> key{};
  fill_random({reinterpret_cast<char*>(key.data()), sizeof(key)});
  return {key[0], key[1]};
}

}  // namespace

// ---- Sequencer ---------------------------------------------------------------------------------

Sequencer::Sequencer(std::uint64_t publisher, const SequencerOptions& options)
    : publisher_(publisher), options_(options), entries_(16, Hash{new_hash()}) {
  KATANA_REQUIRE(publisher != 0 && options.subjects_max > 0);
}

Sequencer::~Sequencer() = default;

Origin Sequencer::next(Bytes subject, Instant now) {
  // Most often it is the subject of the last message, which is last in the order.
  Entry* last = order_.last();
  if (last == nullptr || last->subject != subject) {
    const auto found = entries_.find(subject);
    last = found != entries_.end() ? found->second.get() : &add(subject, now);
    order_.remove(*last);
    order_.push_back(*last);
  }
  Entry& entry = *last;
  entry.last = now;
  entry.silent_repeats = 0;
  if (entry.due == never) set_due(entry, now + options_.repeat_after);
  return {publisher_, ++entry.number};
}

Sequencer::Entry& Sequencer::add(Bytes subject, Instant now) {
  if (order_.size() >= options_.subjects_max) {
    Entry& oldest = *order_.first();
    order_.remove(oldest);
    set_due(oldest, never);
    entries_.erase(entries_.find(Bytes(oldest.subject)));
    ++generation_;
  }
  auto made = std::make_unique<Entry>();
  made->subject = subject;
  made->number = generation_ << generation_shift;
  made->first = now;
  Entry& entry = *made;
  entries_.emplace(std::string(subject), std::move(made));
  order_.push_back(entry);
  return entry;
}

void Sequencer::set_due(Entry& entry, Instant due) {
  if (entry.due != never) {
    auto [at, end] = due_.equal_range(entry.due);
    at = std::find_if(at, end, [&](const auto& each) { return each.second == &entry; });
    due_.erase(at);
  }
  entry.due = due;
  if (due != never) due_.emplace(due, &entry);
}

Sequencer::Repeat Sequencer::repeat_first(Instant now) {
  Entry& entry = *due_.begin()->second;
  const bool was_silent = entry.last <= entry.repeated;
  entry.repeated = now;
  entry.silent_repeats = was_silent ? entry.silent_repeats + 1 : 1;
  set_due(entry, entry.silent_repeats >= silent_repeats_max
                     ? never
                     : now + options_.repeat_after * (std::int64_t{1} << entry.silent_repeats));
  return {entry.subject, {publisher_, entry.number}, now - entry.first};
}

// ---- GapDetector -------------------------------------------------------------------------------

GapDetector::GapDetector(std::size_t entries_max)
    : entries_max_(entries_max), entries_(16, Hash{new_hash()}) {
  KATANA_REQUIRE(entries_max > 0);
}

GapDetector::~GapDetector() = default;

void GapDetector::add(std::uint64_t subscription, Instant now) {
  subscriptions_[subscription] = {.since = now};
}

// Entries of the subscription leave when their place is needed.
void GapDetector::remove(std::uint64_t subscription) noexcept {
  subscriptions_.erase(subscription);
}

void GapDetector::forget_one() noexcept {
  Entry& oldest = order_.pop_front();
  const auto subscribed = subscriptions_.find(oldest.key->subscription);
  if (subscribed != subscriptions_.end()) subscribed->second.has_forgotten = true;
  entries_.erase(*oldest.key);
}

GapDetector::Entry& GapDetector::find_or_add(const KeyView& key, bool& is_new) {
  const auto found = entries_.find(key);
  is_new = found == entries_.end();
  if (!is_new) {
    order_.remove(*found->second);
    order_.push_back(*found->second);
    return *found->second;
  }
  if (order_.size() >= entries_max_) forget_one();
  auto made = std::make_unique<Entry>();
  Entry& entry = *made;
  const auto added = entries_.emplace(
      Key{key.subscription, key.publisher, std::string(key.subject)}, std::move(made));
  entry.key = &added.first->first;
  order_.push_back(entry);
  return entry;
}

// Returns the number of missing messages in front of `number`.
std::uint64_t GapDetector::step(Entry& entry, std::uint64_t number) noexcept {
  const std::uint64_t before = std::exchange(entry.number, number);
  if (number >> generation_shift == before >> generation_shift) return number - before - 1;
  return (number & count_mask) - 1;
}

GapDetector::Verdict GapDetector::on_message(std::uint64_t subscription, Bytes subject,
                                             Origin origin) {
  const auto subscribed = subscriptions_.find(subscription);
  if (origin.publisher == 0 || subscribed == subscriptions_.end()) return {};
  if ((origin.sequence & count_mask) == 0) return {};  // none that a Sequencer gives
  bool is_new = false;
  Entry& entry = find_or_add({subscription, origin.publisher, subject}, is_new);
  if (!is_new) {
    if (origin.sequence <= entry.number) return {.is_duplicate = true};
    return {.missed = step(entry, origin.sequence)};
  }
  entry.number = origin.sequence;
  const std::uint64_t before = (origin.sequence & count_mask) - 1;
  if (before == 0) return {};
  if (subscribed->second.has_forgotten) return {.may_have_missed = true};
  entry.unknown = before;
  return {};
}

GapDetector::Verdict GapDetector::on_repeat(std::uint64_t subscription, Bytes subject,
                                            Origin origin, Duration age, Instant now) {
  const auto subscribed = subscriptions_.find(subscription);
  if (origin.publisher == 0 || subscribed == subscriptions_.end()) return {};
  if ((origin.sequence & count_mask) == 0) return {};
  const bool was_there_first = now - subscribed->second.since > nanoseconds(age.ns + age_slack.ns);
  bool is_new = false;
  Entry& entry = find_or_add({subscription, origin.publisher, subject}, is_new);
  Verdict verdict;
  if (is_new) {
    entry.number = origin.sequence;
    if (subscribed->second.has_forgotten) {
      verdict.may_have_missed = true;
    } else {
      entry.unknown = origin.sequence & count_mask;
    }
  } else if (origin.sequence > entry.number) {
    // The repeated number itself did not come either.
    verdict.missed = step(entry, origin.sequence) + 1;
  }
  const std::uint64_t unknown = std::exchange(entry.unknown, 0);
  if (unknown != 0 && was_there_first) verdict.missed += unknown;
  return verdict;
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
