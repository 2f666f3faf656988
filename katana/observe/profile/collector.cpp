#include "katana/observe/profile/collector.hpp"

#include <link.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "katana/observe/crash/stack.hpp"
#include "katana/observe/crash/thread_stacks.hpp"

namespace katana::profile {
namespace {

std::string hex_of(Bytes bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char each : bytes) {
    const auto code = static_cast<unsigned char>(each);
    text += digits[code >> 4];
    text += digits[code & 15];
  }
  return text;
}

// Room for modules, allocated before the callback. That runs under the lock of the dynamic linker,
// and must not wait for the lock of the heap.
struct ModuleRoom {
  std::vector<Module> modules;
  std::size_t count = 0;  // of all modules, with those that found no room
};

int add_module(dl_phdr_info* info, std::size_t, void* given) {
  auto& room = *static_cast<ModuleRoom*>(given);
  for (int index = 0; index < info->dlpi_phnum; ++index) {
    const ElfW(Phdr)& part = info->dlpi_phdr[index];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    if (room.count++ >= room.modules.size()) continue;
    const ElfW(Addr) into_page = part.p_vaddr % 4096;
    Module& module = room.modules[room.count - 1];
    module.begin = info->dlpi_addr + part.p_vaddr - into_page;
    module.end = info->dlpi_addr + part.p_vaddr + part.p_memsz;
    module.file_offset = part.p_offset - into_page;
    module.bias = info->dlpi_addr;
  }
  return 0;
}

// The executable memory of all loaded files, the program's first.
std::vector<Module> loaded_modules() {
  ModuleRoom room;
  do {
    room.modules.resize(room.count + 16);
    room.count = 0;
    ::dl_iterate_phdr(add_module, &room);
  } while (room.count > room.modules.size());
  room.modules.resize(room.count);
  for (Module& module : room.modules) {
    crash::Module known;
    if (!crash::find_module(module.begin, known)) continue;
    module.path = std::string(known.path);
    module.build_id = hex_of(known.build_id);
  }
  return std::move(room.modules);
}

// Gives the places and modules of a profile their indices. The program is the first module, as
// pprof expects.
class Places {
 public:
  explicit Places(Profile& profile) : profile_(profile), loaded_(loaded_modules()) {
    if (!loaded_.empty()) (void)module_of(loaded_.front().begin);
  }

  std::size_t index_of(std::uint64_t address) {
    const auto [entry, is_new] = places_.try_emplace(address, profile_.places.size());
    if (is_new) profile_.places.push_back({address, module_of(address), {}});
    return entry->second;
  }

 private:
  std::size_t module_of(std::uint64_t address) {
    const auto found = std::ranges::find_if(
        loaded_, [&](const Module& each) { return each.begin <= address && address < each.end; });
    if (found == loaded_.end()) return no_module;
    const auto [entry, is_new] = modules_.try_emplace(found->begin, profile_.modules.size());
    if (is_new) profile_.modules.push_back(*found);
    return entry->second;
  }

  Profile& profile_;
  const std::vector<Module> loaded_;
  std::map<std::uint64_t, std::size_t> places_, modules_;
};

constexpr std::size_t names_max = 4096;  // of threads, which may begin and end quickly
// The size of a map's node, with its pointers, its hash and the heap's own words.
constexpr std::size_t node_bytes = 64;

std::size_t heap_bytes_of(const std::string& text) {
  return text.capacity() > std::string().capacity() ? text.capacity() + 1 : 0;
}

std::size_t heap_bytes_of(const Labels& labels) {
  return heap_bytes_of(labels.thread) + heap_bytes_of(labels.route) +
         heap_bytes_of(labels.request) + heap_bytes_of(labels.trace);
}

std::size_t joined(std::size_t hash, std::size_t next) noexcept {
  return (hash ^ next) * 0x9e3779b97f4a7c15u + (hash >> 29);
}

}  // namespace

std::size_t Collector::Hash::operator()(const Addresses& addresses) const noexcept {
  std::size_t hash = addresses.size();
  for (const std::uintptr_t each : addresses) hash = joined(hash, each);
  return hash;
}

std::size_t Collector::Hash::operator()(const Labels& labels) const noexcept {
  std::size_t hash = 0;
  for (const std::string* each : {&labels.thread, &labels.route, &labels.request, &labels.trace}) {
    hash = joined(hash, std::hash<std::string>()(*each));
  }
  return hash;
}

// Asked when the thread is first seen: its name is gone when it has ended.
const std::string& Collector::name_of(pid_t thread) {
  if (names_.size() == names_max) names_.clear();
  const auto [entry, is_new] = names_.try_emplace(thread);
  if (is_new) {
    char name[16];
    entry->second.assign(name, crash::name_of_thread(thread, name));
  }
  return entry->second;
}

void Collector::add(pid_t thread, const Sample& sample) {
  (void)add(thread, sample, {sample.periods, sample.periods * period_.ns});
}

Collector::Amount* Collector::add(pid_t thread, const Sample& sample, Amount part) {
  const auto begin = sample.stack.addresses.begin();
  const Addresses addresses(begin, begin + static_cast<std::ptrdiff_t>(sample.stack.count));
  const Labels labels = {.thread = name_of(thread),
                         .route = std::string(sample.route.text()),
                         .request = std::string(sample.request.text()),
                         .trace = std::string(sample.trace.text())};
  const auto stack = stacks_.find(addresses);
  const auto known = labels_.find(labels);
  if (stack != stacks_.end() && known != labels_.end()) {
    const auto pair = amounts_.find({&*stack, &*known});
    if (pair != amounts_.end()) {
      pair->second.count += part.count;
      pair->second.ns += part.ns;
      return &pair->second;
    }
  }
  // The profile has the places and the labels of each pair.
  const std::size_t stack_bytes = addresses.size() * sizeof(std::uintptr_t);
  std::size_t more =
      node_bytes + sizeof(Pair) + sizeof(Found) + stack_bytes + heap_bytes_of(labels);
  if (stack == stacks_.end()) more += node_bytes + sizeof(Addresses) + stack_bytes;
  if (known == labels_.end()) more += node_bytes + sizeof(Labels) + heap_bytes_of(labels);
  if (more > bytes_max_ - bytes_) {
    lost_ += sample.periods;
    return nullptr;
  }
  bytes_ += more;
  const Pair pair{&*stacks_.insert(addresses).first, &*labels_.insert(labels).first};
  return &(amounts_[pair] = part);
}

Profile Collector::profile(Kind kind, std::uint64_t lost) const {
  Profile profile;
  profile.kind = kind;
  profile.period_ns = period_.ns;
  profile.lost = lost + lost_;
  profile.found.reserve(amounts_.size());
  Places places(profile);
  for (const auto& [pair, amount] : amounts_) {
    if (amount.count == 0) continue;
    Found found;
    found.places.reserve(pair.stack->size());
    for (const std::uintptr_t address : *pair.stack) {
      found.places.push_back(places.index_of(address));
    }
    found.labels = *pair.labels;
    found.count = amount.count;
    found.ns = amount.ns;
    profile.found.push_back(std::move(found));
  }
  return profile;
}

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
