#include "katana/observe/log/binary_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace katana::log {

namespace {

// Reads numbers and texts from the front. After the first missing byte all results are zero and
// ok() is false.
class Parts {
 public:
  explicit Parts(Bytes octets) noexcept : left_(octets) {}

  template <class Number>
  Number number() noexcept {
    Number value{};
    const Bytes octets = take(sizeof value);
    if (ok_) std::memcpy(&value, octets.data(), sizeof value);
    return value;
  }
  Bytes text() noexcept { return take(number<std::uint32_t>()); }
  Bytes take(std::size_t size) noexcept {
    if (size > left_.size()) ok_ = false;
    if (!ok_) return {};
    const Bytes taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  Bytes left() const noexcept { return left_; }
  bool ok() const noexcept { return ok_; }

 private:
  Bytes left_;
  bool ok_ = true;
};

// Every object ends exactly once, and none is split between the pattern and the fields.
bool is_nested_right(const std::vector<Slot>& slots, std::size_t positional, std::size_t fields) {
  std::size_t depth = 0, named = 0, index = 0;
  for (const Slot& slot : slots) {
    if (index == positional && depth != 0) return false;
    if (slot.kind == Kind::object_end) {
      if (depth == 0) return false;
      --depth;
    } else if (depth == 0 && index >= positional) {
      ++named;
    }
    if (slot.kind == Kind::object) ++depth;
    ++index;
  }
  return depth == 0 && named == fields;
}

}  // namespace

Result<std::optional<Entry>> BinaryReader::next() {
  Entry entry;
  while (at_ < octets_.size()) {
    Parts head(octets_.substr(at_));
    const auto size = head.number<std::uint32_t>();
    const auto type = head.number<FrameType>();
    if (head.ok() && size > frame_bytes_max) return std::unexpected(damaged("a frame too long"));
    const Bytes payload = head.take(size);
    if (!head.ok()) {
      if (!in_session_) return std::unexpected(damaged("no session"));
      cut_bytes_ = octets_.size() - at_;
      at_ = octets_.size();
      return std::nullopt;
    }
    const Result<bool> is_record = read_frame(type, payload, entry);
    if (!is_record) return std::unexpected(is_record.error());
    at_ += frame_head_bytes + size;
    if (*is_record) return entry;
  }
  return std::nullopt;
}

// Moves to the next session behind the damage, or to the end.
Error BinaryReader::damaged(Bytes what) {
  const std::size_t damage = at_;
  in_session_ = false;
  std::size_t magic =
      octets_.find(session_magic, std::min(damage + frame_head_bytes + 1, octets_.size()));
  at_ = magic == Bytes::npos ? octets_.size() : magic - frame_head_bytes;
  return Error(Code::data_loss,
               fmt::format("{} at offset {}: {} bytes up to {} are skipped", what, damage,
                           at_ - damage, magic == Bytes::npos ? "the end" : "the next session"));
}

Result<bool> BinaryReader::read_frame(FrameType type, Bytes payload, Entry& entry) {
  if (type == FrameType::session && payload == session_magic) {
    in_session_ = true;
    sites_.clear();
    names_.clear();
    return false;
  }
  if (!in_session_) return std::unexpected(damaged("no session"));
  switch (type) {
    case FrameType::name:
      if (read_name(payload)) return false;
      return std::unexpected(damaged("a damaged name"));
    case FrameType::site:
      if (read_site(payload)) return false;
      return std::unexpected(damaged("a damaged call site"));
    case FrameType::record:
      if (read_record(payload, entry)) return true;
      return std::unexpected(damaged("a damaged record"));
    default: return std::unexpected(damaged("an unknown frame"));
  }
}

bool BinaryReader::read_name(Bytes payload) {
  Parts parts(payload);
  const auto id = parts.number<std::uint32_t>();
  if (!parts.ok()) return false;
  names_[id] = parts.left();
  return true;
}

bool BinaryReader::read_site(Bytes payload) {
  Parts parts(payload);
  OwnedSite owned;
  Site& site = owned.site;
  site.id = parts.number<std::uint32_t>();
  site.level = parts.number<Level>();
  site.line = parts.number<std::uint32_t>();
  const auto slot_count = parts.number<std::uint16_t>();
  site.positional_slots = parts.number<std::uint16_t>();
  const auto field_count = parts.number<std::uint16_t>();
  if (slot_count > slots_max || field_count > slots_max || site.positional_slots > slot_count ||
      site.level >= Level::off) {
    return false;
  }
  for (std::size_t index = 0; index < slot_count; ++index) {
    const auto kind = parts.number<Kind>();
    if (static_cast<std::uint8_t>(kind) >= kind_count) return false;
    owned.slots.push_back({kind, parts.text()});
  }
  for (std::size_t index = 0; index < field_count; ++index) owned.names.push_back(parts.text());
  site.logger = parts.text();
  site.pattern = parts.text();
  site.file = parts.text();
  site.function = parts.text();
  if (!parts.ok() || !parts.left().empty()) return false;
  if (!is_nested_right(owned.slots, site.positional_slots, field_count)) return false;
  site.plan = Plan(site.pattern);
  OwnedSite& kept = sites_[site.id] = std::move(owned);
  kept.site.slots = kept.slots;
  kept.site.field_names = kept.names;
  return true;
}

bool BinaryReader::read_record(Bytes payload, Entry& entry) {
  Parts parts(payload);
  const auto site = sites_.find(parts.number<std::uint32_t>());
  entry.thread_id = parts.number<std::uint32_t>();
  entry.wall_ns = parts.number<std::int64_t>();
  const auto context_bytes = parts.number<std::uint16_t>();
  if (!parts.ok() || site == sites_.end() || context_bytes > parts.left().size()) return false;
  entry.site = &site->second.site;
  const Bytes arguments = parts.take(parts.left().size() - context_bytes);
  return decoder_.decode(entry, arguments) && read_context(parts.left(), entry);
}

bool BinaryReader::read_context(Bytes context, Entry& entry) {
  while (!context.empty()) {
    Parts parts(context);
    const auto name = names_.find(parts.number<std::uint32_t>());
    const auto kind = parts.number<Kind>();
    if (!parts.ok() || name == names_.end() || kind >= Kind::object) return false;
    context = parts.left();
    std::optional<Value> value = Decoder::take(kind, context);
    if (!value) return false;
    value->name = name->second;
    if (!decoder_.add_field(entry, *value)) return false;
  }
  return true;
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
