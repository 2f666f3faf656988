#include "katana/session/exchange.hpp"

#include <array>

#include "katana/session/websocket_connection.hpp"

namespace katana::session {

bool Exchange::upgrade(const http::ReplyHead&, std::unique_ptr<WebSocketSuccessor>) noexcept {
  return false;
}

bool Exchange::write_file(FilePart& part) noexcept {
  std::array<char, 16 * 1024> buffer;
  while (part.size > 0) {
    const std::ptrdiff_t count = part.read(buffer);
    if (count <= 0) {
      abort();
      return false;
    }
    if (!write({buffer.data(), static_cast<std::size_t>(count)})) return false;
    part.remove_prefix(static_cast<std::uint64_t>(count));
  }
  return true;
}

}  // namespace katana::session
