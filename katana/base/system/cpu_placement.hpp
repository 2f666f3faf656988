// place_reactors(): chooses the CPU of each reactor of a process by the machine's NUMA nodes.
//
// A reactor reaches the memory of its own node faster than that of another, and reactors of one
// node share caches. Therefore few reactors are kept together on one node, and many are dealt over
// all nodes. Linux takes a page from the node of the CPU that touches it first. A CpuBinding around
// the construction of a reactor therefore puts its tables on the node where it will run.
//
// Thread     any; CpuBinding moves the thread that makes it.
// Fails      never, because binding is an optimisation. An unreadable topology counts as one node.
//            A CPU that cannot be used is ignored.
#pragma once

#include <sched.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace katana {

// A CPU of a node.
struct NumaCpu {
  int number = 0;  // as sched_setaffinity(2) counts
  int core = 0;    // the smallest number of the CPUs that share its core
};

// The CPUs that share one memory. A node may have memory and no CPU.
struct NumaNode {
  int number = 0;                  // as Linux counts
  std::vector<NumaCpu> cpus = {};  // in ascending order; no CPU is on two nodes
};

// The nodes in ascending order; empty: they are not known, or the machine has no NUMA.
using NumaNodes = std::vector<NumaNode>;

// Parses "0-3,8-11", as Linux lists CPUs; in ascending order, each CPU once. std::nullopt: the text
// is not such a list. An empty text is an empty list.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

// Reads node/node*/cpulist and cpu/cpu*/topology/thread_siblings_list in `root`. Empty when a
// node's list cannot be parsed, or a CPU is on two nodes.
NumaNodes read_numa_nodes(const std::string& root = "/sys/devices/system");

// The CPUs on which the calling thread may run, in ascending order; empty: they are not known.
std::vector<int> allowed_cpus();

// The CPU of each of `count` reactors. `allowed` is in ascending order.
//
// Reactors that fit on one node are all on the node with the most allowed CPUs, the first of equal
// ones. Otherwise they are dealt to the nodes in turn. CPUs that share a core with a used one come
// last within a node. No CPU has two reactors while another CPU of those nodes has none. If fewer
// than two nodes have allowed CPUs, or an allowed CPU is on no node, nodes are ignored. Reactor n
// then gets the n-th allowed CPU, counted around. Empty: no CPU is allowed.
std::vector<int> place_reactors(unsigned count, const std::vector<int>& allowed,
                                const NumaNodes& nodes);

// The CPUs of the reactors in their order: "0 (node 0), 1 (node 0), 2 (node 1)", or "0, 1, 2" where
// the nodes are not known.
std::string describe_placement(const std::vector<int>& cpus, const NumaNodes& nodes);

// Binds the calling thread to these CPUs. It does nothing if the list is empty or the kernel
// refuses.
void bind_to_cpus(std::span<const int> cpus) noexcept;

// Binds the thread that makes it to one CPU while it lives; std::nullopt: does not bind. REQUIRES
// that the same thread destroys it.
class CpuBinding {
 public:
  explicit CpuBinding(std::optional<int> cpu) noexcept;
  ~CpuBinding();
  CpuBinding(const CpuBinding&) = delete;
  CpuBinding& operator=(const CpuBinding&) = delete;

 private:
  cpu_set_t before_;
  bool bound_ = false;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
