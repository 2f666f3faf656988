#include "katana/http/files/media_types.hpp"

#include <algorithm>
#include <array>

#include "katana/wire/http/characters.hpp"

namespace katana {
namespace {

struct MediaType {
  Bytes extension;
  Bytes type;
};

// Sorted by extension. Text has the charset UTF-8: the web has no other safe default.
constexpr auto media_types = std::to_array<MediaType>({
    {"7z", "application/x-7z-compressed"},
    {"aac", "audio/aac"},
    {"apng", "image/apng"},
    {"avif", "image/avif"},
    {"bin", "application/octet-stream"},
    {"bmp", "image/bmp"},
    {"bz2", "application/x-bzip2"},
    {"css", "text/css; charset=utf-8"},
    {"csv", "text/csv; charset=utf-8"},
    {"doc", "application/msword"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"eot", "application/vnd.ms-fontobject"},
    {"epub", "application/epub+zip"},
    {"flac", "audio/flac"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"htm", "text/html; charset=utf-8"},
    {"html", "text/html; charset=utf-8"},
    {"ico", "image/vnd.microsoft.icon"},
    {"ics", "text/calendar; charset=utf-8"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript; charset=utf-8"},
    {"json", "application/json"},
    {"jsonld", "application/ld+json"},
    {"jxl", "image/jxl"},
    {"m4a", "audio/mp4"},
    {"map", "application/json"},
    {"md", "text/markdown; charset=utf-8"},
    {"mjs", "text/javascript; charset=utf-8"},
    {"mkv", "video/matroska"},
    {"mov", "video/quicktime"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"odp", "application/vnd.oasis.opendocument.presentation"},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"oga", "audio/ogg"},
    {"ogg", "audio/ogg"},
    {"ogv", "video/ogg"},
    {"opus", "audio/ogg"},
    {"otf", "font/otf"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"ppt", "application/vnd.ms-powerpoint"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"rtf", "application/rtf"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"ttf", "font/ttf"},
    {"txt", "text/plain; charset=utf-8"},
    {"vtt", "text/vtt; charset=utf-8"},
    {"wasm", "application/wasm"},
    {"wav", "audio/wav"},
    {"weba", "audio/webm"},
    {"webm", "video/webm"},
    {"webmanifest", "application/manifest+json"},
    {"webp", "image/webp"},
    {"woff", "font/woff"},
    {"woff2", "font/woff2"},
    {"xhtml", "application/xhtml+xml"},
    {"xls", "application/vnd.ms-excel"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xml", "application/xml"},
    {"xz", "application/x-xz"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
    {"zst", "application/zstd"},
});
static_assert(std::ranges::is_sorted(media_types, {}, &MediaType::extension));

constexpr std::size_t extension_bytes_max = 16;

}  // namespace

Bytes extension_of(Bytes path) noexcept {
  const std::size_t slash = path.rfind('/');
  const Bytes name = slash == Bytes::npos ? path : path.substr(slash + 1);
  const std::size_t dot = name.rfind('.');
  return dot == Bytes::npos || dot == 0 ? Bytes{} : name.substr(dot + 1);
}

Bytes media_type_of(Bytes path) noexcept {
  constexpr Bytes unknown = "application/octet-stream";
  const Bytes extension = extension_of(path);
  if (extension.empty() || extension.size() > extension_bytes_max) return unknown;
  std::array<char, extension_bytes_max> lower;
  std::ranges::transform(extension, lower.begin(), http::to_lower);
  const Bytes wanted(lower.data(), extension.size());
  const auto found = std::ranges::lower_bound(media_types, wanted, {}, &MediaType::extension);
  return found != media_types.end() && found->extension == wanted ? found->type : unknown;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
