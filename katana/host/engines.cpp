#include "katana/host/engines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/engine/uring/features.hpp"
#include "katana/engine/uring/options.hpp"

namespace katana::host {
namespace {

struct NamedEngine {
  EngineKind kind;
  std::string_view name;
};
constexpr NamedEngine engines[] = {{EngineKind::epoll_edge, "epoll-edge"},
                                   {EngineKind::epoll_level, "epoll-level"},
                                   {EngineKind::io_uring, "io_uring"}};

std::string note_of(const engine::UringFeatures& features) {
  const std::string missing = features.missing();
  return missing.empty() ? missing : "io_uring: " + missing;
}

}  // namespace

Result<EngineChoice> choose_engine(std::string_view name) {
  const bool automatic = name == "auto";
  const auto* const found = std::ranges::find(engines, name, &NamedEngine::name);
  if (found == std::end(engines) && !automatic) {
    return fail(
        Code::invalid_argument,
        fmt::format("engine '{}' is unknown: use epoll-edge, epoll-level, io_uring or auto", name));
  }
  if (!automatic && found->kind != EngineKind::io_uring) return EngineChoice{found->kind, {}};
  const auto features = engine::probe_uring();
  if (features) return EngineChoice{EngineKind::io_uring, note_of(*features)};
  if (!automatic) return std::unexpected(features.error());
  return EngineChoice{EngineKind::epoll_edge,
                      fmt::format("engine auto: epoll-edge, because io_uring does not run here: {}",
                                  features.error().describe())};
}

Result<EngineKind> parse_engine(std::string_view name) {
  const auto choice = choose_engine(name);
  if (!choice) return std::unexpected(choice.error());
  return choice->kind;
}

std::string_view engine_name(EngineKind kind) noexcept {
  return std::ranges::find(engines, kind, &NamedEngine::kind)->name;
}

std::unique_ptr<core::Reactor> make_reactor(EngineKind kind, const core::ReactorOptions& options,
                                            std::size_t session_bytes_max) {
  switch (kind) {
    case EngineKind::epoll_level: return make_epoll_level_reactor(options, session_bytes_max);
    case EngineKind::io_uring: return make_uring_reactor(options, session_bytes_max, {});
    case EngineKind::epoll_edge: break;
  }
  return make_epoll_edge_reactor(options, session_bytes_max);
}

}  // namespace katana::host
