#include "katana/openapi/generate/generator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <system_error>

#include "katana/openapi/generate/client.hpp"
#include "katana/openapi/generate/names.hpp"
#include "katana/openapi/generate/operation_plan.hpp"
#include "katana/openapi/generate/server.hpp"
#include "katana/openapi/generate/test_text.hpp"
#include "katana/openapi/generate/types.hpp"

namespace katana::openapi::generate {
namespace {

constexpr const char* list_name = "katana-openapi.txt";

std::string types_file(const Types& types, const GeneratorOptions& options, Bytes text,
                       Bytes own_includes) {
  std::string includes;
  if (types.has_separators()) includes += "#include \"katana/base/values/separators.hpp\"\n";
  if (types.has_json_parameters()) includes += "#include \"katana/data/container/as_json.hpp\"\n";
  if (options.sources > 1) includes += "#include \"katana/data/container/declared_json.hpp\"\n";
  includes += "#include \"katana/data/container/value.hpp\"\n";
  includes += "#include \"katana/data/container/value_rules.hpp\"\n";
  if (types.has_files()) includes += "#include \"katana/http/forms/form_fields.hpp\"\n";
  includes += own_includes;
  return fmt::format(
      "// Made from {} by katana openapi generate: not to be changed.\n"
      "// clang-format off\n"
      "#pragma once\n\n#include <array>\n#include <cstddef>\n#include <cstdint>\n"
      "#include <limits>\n#include <map>\n#include <optional>\n#include <string>\n"
      "#include <variant>\n#include <vector>\n\n"
      "#include \"katana/base/values/any_of.hpp\"\n#include \"katana/base/values/box.hpp\"\n"
      "#include \"katana/base/values/described.hpp\"\n"
      "#include \"katana/base/values/described_variant.hpp\"\n#include "
      "\"katana/base/values/patch.hpp\"\n"
      "{}\nnamespace {} {{\n\n{}\n}}  // namespace {}\n",
      options.source, includes, options.name_space, text, options.name_space);
}

// types.hpp has all types. The types of each tag are in their own file: a program then compiles
// only those that it uses.
std::vector<GeneratedFile> type_headers(Types& types, const GeneratorOptions& options) {
  std::vector<GeneratedFile> files;
  const std::map<std::string, std::string> texts = types.texts();
  std::string all = "#include \"shared.hpp\"\n";
  std::string shared;
  std::string other;
  for (const auto& [home, text] : texts) {
    if (home == shared_types) {
      shared = text;
    } else if (home == other_types) {
      other = text;
    }
  }
  const auto add = [&](const std::string& name, Bytes text, Bytes includes) {
    files.push_back({name, types_file(types, options, text, includes), 0});
  };
  for (const std::string& tag : types.tags()) {
    const auto own = texts.find(tag);
    const std::string name = types_file_of(tag) + ".hpp";
    add(name, own == texts.end() ? Bytes() : Bytes(own->second), "#include \"shared.hpp\"\n");
    all += "#include \"" + name + "\"\n";
  }
  add("shared.hpp", shared, {});
  add("types.hpp", other, all);
  return files;
}

std::string gathering_head(const GeneratorOptions& options) {
  return fmt::format(
      "// Made from {} by katana openapi generate: not to be changed.\n// clang-format off\n",
      options.source);
}
std::string include_of(Bytes name) { return fmt::format("#include \"{}\"\n", name); }

// Sources of code of types: "TAG_json.cpp" or "TAG_forms.cpp".
struct TypeSources {
  const char* name;
  const char* macro;
  const char* includes;
  std::size_t cost;  // of a source, whatever its types are
};
constexpr TypeSources json_sources{"json", "KATANA_DEFINE_JSON",
                                   "#include \"katana/data/container/json_read.hpp\"\n"
                                   "#include \"katana/data/container/json_write.hpp\"\n",
                                   150};  // the copies and destructors of all in its types
constexpr TypeSources form_sources{"forms", "KATANA_DEFINE_FORM",
                                   "#include \"katana/data/container/form_read.hpp\"\n", 0};

using StructsByHome = std::map<std::string, std::vector<Types::InSource>>;

// The source with the code of some types of a home; `number` counts its sources.
GeneratedFile type_source(const std::string& home, const TypeSources& kind, std::size_t number,
                          const SourceText& share, const GeneratorOptions& options) {
  const std::string header = home == shared_types ? "shared" : types_file_of(home);
  // A tag may be "shared" as well.
  const bool is_tag = home != shared_types && value_name(home) != "shared";
  const std::string base = is_tag ? value_name(home) : header;
  const std::string own = number == 1 ? std::string() : fmt::format("_{}", number);
  return {fmt::format("{}_{}{}.cpp", base, kind.name, own),
          fmt::format("{}#include \"{}.hpp\"\n\n{}\nnamespace {} {{\n\n{}\n}}  // namespace {}\n",
                      gathering_head(options), header, kind.includes, options.name_space,
                      share.text, options.name_space),
          share.weight};
}

// shared_json.cpp, shared_json_2.cpp, …: the JSON code of the shared types, the heaviest first.
void add_shared_json(const Types& types, const GeneratorOptions& options,
                     std::vector<GeneratedFile>& files) {
  const auto found = types.json_in_sources().find(shared_types);
  if (found == types.json_in_sources().end()) return;
  std::vector<Types::InSource> structs = found->second;
  std::ranges::sort(structs, std::ranges::greater(), [](const Types::InSource& each) {
    return std::pair(each.weight, Bytes(each.name));
  });
  std::vector<SourceText> shares(std::min(options.sources, structs.size()), {{}, 0});
  for (const Types::InSource& each : structs) {
    SourceText& least = *std::ranges::min_element(shares, {}, &SourceText::weight);
    least.text += fmt::format("{}({})\n", json_sources.macro, each.name);
    least.weight += each.weight;
  }
  std::size_t number = 0;
  for (const SourceText& share : shares) {
    files.push_back(type_source(shared_types, json_sources, ++number, share, options));
  }
}

// TAG_json.cpp, TAG_forms.cpp, …: the code of large types, in shares of about that weight.
void add_type_sources(const StructsByHome& types, const TypeSources& kind,
                      const GeneratorOptions& options, std::vector<GeneratedFile>& files) {
  constexpr std::size_t weight_max = 200;
  for (const auto& [home, structs] : types) {
    if (home == shared_types && kind.name == json_sources.name) continue;  // add_shared_json()
    std::size_t number = 0;
    for (const Share& share : shares_of(structs, weight_max)) {
      SourceText source{{}, share.weight + kind.cost};
      for (std::size_t at = share.begin; at < share.end; ++at) {
        source.text += fmt::format("{}({})\n", kind.macro, structs[at].name);
      }
      files.push_back(type_source(home, kind, ++number, source, options));
    }
  }
}

// api.hpp: all headers.
GeneratedFile gathered_headers(const std::vector<GeneratedFile>& files,
                               const GeneratorOptions& options) {
  std::string text = gathering_head(options) + "#pragma once\n\n" + include_of("types.hpp");
  for (const GeneratedFile& each : files) {
    if (each.name.ends_with(".hpp")) text += include_of(each.name);
  }
  return {"api.hpp", std::move(text)};
}

// api.cpp, api_2.cpp, …: a share of the sources each, in their order. Neighbours are of one tag: a
// compiler reads its types and compiles their destructors once. They do not need the types of no
// operation.
std::vector<GeneratedFile> gathered_sources(const std::vector<GeneratedFile>& files,
                                            const GeneratorOptions& options) {
  std::vector<const GeneratedFile*> sources;
  std::size_t weight = 0;  // of those that no file has yet
  for (const GeneratedFile& each : files) {
    if (!each.name.ends_with(".cpp")) continue;
    sources.push_back(&each);
    weight += each.weight;
  }
  std::vector<GeneratedFile> made;
  auto next = sources.begin();
  for (std::size_t left = options.sources; left != 0; --left) {
    std::string text = gathering_head(options) + "\n";
    if (sources.empty()) text += include_of("types.hpp");
    const std::size_t share = weight / left;
    const auto enough = sources.end() - std::min<std::ptrdiff_t>(sources.end() - next, left - 1);
    std::size_t taken = 0;
    for (auto first = next; next != sources.end(); ++next) {
      const std::size_t own = (*next)->weight;
      const bool fits = next == first || (next < enough && taken + own / 2 <= share);
      if (left != 1 && !fits) break;
      text += include_of((*next)->name);
      taken += own;
    }
    weight -= taken;
    const std::size_t number = made.size() + 1;
    made.push_back({number == 1 ? "api.cpp" : fmt::format("api_{}.cpp", number), std::move(text)});
  }
  return made;
}

std::string operation_name(const model::Operation& operation) {
  if (!operation.id.empty()) return operation.id;
  return operation.method + " " + operation.path;
}

// FNV-1a: it detects an edited file, not an attacker.
std::string hash_of(Bytes text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return fmt::format("{:016x}", hash);
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

// Name → hash of the files that were written before.
std::map<std::string, std::string> list_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> list;
  std::istringstream lines(text_of(folder / list_name));
  std::string hash;
  std::string name;
  while (lines >> hash >> name) {
    const bool inside = name.find('/') == std::string::npos && name != "..";
    if (inside) list[name] = hash;
  }
  return list;
}

// "v1", "v2beta"
bool is_version(Bytes segment) {
  return segment.size() > 1 && segment[0] == 'v' && segment[1] >= '0' && segment[1] <= '9';
}

// "customers" of "/v1/customers/{id}"
std::string group_of_path(Bytes path) {
  while (!path.empty()) {
    path.remove_prefix(1);
    const Bytes segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    if (!segment.empty() && segment.find('{') == Bytes::npos && !is_version(segment)) {
      return std::string(segment);
    }
  }
  return "default";
}

std::string file_of(const model::Operation& operation, bool by_path) {
  const std::string tag = !operation.tags.empty() ? operation.tags[0]
                          : by_path               ? group_of_path(operation.path)
                                                  : "default";
  return value_name(tag) == "value" ? "tag" : value_name(tag);
}

// No schema has the name of a class of the tag.
void reserve(Types& types, const std::string& tag) {
  types.take_name(type_name(tag) + "Api");
  types.take_name(type_name(tag) + "Client");
}

// The servers and the clients, by tag.
void add_operations(const Description& api, const GeneratorOptions& options,
                    model::Problems& problems, Types& types, Generated& generated) {
  std::map<std::string, ServerText> servers;
  std::map<std::string, ClientText> clients;
  std::map<std::string, TestText> tests;
  Planner planner(types, options, problems);
  for (const model::PathItem& path : api.paths) {
    for (const model::Operation& each : path.operations) {
      planner.note_route(each.method, each.path);
    }
  }
  Scope names;
  std::size_t weight = 0;
  for (const model::PathItem& path : api.paths) {
    for (const model::Operation& each : path.operations) {
      const std::string file = file_of(each, options.group_by_path);
      const std::string name = names.take(value_name(operation_name(each)));
      types.set_tag(file);
      const OperationPlan plan = planner.plan(each, name, file);
      ++generated.operations;
      weight += plan.weight;
      const bool is_served = options.server && plan.is_routed;
      if (is_served) servers.try_emplace(file, options, file).first->second.add(plan);
      if (is_served && options.tests) {
        tests.try_emplace(file, options, file).first->second.add(plan);
      }
      if (!options.client) continue;
      clients.try_emplace(file, options, api, file).first->second.add(plan);
    }
  }
  // A tag that has more than its share of the weight is several sources.
  const std::size_t share = (weight + options.sources - 1) / options.sources;
  const auto write = [&](const auto& each) {
    generated.files.push_back({each.file_name() + ".hpp", each.header(), 0});
    std::size_t number = 0;
    for (SourceText& source : each.sources(share)) {
      const std::string own = ++number == 1 ? std::string() : fmt::format("_{}", number);
      generated.files.push_back(
          {each.file_name() + own + ".cpp", std::move(source.text), source.weight});
    }
  };
  for (const auto& [tag, server] : servers) write(server);
  for (const auto& [tag, client] : clients) write(client);
  for (const auto& [tag, test] : tests) {
    generated.tests.push_back({test.file_name(), test.source()});
  }
}

}  // namespace

Generated generate(const Description& api, const GeneratorOptions& options,
                   model::Problems& problems) {
  Generated generated;
  Types types(api, problems);
  for (const model::PathItem& path : api.paths) {
    for (const model::Operation& each : path.operations) {
      reserve(types, file_of(each, options.group_by_path));
    }
  }
  types.add_components();
  if (options.server || options.client) add_operations(api, options, problems, types, generated);
  GeneratedFile headers = gathered_headers(generated.files, options);
  if (options.sources > 1) types.declare_json();
  std::vector<GeneratedFile> all = type_headers(types, options);
  add_shared_json(types, options, generated.files);
  add_type_sources(types.json_in_sources(), json_sources, options, generated.files);
  add_type_sources(types.forms_in_sources(), form_sources, options, generated.files);
  for (GeneratedFile& each : gathered_sources(generated.files, options)) {
    all.push_back(std::move(each));
  }
  all.push_back(std::move(headers));
  std::ranges::move(all, std::back_inserter(generated.files));
  types.report_unchecked();
  generated.types = types.count();
  std::ranges::sort(generated.files, {}, &GeneratedFile::name);
  return generated;
}

Result<std::size_t> write_files(const std::string& folder,
                                const std::vector<GeneratedFile>& files) {
  namespace fs = std::filesystem;
  const fs::path root(folder);
  std::error_code error;
  fs::create_directories(root, error);
  if (error) {
    return fail(Code::permission_denied,
                fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  }
  const std::map<std::string, std::string> before = list_of(root);
  const auto is_ours = [&](const std::string& name) {
    const auto known = before.find(name);
    return known != before.end() && hash_of(text_of(root / name)) == known->second;
  };
  std::set<std::string> made;
  for (const GeneratedFile& each : files) {
    made.insert(each.name);
    if (!fs::exists(root / each.name) || is_ours(each.name)) continue;
    if (text_of(root / each.name) == each.text) continue;
    return fail(Code::already_exists,
                fmt::format("'{}' was {}: it is not overwritten. Move your changes elsewhere, "
                            "remove it, and generate again",
                            (root / each.name).string(),
                            before.contains(each.name) ? "changed since it was generated"
                                                       : "not generated"));
  }
  std::string list;
  std::size_t written = 0;
  const auto write = [&](const std::string& name, const std::string& text) {
    if (fs::exists(root / name) && text_of(root / name) == text) return true;
    ++written;
    std::ofstream stream(root / name, std::ios::binary | std::ios::trunc);
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    return static_cast<bool>(stream.flush());
  };
  for (const GeneratedFile& each : files) {
    list += hash_of(each.text) + " " + each.name + "\n";
    if (!write(each.name, each.text)) {
      return fail(Code::unavailable, fmt::format("cannot write '{}'", (root / each.name).string()));
    }
  }
  for (const auto& [name, hash] : before) {
    if (!made.contains(name) && is_ours(name)) fs::remove(root / name, error);
  }
  const std::size_t count = written;
  if (!write(list_name, list)) {
    return fail(Code::unavailable, fmt::format("cannot write '{}'", (root / list_name).string()));
  }
  return count;
}

Result<std::size_t> write_new_files(const std::string& folder,
                                    const std::vector<GeneratedFile>& files) {
  namespace fs = std::filesystem;
  const fs::path root(folder);
  std::error_code error;
  fs::create_directories(root, error);
  if (error) {
    return fail(Code::permission_denied,
                fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  }
  std::size_t written = 0;
  for (const GeneratedFile& each : files) {
    if (fs::exists(root / each.name)) continue;
    std::ofstream stream(root / each.name, std::ios::binary);
    stream << each.text;
    if (!stream.flush()) {
      return fail(Code::unavailable, fmt::format("cannot write '{}'", (root / each.name).string()));
    }
    ++written;
  }
  return written;
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
