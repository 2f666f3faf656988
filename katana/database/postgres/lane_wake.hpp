// wake(): has a lane look at its inbox. Apart from the lane, which includes Shared.
//
// Owns       nothing.
// Thread     the lane's.
// Allocates  never.
// Fails      never.
#pragma once

namespace katana::database::postgres {

class Lane;
void wake(Lane& lane) noexcept;

}  // namespace katana::database::postgres
