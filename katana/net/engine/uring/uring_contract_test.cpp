// The contract of an engine, on io_uring with rings of several sizes.
#include "katana/net/engine/accept_cases_test.hpp"
#include "katana/net/engine/break_cases_test.hpp"
#include "katana/net/engine/connect_cases_test.hpp"
#include "katana/net/engine/stream_cases_test.hpp"
#include "katana/net/engine/uring/uring_forms_test.hpp"
#include "katana/net/engine/watch_cases_test.hpp"

namespace katana::engine {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Uring, EngineStreams, Forms, FormNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Uring, EngineAccepts, Forms, FormNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Uring, EngineConnects, Forms, FormNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Uring, EngineBreaks, Forms, FormNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Uring, EngineWatches, Forms, FormNames);

}  // namespace
}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
