#include "katana/host/engines.hpp"

#include <fmt/format.h>

namespace katana::host {

Result<EngineKind> parse_engine(std::string_view name) {
  if (name == "epoll-edge" || name == "auto") return EngineKind::epoll_edge;
  if (name == "epoll-level") return EngineKind::epoll_level;
  return fail(Code::invalid_argument,
              fmt::format("engine '{}' is unknown: use epoll-edge, epoll-level or auto", name));
}

std::string_view engine_name(EngineKind kind) noexcept {
  return kind == EngineKind::epoll_edge ? "epoll-edge" : "epoll-level";
}

std::unique_ptr<core::Reactor> make_reactor(EngineKind kind, const core::ReactorOptions& options,
                                            std::size_t session_bytes_max) {
  return kind == EngineKind::epoll_edge ? make_epoll_edge_reactor(options, session_bytes_max)
                                        : make_epoll_level_reactor(options, session_bytes_max);
}

}  // namespace katana::host
