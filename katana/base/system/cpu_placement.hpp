// place_reactors(): which CPU each reactor of a process is bound to, by the machine's NUMA nodes.
//
// A reactor reaches the memory of its own node faster than that of another, and reactors of one
// node share caches. Therefore few reactors are kept together on one node, and many are dealt over
// all of them. Pages are taken from the node of the CPU that touches them first: with a CpuBinding
// around the making of a reactor its tables are where it will run.
//
// Thread     any; CpuBinding moves the thread that makes it.
// Fails      never: what cannot be read is a machine of one node, and a CPU that may not be had is
//            ignored, because binding is an optimisation.
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

// CPUs that have a memory in common; one of memory alone has none.
struct NumaNode {
  int number = 0;                  // as Linux counts
  std::vector<NumaCpu> cpus = {};  // in ascending order; no CPU is on two nodes
};

// Empty: not known, or without NUMA. In ascending order.
using NumaNodes = std::vector<NumaNode>;

// "0-3,8-11", as Linux lists CPUs; in ascending order, each once. None: it is no such list. An
// empty text is an empty list.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

// Of node/node*/cpulist and cpu/cpu*/topology/thread_siblings_list in `root`. Empty when a node's
// list cannot be understood, or a CPU is on two.
NumaNodes read_numa_nodes(const std::string& root = "/sys/devices/system");

// On which the calling thread may run, in ascending order; empty: the kernel does not say.
std::vector<int> allowed_cpus();

// The CPU of each of `count` reactors. `allowed` is in ascending order.
//
// Reactors that fit on one node are all on the node with most allowed CPUs, the first of those with
// as many; others are dealt to the nodes in turn. CPUs that share a core with one that is taken
// come last within a node. No CPU has two reactors while another of those nodes has none. If fewer
// than two nodes have allowed CPUs, or an allowed CPU is on no node, reactor n gets the n-th
// allowed CPU, counted around. Empty: none is allowed.
std::vector<int> place_reactors(unsigned count, const std::vector<int>& allowed,
                                const NumaNodes& nodes);

// "0 (node 0), 1 (node 0), 2 (node 1)": the CPUs of reactors in their order. Where nodes are not
// known, "0, 1, 2".
std::string describe_placement(const std::vector<int>& cpus, const NumaNodes& nodes);

// The calling thread to these CPUs. Without any, or where the kernel refuses, it stays.
void bind_to_cpus(std::span<const int> cpus) noexcept;

// Binds the thread that makes it to one CPU while it lives; none: to nothing. REQUIRES the same
// thread to destroy it.
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
