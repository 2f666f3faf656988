#include "katana/observe/log/site_table.hpp"

#include <bit>

#include "katana/observe/log/logger.hpp"

namespace katana::log {

namespace {

// The inner address: one for each place in the sources. Equal places have equal addresses.
std::uintptr_t identity(std::source_location where) noexcept {
  return std::bit_cast<std::uintptr_t>(where);
}

std::size_t hash(std::uintptr_t where, const Shape* shape, const LoggerState* logger) noexcept {
  const std::uint64_t mixed = (where ^ (std::bit_cast<std::uintptr_t>(shape) << 1) ^
                               (std::bit_cast<std::uintptr_t>(logger) << 2)) *
                              0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(mixed >> 32);
}

}  // namespace

bool SiteTable::Known::matches(const RecordHead& head, Bytes block) const noexcept {
  return identity(head.where) == where && head.shape == shape && head.logger == logger &&
         head.pattern == pattern && head.prefix.level == level &&
         block == Bytes(name_block.data(), name_block.size());
}

SiteTable::SiteTable() : table_(64) {}

const Site& SiteTable::site(const RecordHead& head, Bytes names) {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash(identity(head.where), head.shape, head.logger) & mask;
  for (; table_[at] != nullptr; at = (at + 1) & mask) {
    if (table_[at]->matches(head, names)) return table_[at]->site;
  }
  return add(head, names, at);
}

const Site& SiteTable::add(const RecordHead& head, Bytes names, std::size_t at) {
  auto known = std::make_unique<Known>();
  known->pattern = head.pattern;
  known->shape = head.shape;
  known->where = identity(head.where);
  known->logger = head.logger;
  known->level = head.prefix.level;
  known->name_block.assign(names.begin(), names.end());
  for (std::size_t index = 0; index < head.shape->field_count; ++index) {
    const char* name = nullptr;
    std::memcpy(&name, names.data() + index * sizeof name, sizeof name);
    known->names.emplace_back(name);
  }
  Site& site = known->site;
  site.id = static_cast<std::uint32_t>(sites_.size());
  site.level = head.prefix.level;
  site.line = head.where.line();
  site.logger = head.logger->name;
  site.pattern = head.pattern;
  site.file = head.where.file_name();
  site.function = head.where.function_name();
  site.slots = {head.shape->slots, head.shape->slot_count};
  site.positional_slots = head.shape->positional_slots;
  site.field_names = known->names;
  for (const Bytes name : known->names) site.labels.push_back(label_of(name));
  site.plan = Plan(head.pattern);
  table_[at] = known.get();
  sites_.push_back(std::move(known));
  if (sites_.size() * 2 > table_.size()) grow();
  return sites_.back()->site;
}

void SiteTable::grow() {
  table_.assign(table_.size() * 2, nullptr);
  const std::size_t mask = table_.size() - 1;
  for (const std::unique_ptr<Known>& known : sites_) {
    std::size_t at = hash(known->where, known->shape, known->logger) & mask;
    while (table_[at] != nullptr) at = (at + 1) & mask;
    table_[at] = known.get();
  }
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
