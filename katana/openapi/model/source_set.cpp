#include "katana/openapi/model/source_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "katana/base/text/format.hpp"
#include "katana/data/schema/uri.hpp"
#include "katana/openapi/model/parse.hpp"

namespace katana::openapi::model {

Result<std::string> load_file(const std::string& path, std::size_t bytes_max) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return fail(Code::not_found, fmt::format("no file '{}'", path));
  }
  if (!std::filesystem::is_regular_file(status)) {
    return fail(Code::invalid_argument, fmt::format("'{}' is not a regular file", path));
  }
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size > bytes_max) {
    return fail(Code::resource_exhausted,
                fmt::format("'{}' has more than {} bytes", path, bytes_max));
  }
  std::ifstream stream(path, std::ios::binary);
  std::string text(error ? 0 : size, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (error || !stream) return fail(Code::unavailable, fmt::format("cannot read '{}'", path));
  return text;
}

std::string uri_of_path(Bytes path) {
  std::string uri;
  for (const char c : path) {
    if (c == '%' || c == '#' || c == '?') {
      fmt::format_to(std::back_inserter(uri), "%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri;
}

SourceSet::SourceSet(Load load, Load fetch, Limits limits, Problems& problems)
    : load_(std::move(load)), fetch_(std::move(fetch)), limits_(limits), problems_(problems) {}

std::shared_ptr<const Source> SourceSet::add(const std::string& uri, Bytes text) {
  Parsed parsed = parse(text, uri, limits_.depth_max, limits_.nodes_max - nodes_);
  nodes_ += std::min(parsed.nodes, limits_.nodes_max - nodes_);
  const auto source = std::make_shared<const Source>(uri, std::move(parsed.root));
  for (ParseProblem& each : parsed.problems) {
    problems_.error({source, each.position}, std::move(each.words));
  }
  sources_[uri] = source;
  order_.push_back(source);
  note_ids(source, source->root(), uri);
  return source;
}

std::shared_ptr<const Source> SourceSet::get(const std::string& uri, const Location& reason) {
  const auto known = sources_.find(uri);
  if (known != sources_.end()) return known->second;
  sources_[uri] = nullptr;  // tried once
  return load(uri, reason);
}

std::shared_ptr<const Source> SourceSet::load(const std::string& uri, const Location& reason) {
  const auto refuse = [&](std::string words) {
    if (reason.source == nullptr) {
      problems_.add({Severity::error, uri, {}, {}, std::move(words)});
    } else {
      problems_.error(reason, std::move(words));
    }
    return nullptr;
  };
  if (order_.size() >= limits_.files_max) {
    return refuse(fmt::format("'{}' would be file {}. Bundle the description into fewer", uri,
                              order_.size() + 1));
  }
  const std::string path = path_of_uri(uri);
  if (path.empty() && fetch_ == nullptr) {
    return refuse(
        fmt::format("'{}' is remote, which is refused. Keep a copy beside the description, "
                    "or allow remote references",
                    uri));
  }
  if (!path.empty() && reason.source != nullptr && path_of_uri(reason.source->uri()).empty()) {
    return refuse(
        fmt::format("'{}' is a file of this machine, which a remote document may not "
                    "refer to",
                    uri));
  }
  auto text = path.empty() ? fetch_(uri) : load_(path);
  if (!text) return refuse(text.error().describe());
  if (text->size() > limits_.file_bytes_max) {
    return refuse(fmt::format("'{}' has more than {} bytes", uri, limits_.file_bytes_max));
  }
  return add(uri, *text);
}

void SourceSet::note_ids(const std::shared_ptr<const Source>& source, const Node& node,
                         const std::string& base) {
  const Node* const id = node.find("$id");
  const bool has_id = id != nullptr && id->is(Node::Kind::text);
  const std::string inner = has_id ? schema::resolve_uri(base, id->text) : base;
  if (has_id) ids_.try_emplace(std::string(schema::without_fragment(inner)), NodeAt{source, &node});
  for (const Node& each : node.items) {
    if (!each.items.empty()) note_ids(source, each, inner);
  }
}

NodeAt SourceSet::find_resource(const std::string& uri, const NodeAt& at) {
  if (const auto id = ids_.find(uri); id != ids_.end()) return id->second;
  const std::shared_ptr<const Source> source = get(uri, at.location());
  return source == nullptr ? NodeAt{} : NodeAt{source, &source->root()};
}

NodeAt SourceSet::find_anchor(const NodeAt& resource, Bytes name) const {
  std::vector<const Node*> open{resource.node};
  while (!open.empty()) {
    const Node& node = *open.back();
    open.pop_back();
    for (const Bytes key : {"$anchor", "$dynamicAnchor"}) {
      const Node* const anchor = node.find(key);
      if (anchor != nullptr && anchor->is(Node::Kind::text) && anchor->text == name) {
        return resource.to(node);
      }
    }
    for (const Node& each : node.items) {
      const bool is_other = &node != resource.node && node.find("$id") != nullptr;
      if (!is_other && !each.items.empty()) open.push_back(&each);
    }
  }
  return {};
}

NodeAt SourceSet::resolve(Bytes reference, const NodeAt& at, Bytes base) {
  const std::string uri =
      schema::resolve_uri(base.empty() ? Bytes(at.source->uri()) : base, reference);
  const std::string file(schema::without_fragment(uri));
  const std::string fragment = schema::fragment_of(uri);
  const bool here = reference.starts_with('#') && base.empty();
  const NodeAt resource = here ? NodeAt{at.source, &at.source->root()} : find_resource(file, at);
  if (!resource) return {};  // reported
  if (fragment.empty()) return resource;
  const NodeAt target = fragment.starts_with('/')
                            ? NodeAt{resource.source, resource.node->at(fragment)}
                            : find_anchor(resource, fragment);
  if (!target) {
    problems_.error(at.location(),
                    fmt::format("'{}' refers to nothing in '{}'. Correct the reference, or add "
                                "what it names",
                                reference, resource.source->name()));
  }
  return target;
}

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
