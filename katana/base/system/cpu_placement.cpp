#include "katana/base/system/cpu_placement.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <system_error>
#include <utility>

namespace katana {
namespace {

// Parses the whole of `text` as the number of a CPU or a node.
std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number >= 0 && number < CPU_SETSIZE ? std::optional(number) : std::nullopt;
}

std::optional<std::vector<int>> read_cpu_list(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  if (!stream) return std::nullopt;
  std::getline(stream, line);  // an empty file is an empty list
  return parse_cpu_list(line);
}

// The number of the core; the CPU itself if its siblings are not known.
int core_of(const std::string& root, int cpu) {
  const auto siblings =
      read_cpu_list(root + "/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
  return siblings && std::ranges::binary_search(*siblings, cpu) ? siblings->front() : cpu;
}

// The numbers of the folders node0, node1 and so on.
std::vector<int> node_numbers(const std::string& folder) {
  std::vector<int> numbers;
  std::error_code failed;
  std::filesystem::directory_iterator each(folder, failed);
  for (; !failed && each != std::filesystem::directory_iterator(); each.increment(failed)) {
    const std::string name = each->path().filename();
    if (!name.starts_with("node")) continue;
    if (const auto number = number_of(std::string_view(name).substr(4))) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

// The allowed CPUs of a node. CPUs that share no core with an earlier one come first.
std::vector<int> usable_of(const NumaNode& node, const std::vector<int>& allowed) {
  std::map<int, int> taken;                     // number of taken CPUs of a core
  std::vector<std::pair<int, int>> by_sharing;  // CPUs before it on the core; its number
  for (const NumaCpu& cpu : node.cpus) {
    if (!std::ranges::binary_search(allowed, cpu.number)) continue;
    by_sharing.emplace_back(taken[cpu.core]++, cpu.number);
  }
  std::ranges::sort(by_sharing);
  std::vector<int> usable;
  for (const auto& [sharing, number] : by_sharing) usable.push_back(number);
  return usable;
}

// Takes one of each node in turn, as long as the node has some.
std::vector<int> dealt(const std::vector<std::vector<int>>& nodes) {
  std::vector<int> order;
  std::size_t longest = 0;
  for (const auto& each : nodes) longest = std::max(longest, each.size());
  for (std::size_t position = 0; position < longest; ++position) {
    for (const auto& each : nodes) {
      if (position < each.size()) order.push_back(each[position]);
    }
  }
  return order;
}

}  // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::set<int> cpus;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    const auto first = number_of(part.substr(0, dash));
    const auto last = dash == part.npos ? first : number_of(part.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
    if (comma == text.npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return std::nullopt;  // nothing behind the comma
  }
  return std::vector<int>(cpus.begin(), cpus.end());
}

NumaNodes read_numa_nodes(const std::string& root) {
  NumaNodes nodes;
  std::set<int> known;
  for (const int number : node_numbers(root + "/node")) {
    const auto cpus = read_cpu_list(root + "/node/node" + std::to_string(number) + "/cpulist");
    if (!cpus) return {};
    NumaNode& node = nodes.emplace_back(NumaNode{.number = number});
    for (const int cpu : *cpus) {
      if (!known.insert(cpu).second) return {};
      node.cpus.push_back({.number = cpu, .core = core_of(root, cpu)});
    }
  }
  return nodes;
}

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<int> place_reactors(unsigned count, const std::vector<int>& allowed,
                                const NumaNodes& nodes) {
  if (allowed.empty()) return {};
  std::vector<std::vector<int>> usable;  // by node, without empty nodes
  std::size_t found = 0;
  for (const NumaNode& node : nodes) {
    std::vector<int> cpus = usable_of(node, allowed);
    found += cpus.size();
    if (!cpus.empty()) usable.push_back(std::move(cpus));
  }
  std::vector<int> order = allowed;
  if (usable.size() > 1 && found == allowed.size()) {
    const auto largest = std::ranges::max_element(usable, {}, &std::vector<int>::size);
    order = count <= largest->size() ? *largest : dealt(usable);
  }
  std::vector<int> placed;
  for (unsigned reactor = 0; reactor < count; ++reactor) {
    placed.push_back(order[reactor % order.size()]);
  }
  return placed;
}

std::string describe_placement(const std::vector<int>& cpus, const NumaNodes& nodes) {
  std::string text;
  for (const int cpu : cpus) {
    text += (text.empty() ? "" : ", ") + std::to_string(cpu);
    for (const NumaNode& node : nodes) {
      const auto is_it = [cpu](const NumaCpu& each) { return each.number == cpu; };
      if (std::ranges::none_of(node.cpus, is_it)) continue;
      text += " (node " + std::to_string(node.number) + ")";
    }
  }
  return text;
}

void bind_to_cpus(std::span<const int> cpus) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<unsigned>(cpu), &set);
  }
  (void)sched_setaffinity(0, sizeof set, &set);
}

CpuBinding::CpuBinding(std::optional<int> cpu) noexcept {
  if (!cpu || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  bind_to_cpus({&*cpu, 1});
  bound_ = true;
}

CpuBinding::~CpuBinding() {
  if (bound_) (void)sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
