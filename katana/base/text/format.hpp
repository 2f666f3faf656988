// fmt::format_to() at the price of a declaration.
//
// fmt 9 defines the formatter in fmt/format.h, and does not declare that its library has it
// compiled. Each source that calls format_to() then compiles it again, in two seconds of g++ 12.
// Sources that call fmt::format_to() or fmt::format_to_n() include this header.
//
#pragma once

#include <fmt/core.h>

// clang writes the name of this function differently from g++, which compiled the library.
#if FMT_VERSION / 10000 == 9 && !defined(FMT_HEADER_ONLY) && !defined(__clang__)
FMT_BEGIN_NAMESPACE
namespace detail {
extern template void vformat_to<char>(buffer<char>&, basic_string_view<char>,
                                      basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);
}  // namespace detail
FMT_END_NAMESPACE
#endif

// SPDX-License-Identifier: Apache-2.0
