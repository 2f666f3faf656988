// Engines: the choice of one, by name, at start.
//
// Thread     any.
// Fails      parse_engine() names the engines there are.
#pragma once

#include <memory>
#include <string_view>

#include "katana/base/result.hpp"
#include "katana/core/reactor.hpp"

namespace katana::host {

enum class EngineKind : std::uint8_t { epoll_edge, epoll_level };

// "epoll-edge", "epoll-level", or "auto": the one that the laboratory found cheapest, which is
// epoll-edge.
Result<EngineKind> parse_engine(std::string_view name);
std::string_view engine_name(EngineKind kind) noexcept;

std::unique_ptr<core::Reactor> make_reactor(EngineKind kind, const core::ReactorOptions& options,
                                            std::size_t session_bytes_max);

// One translation unit each, because each holds a reactor and an engine compiled into one.
std::unique_ptr<core::Reactor> make_epoll_edge_reactor(const core::ReactorOptions& options,
                                                       std::size_t session_bytes_max);
std::unique_ptr<core::Reactor> make_epoll_level_reactor(const core::ReactorOptions& options,
                                                        std::size_t session_bytes_max);

}  // namespace katana::host
