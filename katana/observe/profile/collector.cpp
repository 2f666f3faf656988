#include "katana/observe/profile/collector.hpp"

#include <link.h>

#include <algorithm>
#include <map>
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

// The executable memory of all loaded files, the program's first.
std::vector<Module> loaded_modules() {
  std::vector<Module> modules;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* given) {
        auto& all = *static_cast<std::vector<Module>*>(given);
        for (int index = 0; index < info->dlpi_phnum; ++index) {
          const ElfW(Phdr)& part = info->dlpi_phdr[index];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
          const ElfW(Addr) into_page = part.p_vaddr % 4096;
          Module module;
          module.begin = info->dlpi_addr + part.p_vaddr - into_page;
          module.end = info->dlpi_addr + part.p_vaddr + part.p_memsz;
          module.file_offset = part.p_offset - into_page;
          module.bias = info->dlpi_addr;
          all.push_back(module);
        }
        return 0;
      },
      &modules);
  for (Module& module : modules) {
    crash::Module known;
    if (!crash::find_module(module.begin, known)) continue;
    module.path = std::string(known.path);
    module.build_id = hex_of(known.build_id);
  }
  return modules;
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

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Everything that distinguishes a sample.
std::string key_of(pid_t thread, const Sample& sample) {
  std::string key;
  append(key, thread);
  for (const Bytes text : {sample.route.text(), sample.request.text(), sample.trace.text()}) {
    append(key, text.size());
    key += text;
  }
  for (std::size_t index = 0; index < sample.stack.count; ++index) {
    append(key, sample.stack.addresses[index]);
  }
  return key;
}

}  // namespace

// Asked when the thread is first seen: its name is gone when it has ended.
const std::string& Collector::name_of(pid_t thread) {
  const auto [entry, is_new] = names_.try_emplace(thread);
  if (is_new) {
    char name[16];
    entry->second.assign(name, crash::name_of_thread(thread, name));
  }
  return entry->second;
}

void Collector::add(pid_t thread, const Sample& sample) {
  std::string key = key_of(thread, sample);
  auto entry = entries_.find(key);
  if (entry == entries_.end()) {
    if (entries_.size() == stacks_max) {
      lost_ += sample.periods;
      return;
    }
    (void)name_of(thread);
    entry = entries_.try_emplace(std::move(key), Entry{sample, thread, 0}).first;
  }
  entry->second.count += sample.periods;
}

Profile Collector::profile(Kind kind, std::uint64_t lost) const {
  Profile profile;
  profile.kind = kind;
  profile.period_ns = period_.ns;
  profile.lost = lost + lost_;
  Places places(profile);
  for (const auto& [key, entry] : entries_) {
    Found found;
    for (std::size_t index = 0; index < entry.sample.stack.count; ++index) {
      found.places.push_back(places.index_of(entry.sample.stack.addresses[index]));
    }
    found.labels = {.thread = names_.at(entry.thread),
                    .route = std::string(entry.sample.route.text()),
                    .request = std::string(entry.sample.request.text()),
                    .trace = std::string(entry.sample.trace.text())};
    found.count = entry.count;
    found.ns = entry.count * period_.ns;
    profile.found.push_back(std::move(found));
  }
  return profile;
}

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
