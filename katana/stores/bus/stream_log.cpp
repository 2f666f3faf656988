#include "katana/stores/bus/stream_log.hpp"

#include <algorithm>
#include <utility>

#include "katana/stores/bus/subject.hpp"

namespace katana::bus {
namespace {

constexpr std::uint64_t messages_max_implied = 64 * 1024;
constexpr std::uint64_t bytes_max_implied = std::uint64_t{64} * 1024 * 1024;
// Ids that are remembered: of more the oldest go before their time.
constexpr std::size_t ids_max = 64 * 1024;

StreamOptions with_bounds(StreamOptions options) {
  if (options.messages_max == 0) options.messages_max = messages_max_implied;
  if (options.bytes_max == 0) options.bytes_max = bytes_max_implied;
  return options;
}

Bytes id_of(Bytes headers) {
  Bytes id;
  for_each_header(headers, [&](Bytes name, Bytes value) {
    if (name == message_id_header && id.empty()) id = value;
  });
  return id;
}

}  // namespace

StreamLog::StreamLog(StreamOptions options) : options_(with_bounds(std::move(options))) {}

void StreamLog::set_options(StreamOptions options) {
  options_ = with_bounds(std::move(options));
  limit_subjects();
  limit();
}

bool StreamLog::takes(Bytes subject) const noexcept {
  return std::ranges::any_of(options_.subjects,
                             [&](const std::string& each) { return matches(each, subject); });
}

const StreamLog::Entry* StreamLog::find(std::uint64_t sequence) const noexcept {
  const auto found = entries_.find(sequence);
  return found != entries_.end() ? &found->second : nullptr;
}

// ---- storing -----------------------------------------------------------------------------------

bool StreamLog::is_duplicate(Bytes id, Instant now, std::uint64_t& sequence) {
  while (!ids_.empty() &&
         (ids_.size() >= ids_max || now - ids_.front().first > options_.duplicate_window)) {
    by_id_.erase(ids_.front().second);
    ids_.pop_front();
  }
  const auto [found, is_new] = by_id_.try_emplace(std::string(id), last_ + 1);
  if (is_new) ids_.emplace_back(now, std::string(id));
  sequence = found->second;
  return !is_new;
}

Stored StreamLog::add(const Posted& message, Instant now, Timestamp wall) {
  const detail::Envelope& envelope = message.envelope();
  if (const Bytes id = id_of(envelope.headers()); !id.empty()) {
    std::uint64_t sequence = 0;
    if (is_duplicate(id, now, sequence)) return {.sequence = sequence, .is_duplicate = true};
  }
  expire(now);
  const std::size_t bytes = message.allocated_bytes();
  entries_.emplace(++last_, Entry{message, wall, now, bytes});
  by_subject_[std::string(envelope.subject())].push_back(last_);
  bytes_ += bytes;
  if (options_.messages_per_subject_max != 0) {
    const auto& same = by_subject_.find(envelope.subject())->second;
    if (same.size() > options_.messages_per_subject_max) remove(entries_.find(same.front()));
  }
  limit();
  return {.sequence = last_};
}

void StreamLog::remove(std::map<std::uint64_t, Entry>::iterator entry) {
  const auto same = by_subject_.find(entry->second.message.envelope().subject());
  std::erase(same->second, entry->first);
  if (same->second.empty()) by_subject_.erase(same);
  bytes_ -= entry->second.bytes;
  entries_.erase(entry);
}

void StreamLog::limit_subjects() {
  if (options_.messages_per_subject_max == 0) return;
  std::vector<std::uint64_t> above;
  for (const auto& [subject, sequences] : by_subject_) {
    for (std::size_t index = 0; index + options_.messages_per_subject_max < sequences.size();
         ++index) {
      above.push_back(sequences[index]);
    }
  }
  for (const std::uint64_t sequence : above) remove(entries_.find(sequence));
}

// The newest stays, however large it is.
void StreamLog::limit() {
  while (entries_.size() > options_.messages_max ||
         (bytes_ > options_.bytes_max && entries_.size() > 1)) {
    remove(entries_.begin());
  }
}

void StreamLog::expire(Instant now) {
  if (options_.age_max <= Duration{}) return;
  while (!entries_.empty() && now - entries_.begin()->second.stored > options_.age_max) {
    remove(entries_.begin());
  }
}

// ---- reading -----------------------------------------------------------------------------------

StreamPosition StreamLog::position_of(const ConsumeOptions& options) const {
  StreamPosition position{.options = options, .next = last_ + 1, .first = {}, .unacknowledged = {}};
  switch (options.start) {
    case StartAt::first: position.next = 1; break;
    case StartAt::next: break;
    case StartAt::last:
      for (auto each = entries_.rbegin(); each != entries_.rend(); ++each) {
        if (!options.filter.empty() &&
            !matches(options.filter, each->second.message.envelope().subject())) {
          continue;
        }
        position.next = each->first;
        break;
      }
      break;
    case StartAt::last_per_subject:
      for (const auto& [subject, sequences] : by_subject_) {
        if (!options.filter.empty() && !matches(options.filter, subject)) continue;
        position.first.push_back(sequences.back());
      }
      std::ranges::sort(position.first);
      break;
    case StartAt::sequence:
      position.next = std::max<std::uint64_t>(1, options.start_sequence);
      break;
    case StartAt::time:
      for (const auto& [sequence, entry] : entries_) {
        if (entry.stored_at < options.start_time) continue;
        position.next = sequence;
        break;
      }
      break;
  }
  return position;
}

std::uint64_t StreamLog::waiting_for(const StreamPosition& position) const {
  const std::string& filter = position.options.filter;
  const auto behind =
      std::count_if(entries_.lower_bound(position.next), entries_.end(), [&](const auto& each) {
        return filter.empty() || matches(filter, each.second.message.envelope().subject());
      });
  return static_cast<std::uint64_t>(behind) + position.first.size() +
         position.unacknowledged.size();
}

StreamLog::Next StreamLog::take(StreamPosition& position, Instant now) {
  expire(now);
  const ConsumeOptions& options = position.options;
  Next next;
  for (auto each = position.unacknowledged.begin(); each != position.unacknowledged.end();) {
    auto& [sequence, given] = *each;
    const bool is_given_up =
        options.deliveries_max != 0 && given.deliveries >= options.deliveries_max;
    if (!entries_.contains(sequence) || (given.due <= now && is_given_up)) {
      each = position.unacknowledged.erase(each);
      continue;
    }
    if (given.due <= now) {
      given.due = now + options.ack_wait;
      return {.sequence = sequence, .deliveries = ++given.deliveries};
    }
    next.look_again = std::min(next.look_again, given.due);
    ++each;
  }
  if (position.unacknowledged.size() >= options.unacknowledged_max) return next;
  const auto give = [&](std::uint64_t sequence) {
    position.unacknowledged[sequence] = {.due = now + options.ack_wait};
    return Next{.sequence = sequence};
  };
  while (!position.first.empty()) {
    const std::uint64_t sequence = position.first.front();
    position.first.pop_front();
    if (entries_.contains(sequence)) return give(sequence);
  }
  for (auto each = entries_.lower_bound(position.next); each != entries_.end(); ++each) {
    position.next = each->first + 1;
    if (options.filter.empty() ||
        matches(options.filter, each->second.message.envelope().subject())) {
      return give(each->first);
    }
  }
  return next;
}

std::vector<std::uint64_t> StreamLog::last_of(Bytes subject, std::size_t count) const {
  const auto found = by_subject_.find(subject);
  if (found == by_subject_.end()) return {};
  const auto& all = found->second;
  const std::size_t wanted = std::min(count, all.size());
  return {all.end() - static_cast<std::ptrdiff_t>(wanted), all.end()};
}

std::vector<std::uint64_t> StreamLog::after(Bytes filter, std::uint64_t sequence,
                                            std::size_t count) const {
  std::vector<std::uint64_t> found;
  for (auto each = entries_.upper_bound(sequence); each != entries_.end(); ++each) {
    if (found.size() >= count) break;
    if (!matches(filter, each->second.message.envelope().subject())) continue;
    found.push_back(each->first);
  }
  return found;
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
