#include "katana/observe/crash/stack.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdlib>
#include <cstring>
#include <utility>

namespace katana::crash {
namespace {

constinit std::array<char, 1024> program_path{};

// Null: the thread is in no guarded step. In the initial TLS block, so that a signal handler can
// read it without an allocation of the dynamic linker.
[[gnu::tls_model("initial-exec")]] constinit thread_local sigjmp_buf* guard = nullptr;

std::uintptr_t counter_of(const ucontext_t& context) noexcept {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return context.uc_mcontext.pc;
#else
  (void)context;
  return 0;
#endif
}

// Moves the context to the call of a function that was just entered.
void leave_function(ucontext_t& context) noexcept {
#if defined(__x86_64__)
  std::uintptr_t address = 0;
  const auto stack = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
  std::memcpy(&address, reinterpret_cast<const void*>(stack), sizeof address);
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(address - 1);
  context.uc_mcontext.gregs[REG_RSP] += sizeof address;
#elif defined(__aarch64__)
  context.uc_mcontext.pc = context.uc_mcontext.regs[30] - 4;
#else
  (void)context;
#endif
}

struct Walk {
  Stack& stack;
  ucontext_t& context;
  std::uintptr_t counter;  // of the interrupted code
  bool found = false;      // the frames of the handler are passed
};

_Unwind_Reason_Code on_frame(_Unwind_Context* frame, void* argument) noexcept {
  Walk& walk = *static_cast<Walk*>(argument);
  int before_instruction = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(frame, &before_instruction);
  if (!walk.found) {
    walk.found = address == walk.counter && before_instruction != 0;
    return _URC_NO_REASON;  // the first frame is there already
  }
  if (walk.stack.count == frames_max) {
    walk.stack.cut = true;
    return _URC_END_OF_STACK;
  }
  if (address == 0) return _URC_END_OF_STACK;
  // A return address is that of the next instruction, which may be another line or function.
  walk.stack.addresses[walk.stack.count] = before_instruction != 0 ? address : address - 1;
  ++walk.stack.count;
  return _URC_NO_REASON;
}

void unwind(Walk& walk) noexcept {
  Module module;
  if (!find_module(walk.counter, module)) {
    // A call of an address without code, such as a null function. The unwinder knows nothing there.
    // It reads the context on the stack, and begins at the caller.
    leave_function(walk.context);
    walk.counter = counter_of(walk.context);
    if (!find_module(walk.counter, module)) return;
    walk.stack.addresses[walk.stack.count++] = walk.counter;
  }
  (void)_Unwind_Backtrace(on_frame, &walk);
}

// The build ID is in a note of the file's first segment, which begins with the ELF header.
Bytes build_id_in(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t bias) noexcept {
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(begin);
  if (end - begin < sizeof *header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {};
  const std::size_t table_bytes = std::size_t{header->e_phnum} * sizeof(ElfW(Phdr));
  if (header->e_phoff > end - begin || table_bytes > end - begin - header->e_phoff) return {};
  const auto* const table = reinterpret_cast<const ElfW(Phdr)*>(begin + header->e_phoff);
  for (std::size_t index = 0; index < header->e_phnum; ++index) {
    if (table[index].p_type != PT_NOTE) continue;
    std::uintptr_t at = bias + table[index].p_vaddr;
    if (at < begin || at > end || table[index].p_memsz > end - at) continue;
    const std::uintptr_t notes_end = at + table[index].p_memsz;
    const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
    while (notes_end - at >= sizeof(ElfW(Nhdr))) {
      const auto* const note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const std::size_t name = padded(note->n_namesz), content = padded(note->n_descsz);
      if (name + content > notes_end - at - sizeof *note) break;
      const auto* const text = reinterpret_cast<const char*>(note + 1);
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
          std::memcmp(text, "GNU", 4) == 0) {
        return {text + name, note->n_descsz};
      }
      at += sizeof *note + name + content;
    }
  }
  return {};
}

}  // namespace

namespace {

void prepare_once() noexcept {
  const ssize_t count = ::readlink("/proc/self/exe", program_path.data(), program_path.size() - 1);
  if (count < 0) program_path[0] = '\0';
  // The first call binds symbols and fills tables.
  (void)_Unwind_Backtrace(
      [](_Unwind_Context* frame, void*) {
        int before_instruction = 0;
        (void)_Unwind_GetIPInfo(frame, &before_instruction);
        return _URC_NO_REASON;
      },
      nullptr);
  Module module;
  (void)find_module(reinterpret_cast<std::uintptr_t>(&prepare_unwinder), module);
  (void)guarded([](void*) {}, nullptr);
}

}  // namespace

// Once: another thread may read the path of the program.
void prepare_unwinder() noexcept {
  [[maybe_unused]] static const bool prepared = (prepare_once(), true);
}

void capture_stack(Stack& stack, void* context) noexcept {
  ucontext_t& at = *static_cast<ucontext_t*>(context);
  Walk walk{stack, at, counter_of(at)};
  stack.addresses[0] = walk.counter;
  stack.count = 1;
  stack.cut = false;
  const mcontext_t before = at.uc_mcontext;
  (void)guarded([](void* given) { unwind(*static_cast<Walk*>(given)); }, &walk);
  at.uc_mcontext = before;  // the thread goes on where it was
}

// The first frame is that of this function.
[[gnu::noinline]] void capture_calls(Stack& stack) noexcept {
  stack.count = 0;
  stack.cut = false;
  struct Calls {
    Stack& stack;
    bool is_first = true;
  } calls{stack};
  const auto on_call = [](_Unwind_Context* frame, void* given) {
    auto& [to, is_first] = *static_cast<Calls*>(given);
    if (std::exchange(is_first, false)) return _URC_NO_REASON;
    const std::uintptr_t address = _Unwind_GetIP(frame);
    to.cut = to.count == frames_max;
    if (to.cut || address == 0) return _URC_END_OF_STACK;
    to.addresses[to.count++] = address - 1;
    return _URC_NO_REASON;
  };
  (void)_Unwind_Backtrace(on_call, &calls);
}

bool find_module(std::uintptr_t address, Module& module) noexcept {
#if __GLIBC_PREREQ(2, 35)
  dl_find_object found{};
  if (::_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return false;
  module.begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
  module.end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end);
  module.bias = found.dlfo_link_map->l_addr;
  module.path = found.dlfo_link_map->l_name;
#else
  Dl_info found{};
  link_map* map = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(address), &found, reinterpret_cast<void**>(&map),
                RTLD_DL_LINKMAP) == 0 ||
      map == nullptr) {
    return false;
  }
  module.begin = reinterpret_cast<std::uintptr_t>(found.dli_fbase);
  module.end = module.begin + 4096;  // the header and the notes, as linkers place them
  module.bias = map->l_addr;
  module.path = map->l_name;
#endif
  if (module.path.empty()) module.path = program_path.data();
  module.build_id = build_id_in(module.begin, module.end, module.bias);
  return true;
}

bool guarded(void (*step)(void* argument), void* argument) noexcept {
  sigjmp_buf place;
  sigjmp_buf* const outer = guard;
  if (sigsetjmp(place, 0) != 0) {
    guard = outer;
    return false;
  }
  guard = &place;
  step(argument);
  guard = outer;
  return true;
}

bool is_guarded() noexcept { return guard != nullptr; }

void leave_guarded() noexcept {
  if (guard == nullptr) std::abort();
  siglongjmp(*guard, 1);
}

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
