#include "katana/stores/redis/reply.hpp"

#include <algorithm>

namespace katana::redis {
namespace {

// Room is reserved for at most this many elements: the count of a server may be a lie.
constexpr std::uint64_t reserved_max = 1024;
constexpr std::size_t verbatim_prefix_bytes = 4;

}  // namespace

std::optional<std::int64_t> Reply::integer() const noexcept {
  if (type_ != Type::integer && type_ != Type::boolean) return {};
  return integer_;
}

std::optional<double> Reply::number() const noexcept {
  if (type_ == Type::number) return number_;
  if (type_ == Type::integer) return static_cast<double>(integer_);
  return {};
}

const Reply* Reply::find(std::string_view key) const noexcept {
  if (type_ != Type::map) return nullptr;
  for (std::size_t index = 0; index + 1 < elements_.size(); index += 2) {
    if (elements_[index].text() == key) return &elements_[index + 1];
  }
  return nullptr;
}

// Null: it is, or belongs to, an attribute.
Reply* ReplyBuilder::begin_value(const resp::Step& step) {
  if (step.kind == resp::Kind::attribute || (!open_.empty() && open_.back() == nullptr)) {
    return nullptr;
  }
  if (open_.empty()) {
    root_ = Reply();
    return &root_;
  }
  return &open_.back()->elements_.emplace_back();
}

bool ReplyBuilder::add(const resp::Step& step) {
  if (step.event == resp::Event::value) {
    Reply* const place = begin_value(step);
    const bool is_aggregate = step.kind >= resp::Kind::array;
    if (is_aggregate) open_.push_back(place);
    text_ = is_aggregate ? nullptr : place;
    if (place != nullptr) {
      place->type_ = step.kind;
      if (is_aggregate) place->elements_.reserve(std::min(step.count, reserved_max));
      if (step.kind == resp::Kind::number) {
        place->number_ = step.number;
      } else {
        place->integer_ = step.integer;
      }
    }
  }
  if (text_ != nullptr) text_->text_ += step.text;
  if (!step.complete) return false;
  if (text_ != nullptr && text_->type_ == resp::Kind::verbatim) {
    text_->text_.erase(0, verbatim_prefix_bytes);
  }
  text_ = nullptr;
  open_.resize(open_.size() - step.ended);
  return step.reply_ended;
}

Reply ReplyBuilder::take() noexcept { return std::exchange(root_, Reply()); }

void ReplyBuilder::clear() noexcept {
  root_ = Reply();
  open_.clear();
  text_ = nullptr;
}

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
