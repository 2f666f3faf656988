// KATANA_THREAD_SANITIZER is defined where ThreadSanitizer is, which replaces functions that tests
// would count by its own.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define KATANA_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KATANA_THREAD_SANITIZER 1
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
