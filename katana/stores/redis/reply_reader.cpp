#include "katana/stores/redis/reply_reader.hpp"

#include <fmt/format.h>

namespace katana::redis {

std::optional<katana::Error> ReplyReader::problem(const std::string& server) const {
  if (machine_->refusal() == resp::Refusal::none) return {};
  return katana::Error(Code::data_loss, fmt::format("what Redis at {} says is not RESP: {}", server,
                                                    resp::text_of(machine_->refusal())));
}

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
