// load_name_services(): the libraries that the C library loads when it first resolves a name or
// looks a user up, as /etc/nsswitch.conf names them: loaded now, because a program in the sandbox
// loads none later.
//
// Thread     any.
// Allocates  as dlopen(3) does; they stay loaded.
// Fails      never: what is not there is not loaded, and would not be later.
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
