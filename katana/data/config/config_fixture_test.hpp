// A program's configuration as tests want it: every kind of member and rule, and a file in its own
// folder.
//
// Owns       the folder, which is removed with it.
// Thread     one.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/duration_text.hpp"
#include "katana/data/config/config.hpp"

namespace katana::config {

enum class Engine { epoll, io_uring };
KATANA_DESCRIBE_ENUM(Engine, epoll, io_uring)

struct Http {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  Duration idle_timeout = seconds(60);
  ByteCount head_max = kibibytes(16);
  Engine engine = Engine::epoll;
};
KATANA_DESCRIBE(Http, address, (port, at_least(1)),
                (idle_timeout, range(milliseconds(10), seconds(3600)), reloadable),
                (head_max, at_least(kibibytes(1)), at_most(mebibytes(1))), engine)

struct Network {
  Http http;
  std::optional<Http> admin;
};
KATANA_DESCRIBE(Network, http, admin)

struct Peer {
  std::string name;
  int weight = 1;
  std::chrono::milliseconds wait{};
};
KATANA_DESCRIBE(Peer, (name, required), (weight, range(1, 10)), wait)

struct Log {
  bool json = false;
  double sample = 1.0;
  std::map<std::string, std::string> levels;
};
KATANA_DESCRIBE(Log, json, (sample, range(0.0, 1.0)), levels)

struct Database {
  std::string password = "none";
  std::optional<int> pool;
  std::vector<int> shards;
};
KATANA_DESCRIBE(Database, (password, secret, length(4, 100)), pool, (shards, length(0, 4), secret))

struct Program {
  Network network;
  Log log;
  Database database;
  std::vector<Peer> peers;
};
KATANA_DESCRIBE(Program, network, (log, reloadable), database, peers)

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    std::string name = (std::filesystem::temp_directory_path() / "katana_config_XXXXXX").string();
    folder = ::mkdtemp(name.data());
    sources.file = folder + "/katana.yaml";
  }
  ~ConfigTest() override {
    std::error_code ignored;  // a leftover folder is no failure of the test
    std::filesystem::remove_all(folder, ignored);
  }

  void write(Bytes text) const { std::ofstream(sources.file, std::ios::binary) << text; }

  // The value that the file with this text, and the other sources, give.
  Program value_of(Bytes text) {
    write(text);
    auto config = Config<Program>::load(sources);
    EXPECT_TRUE(config) << config.error().describe();
    return config ? *config->get() : Program();
  }
  // The message, with the folder's name left out.
  std::string refusal_of(Bytes text) {
    write(text);
    return refusal();
  }
  std::string refusal() const {
    const auto config = Config<Program>::load(sources);
    EXPECT_FALSE(config);
    return config ? std::string() : without_folder(config.error().describe());
  }
  std::string without_folder(std::string text) const {
    for (std::size_t at; (at = text.find(folder + "/")) != text.npos;) {
      text.erase(at, folder.size() + 1);
    }
    return text;
  }

  std::string folder;
  Sources sources;
};

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
