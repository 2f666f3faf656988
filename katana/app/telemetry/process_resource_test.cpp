#include "katana/app/telemetry/process_resource.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace katana::app {
namespace {

const std::string id(64, 'a');
const std::string other(64, 'b');

TEST(ProcessResource, the_id_of_a_container_is_found_in_either_version_of_control_groups) {
  EXPECT_EQ(container_id("12:pids:/docker/" + id + "\n", ""), id);
  EXPECT_EQ(container_id("1:name=systemd:/kubepods/pod7/cri-containerd-" + id + ".scope\n", ""),
            id);
  EXPECT_EQ(container_id("0::/\n", "590 588 8:1 /var/lib/docker/volumes/" + other +
                                       "/_data /data rw - ext4 /dev/sda1 rw\n"
                                       "592 588 8:1 /var/lib/docker/containers/" +
                                       id + "/hostname /etc/hostname rw - ext4 /dev/sda1 rw\n"),
            id)
      << "a volume is no container";
}

TEST(ProcessResource, what_is_no_container_has_no_id) {
  EXPECT_EQ(
      container_id("0::/user.slice/session-3.scope\n", "22 1 0:21 / /proc rw - proc proc rw\n"),
      "");
  EXPECT_EQ(container_id("0::/" + std::string(63, 'a') + "\n0::/" + std::string(65, 'a'), ""), "");
  EXPECT_EQ(container_id("", ""), "");
}

class ProcessResourceTest : public ::testing::Test {
 protected:
  otlp::Resource resource() {
    otlp::Resource resource;
    add_process_attributes(resource, {.variables = [this](const char* name) -> const char* {
                                        const auto found = variables_.find(name);
                                        return found != variables_.end() ? found->second.c_str()
                                                                         : nullptr;
                                      },
                                      .file = [this](const char* path) { return files_[path]; }});
    return resource;
  }
  std::map<std::string, std::string> variables_;
  std::map<std::string, std::string> files_;
};

TEST_F(ProcessResourceTest, a_process_outside_of_kubernetes_names_its_host_alone) {
  variables_ = {{"POD_NAME", "not-ours"}};
  EXPECT_NE(resource().find("host.name"), "");
  EXPECT_EQ(resource().find("os.type"), "linux");
  EXPECT_NE(resource().find("process.pid"), "");
  EXPECT_EQ(resource().find("k8s.pod.name"), "");
  EXPECT_EQ(resource().find("container.id"), "");
}

TEST_F(ProcessResourceTest, in_kubernetes_variables_name_the_place) {
  variables_ = {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                {"POD_NAME", "shop-7"},
                {"POD_NAMESPACE", "prod"},
                {"POD_UID", "u"},
                {"NODE_NAME", "node-1"},
                {"CONTAINER_NAME", "shop"}};
  EXPECT_EQ(resource().find("k8s.pod.name"), "shop-7");
  EXPECT_EQ(resource().find("k8s.namespace.name"), "prod");
  EXPECT_EQ(resource().find("k8s.pod.uid"), "u");
  EXPECT_EQ(resource().find("k8s.node.name"), "node-1");
  EXPECT_EQ(resource().find("k8s.container.name"), "shop");
}

TEST_F(ProcessResourceTest, without_them_the_host_and_the_service_account_do) {
  variables_ = {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}};
  files_["/var/run/secrets/kubernetes.io/serviceaccount/namespace"] = "prod\n";
  EXPECT_EQ(resource().find("k8s.pod.name"), resource().find("host.name"));
  EXPECT_EQ(resource().find("k8s.namespace.name"), "prod");
  EXPECT_EQ(resource().find("k8s.node.name"), "");
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
