#include "katana/data/schema/uri.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace katana::schema {

namespace {

struct Uri {
  std::optional<Bytes> scheme, authority, query, fragment;
  Bytes path;
};

std::optional<Bytes> take_scheme(Bytes& text) {
  const std::size_t colon = text.find(':');
  if (colon == Bytes::npos || colon == 0 || text.find_first_of("/?#") < colon) return std::nullopt;
  const Bytes scheme = text.substr(0, colon);
  text.remove_prefix(colon + 1);
  return scheme;
}

Uri split(Bytes text) {
  Uri uri;
  if (const std::size_t hash = text.find('#'); hash != Bytes::npos) {
    uri.fragment = text.substr(hash + 1);
    text = text.substr(0, hash);
  }
  uri.scheme = take_scheme(text);
  if (const std::size_t mark = text.find('?'); mark != Bytes::npos) {
    uri.query = text.substr(mark + 1);
    text = text.substr(0, mark);
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const std::size_t end = std::min(text.find('/'), text.size());
    uri.authority = text.substr(0, end);
    text.remove_prefix(end);
  }
  uri.path = text;
  return uri;
}

// RFC 3986 §5.2.4.
std::string remove_dot_segments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    if (path.starts_with("../")) {
      path.remove_prefix(3);
    } else if (path.starts_with("./") || path.starts_with("/./")) {
      path.remove_prefix(2);
    } else if (path == "/.") {
      path = "/";
    } else if (path.starts_with("/../") || path == "/..") {
      path = path == "/.." ? std::string_view("/") : path.substr(3);
      out.resize(out.rfind('/') == std::string::npos ? 0 : out.rfind('/'));
    } else if (path == "." || path == "..") {
      path = {};
    } else {
      const std::size_t end = std::min(path.find('/', 1), path.size());
      out += path.substr(0, end);
      path.remove_prefix(end);
    }
  }
  return out;
}

std::string merge(const Uri& base, Bytes path) {
  if (base.authority && base.path.empty()) return "/" + std::string(path);
  const std::size_t slash = base.path.rfind('/');
  std::string merged(slash == Bytes::npos ? Bytes() : base.path.substr(0, slash + 1));
  return merged.append(path);
}

std::string join(const std::optional<Bytes>& scheme, const std::optional<Bytes>& authority,
                 std::string path, const std::optional<Bytes>& query,
                 const std::optional<Bytes>& fragment) {
  std::string text;
  if (scheme) text.append(*scheme).append(":");
  if (authority) text.append("//").append(*authority);
  text += path;
  if (query) text.append("?").append(*query);
  if (fragment) text.append("#").append(*fragment);
  return text;
}

}  // namespace

std::string resolve_uri(Bytes base_text, Bytes reference_text) {
  const Uri base = split(base_text);
  const Uri given = split(reference_text);
  if (given.scheme) {
    return join(given.scheme, given.authority, remove_dot_segments(given.path), given.query,
                given.fragment);
  }
  if (given.authority) {
    return join(base.scheme, given.authority, remove_dot_segments(given.path), given.query,
                given.fragment);
  }
  if (given.path.empty()) {
    return join(base.scheme, base.authority, std::string(base.path),
                given.query ? given.query : base.query, given.fragment);
  }
  const std::string path =
      given.path.starts_with('/') ? std::string(given.path) : merge(base, given.path);
  return join(base.scheme, base.authority, remove_dot_segments(path), given.query, given.fragment);
}

Bytes without_fragment(Bytes uri) noexcept { return uri.substr(0, uri.find('#')); }

std::string fragment_of(Bytes uri) {
  const std::size_t hash = uri.find('#');
  if (hash == Bytes::npos) return {};
  uri.remove_prefix(hash + 1);
  std::string text;
  for (std::size_t at = 0; at < uri.size(); ++at) {
    unsigned octet = 0;
    if (uri[at] == '%' && at + 2 < uri.size() &&
        std::from_chars(uri.data() + at + 1, uri.data() + at + 3, octet, 16).ptr ==
            uri.data() + at + 3) {
      text += static_cast<char>(octet);
      at += 2;
    } else {
      text += uri[at];
    }
  }
  return text;
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
