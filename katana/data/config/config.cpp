#include "katana/data/config/config.hpp"

#include <fmt/format.h>

#include <mutex>

namespace katana::config {
namespace {

class Merging {
 public:
  Merging(const Origins& fresh_origins, const Origins& old_origins)
      : fresh_origins_(fresh_origins), old_origins_(old_origins) {}

  // Copies changed reloadable members from `fresh` to `value`.
  void merge(const Group& group, void* value, const void* fresh, bool reloadable, bool secret);

  Reloaded found = {};
  Origins origins = {};
  Problems problems = {};  // rules across members that the merged value breaks

 private:
  void merge_member(const Member& member, void* value, const void* fresh, bool reloadable,
                    bool secret);
  void merge_value(const Type& type, void* value, const void* fresh, bool reloadable, bool secret);
  void keep_origin(const Origins& of);
  void note(bool applied, Bytes before, Bytes after);

  const Origins& fresh_origins_;
  const Origins& old_origins_;
  std::string path_ = {};
};

// Keeps the origins of the member and of everything below its path.
void Merging::keep_origin(const Origins& of) {
  for (auto at = of.lower_bound(path_); at != of.end() && at->first.starts_with(path_); ++at) {
    const Bytes rest = Bytes(at->first).substr(path_.size());
    if (rest.empty() || rest.front() == '.' || rest.front() == '[') origins.insert(*at);
  }
}

void Merging::note(bool applied, Bytes before, Bytes after) {
  const auto origin = fresh_origins_.find(path_);
  (applied ? found.applied : found.needs_restart)
      .push_back(
          fmt::format("{}: {} → {} ({})", path_, before, after,
                      (origin == fresh_origins_.end() ? Origin() : origin->second).describe()));
}

// The value in an optional; null: it is empty.
void* content_of(const Container& optional, void* value) {
  void* content = nullptr;
  auto take = [&content](Bytes, void* held) { content = held; };
  optional.visit(value, Visitor(take));
  return content;
}

void Merging::merge(const Group& group, void* value, const void* fresh, bool reloadable,
                    bool secret) {
  const Places places(group, value);
  const ConstPlaces fresh_places(group, fresh);
  for (std::size_t index = 0; index < group.members.size(); ++index) {
    const Member& member = group.members[index];
    const std::size_t size = path_.size();
    if (size != 0) path_ += '.';
    path_ += member.name;
    merge_member(member, places[index], fresh_places[index], reloadable || member.said.reloadable,
                 secret || member.said.secret);
    path_.resize(size);
  }
  if (group.check_across == nullptr) return;
  auto tell = [&](Bytes member, Bytes words) {
    const std::string path = (path_.empty() ? "" : path_ + ".") + std::string(member);
    const auto origin = fresh_origins_.find(path);
    problems.add(origin == fresh_origins_.end() ? Origin() : origin->second, path,
                 std::string(words) + ", with the values that need a restart as they are");
  };
  group.check_across(value, Told(tell));
}

void Merging::merge_member(const Member& member, void* value, const void* fresh, bool reloadable,
                           bool secret) {
  const Type& type = member.type();
  if (type.kind == Type::Kind::group) {
    return merge(*type.group, value, fresh, reloadable, secret);
  }
  if (const Group* const group = type.without_optional().group) {
    void* const held = content_of(*type.container, value);
    const void* const fresh_held = content_of(*type.container, const_cast<void*>(fresh));
    if (held != nullptr && fresh_held != nullptr) {
      return merge(*group, held, fresh_held, reloadable, secret);
    }
  }
  merge_value(type, value, fresh, reloadable, secret);
}

void Merging::merge_value(const Type& type, void* value, const void* fresh, bool reloadable,
                          bool secret) {
  if (write_value(type, value, true) == write_value(type, fresh, true)) {
    keep_origin(fresh_origins_);
    return;
  }
  note(reloadable, secret ? std::string(hidden_value) : write_value(type, value, false),
       secret ? std::string(hidden_value) : write_value(type, fresh, false));
  keep_origin(reloadable ? fresh_origins_ : old_origins_);
  if (reloadable) type.assign(value, fresh);
}

}  // namespace

namespace detail {

struct AnyConfig::State {
  std::mutex reload_mutex;
  std::mutex mutex;  // guards the members below
  std::shared_ptr<const Loaded> current;
};

AnyConfig::AnyConfig(Sources sources, const Typed& of, AnyCheck judge, Additions additions)
    : sources_(std::move(sources)),
      typed_(&of),
      composition_(std::make_unique<Composition>(of.type(), of.make, std::move(additions))),
      check_(judge),
      state_(std::make_unique<State>()) {}
AnyConfig::~AnyConfig() = default;
AnyConfig::AnyConfig(AnyConfig&& from) noexcept = default;
AnyConfig& AnyConfig::operator=(AnyConfig&& from) noexcept = default;

Result<void> AnyConfig::load() {
  if (auto checked = composition_->check(); !checked) return checked;
  auto read = this->read();
  if (!read) return std::unexpected(std::move(read).error());
  if (auto checked = check(**read); !checked) return checked;
  const std::lock_guard lock(state_->mutex);
  state_->current = *std::move(read);
  return {};
}

std::shared_ptr<const AnyConfig::Loaded> AnyConfig::current() const {
  const std::lock_guard lock(state_->mutex);
  return state_->current;
}

std::shared_ptr<const void> AnyConfig::group(Bytes name) const {
  return composition_->find(current()->value, name);
}

std::string AnyConfig::print() const {
  const auto loaded = current();
  Printing printing{.origins = loaded->origins};
  print_group(printing, composition_->group(), &loaded->value);
  return std::move(printing.text);
}

Result<Reloaded> AnyConfig::reload() {
  const std::lock_guard one_at_a_time(state_->reload_mutex);
  auto fresh = read();
  if (!fresh) return std::unexpected(fresh.error().within("the configuration was not reloaded"));
  const auto old = current();
  const auto merged = std::make_shared<Loaded>();
  merged->value = composition_->make(&old->value);
  Merging merging((*fresh)->origins, old->origins);
  merging.merge(composition_->group(), &merged->value, &(*fresh)->value, false, false);
  auto checked = check(*merged);
  if (!merging.problems.empty()) checked = std::unexpected(merging.problems.error());
  if (!checked) {
    return std::unexpected(checked.error().within("the configuration was not reloaded"));
  }
  merged->origins = std::move(merging.origins);
  merged->notes = (*fresh)->notes;
  const std::lock_guard lock(state_->mutex);
  state_->current = merged;
  return std::move(merging.found);
}

Result<void> AnyConfig::check(const Loaded& loaded) const {
  return check_ != nullptr ? typed_->judge(check_, loaded.value.value.get()) : Result<void>();
}

// On the heap: g++ 12 warns that a local variable is partly uninitialised.
Result<std::shared_ptr<AnyConfig::Loaded>> AnyConfig::read() const {
  const Shape shape = composition_->shape();
  Problems problems;
  auto loaded = std::make_shared<Loaded>();
  loaded->value = composition_->make();
  const Node root = read_sources(sources_, shape, problems);
  Reading reading{.problems = problems, .root = shape, .how_to_set = how_to_set(sources_)};
  read_group(reading, &root, composition_->group(), &loaded->value, shape);
  if (!problems.empty()) return std::unexpected(problems.error());
  loaded->origins = std::move(reading.origins);
  loaded->notes = problems.notes();
  return loaded;
}

}  // namespace detail
}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
