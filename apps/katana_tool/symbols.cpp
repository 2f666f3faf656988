#include "katana_tool/symbols.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

#include "katana/observe/crash/build_id.hpp"
#include "katana_tool/program_output.hpp"

namespace katana::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t addresses_at_once = 512;  // the arguments of one run

// The build ID of a file. Nothing: there is no such file, or it has none.
std::optional<std::string> build_id_of_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  std::optional<std::string> found;
  struct stat facts{};
  if (::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0) {
    const auto bytes = static_cast<std::size_t>(facts.st_size);
    void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory != MAP_FAILED) {
      found = crash::build_id_of({static_cast<const char*>(memory), bytes});
      ::munmap(memory, bytes);
    }
  }
  ::close(file);
  return found;
}

std::optional<std::string> found_on_path(const std::vector<std::string>& names) {
  const char* const given = std::getenv("PATH");
  const std::string_view path = given != nullptr ? given : "/usr/bin:/bin";
  for (const std::string& name : names) {
    for (std::size_t at = 0; at <= path.size();) {
      const std::size_t end = std::min(path.find(':', at), path.size());
      std::string program = std::string(path.substr(at, end - at)) + "/" + name;
      if (::access(program.c_str(), X_OK) == 0) return program;
      at = end + 1;
    }
  }
  return std::nullopt;
}

Result<std::vector<std::string>> symbolizer() {
  std::vector<std::string> names = {"llvm-symbolizer"};
  for (int version = 25; version >= 14; --version) {
    names.push_back(fmt::format("llvm-symbolizer-{}", version));
  }
  if (auto program = found_on_path(names))
    return std::vector{*program, std::string("--output-style=GNU")};
  if (auto program = found_on_path({"addr2line"})) return std::vector{*program};
  return fail(Code::not_found,
              "neither llvm-symbolizer nor addr2line is on PATH: install llvm or binutils");
}

std::string debug_name(const std::string& build_id) {
  if (build_id.size() < 3) return {};
  return fmt::format(".build-id/{}/{}.debug", build_id.substr(0, 2), build_id.substr(2));
}

}  // namespace

std::map<std::uint64_t, std::vector<Symbol>> parse_symbols(const std::string& output) {
  std::map<std::uint64_t, std::vector<Symbol>> symbols;
  std::vector<Symbol>* present = nullptr;
  bool is_function = true;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    const std::string line = output.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("0x")) {
      std::uint64_t address = 0;
      const auto [rest, error] =
          std::from_chars(line.data() + 2, line.data() + line.size(), address, 16);
      const bool whole = error == std::errc() && rest == line.data() + line.size();
      if (whole) {
        present = &symbols[address];
        is_function = true;
        continue;
      }
    }
    if (present == nullptr) continue;
    if (is_function) {
      present->push_back({line, {}});
    } else if (!line.starts_with("??")) {
      present->back().location = line.substr(0, line.find(" (discriminator"));
    }
    is_function = !is_function;
  }
  // "??" stands for what the file does not know.
  for (auto& [address, all] : symbols) {
    std::erase_if(all, [](const Symbol& symbol) { return symbol.function == "??"; });
  }
  return symbols;
}

std::string Symbols::file_of(const Module& module) {
  const auto& [path, build_id] = module;
  const std::string name = fs::path(path).filename().string();
  std::vector<std::string> candidates;
  if (!debug_folder_.empty()) {
    candidates = {debug_folder_ + "/" + debug_name(build_id), debug_folder_ + "/" + name,
                  debug_folder_ + "/" + name + ".debug"};
  }
  candidates.push_back("/usr/lib/debug/" + debug_name(build_id));
  candidates.push_back(path);
  std::string other;
  for (const std::string& each : candidates) {
    const auto found = build_id_of_file(each);
    if (found == build_id) return each;
    if (found) other = fmt::format("'{}' has the build ID {}", each, *found);
  }
  if (other.empty()) other = "no file with it is found";
  problems_.push_back(
      fmt::format("no symbols of '{}', build ID {}: {}; name the folder of its program or debug "
                  "file: --debug-dir DIR",
                  path, build_id, other));
  return {};
}

Result<void> Symbols::load(const crash::Report& report) {
  std::map<Module, std::set<std::uint64_t>> addresses;
  for (const crash::ReportedThread& thread : report.threads) {
    for (const crash::Frame& frame : thread.frames) {
      if (!frame.path.empty()) addresses[{frame.path, frame.build_id}].insert(frame.offset);
    }
  }
  auto command = symbolizer();
  if (!command) return std::unexpected(command.error());
  for (const auto& [module, offsets] : addresses) {
    if (module.second.empty()) {
      problems_.push_back(fmt::format(
          "no symbols of '{}': it has no build ID; link it with -Wl,--build-id", module.first));
      continue;
    }
    if (module.first == "linux-vdso.so.1") continue;  // the kernel's, in no file
    const std::string file = file_of(module);
    if (file.empty()) continue;
    for (auto at = offsets.begin(); at != offsets.end();) {
      std::vector<std::string> words = *command;
      words.insert(words.end(), {"-a", "-f", "-C", "-i", "-e", file});
      for (std::size_t count = 0; count < addresses_at_once && at != offsets.end(); ++count, ++at) {
        words.push_back(fmt::format("0x{:x}", *at));
      }
      const auto output = output_of(words, "install llvm or binutils");
      if (!output) return std::unexpected(output.error());
      symbols_[module].merge(parse_symbols(*output));
    }
  }
  return {};
}

std::vector<Symbol> Symbols::at(const crash::Frame& frame) const {
  const auto module = symbols_.find({frame.path, frame.build_id});
  if (module == symbols_.end()) return {};
  const auto found = module->second.find(frame.offset);
  return found != module->second.end() ? found->second : std::vector<Symbol>();
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
