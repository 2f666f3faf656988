// load_name_services(): loads the libraries that /etc/nsswitch.conf names. The C library would load
// them when it first resolves a name or looks a user up. A program in the sandbox can load none
// later.
//
// Thread     any.
// Allocates  as dlopen(3) does; they stay loaded.
// Fails      never: a library that is missing is not loaded now, and would not be later.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace katana::sandbox {

void load_name_services();

// The services that a line like "hosts: files mdns4_minimal [NOTFOUND=return] dns" names, of the
// databases that are looked up here. Each once.
std::vector<std::string> name_services_in(std::string_view nsswitch);

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
