#include "katana/http/forms/form.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "katana/http/files/folder_test.hpp"
#include "katana/http/handlers/exchange_fixture_test.hpp"
#include "katana/http/handlers/save_content.hpp"

namespace katana {
namespace {

std::string part(std::string_view name, std::string_view content, std::string_view more = "") {
  return "--B\r\nContent-Disposition: form-data; name=\"" + std::string(name) + "\"" +
         std::string(more) + "\r\n\r\n" + std::string(content) + "\r\n";
}

std::ptrdiff_t count_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

class FormTest : public ::testing::Test {
 protected:
  // Uploads in pieces of `piece` bytes; the result is in form_ or in the reply.
  FakeExchange& upload(std::string content, std::size_t piece = SIZE_MAX,
                       std::string_view type = "multipart/form-data; boundary=B") {
    const Service service = make_service([&](Router& router) {
      router.post("/x",
                  [this](Request request, ContentReader reader, ReplyWriter writer) -> Task<void> {
                    FormResult form = co_await read_form(request, reader, limits_);
                    held_ = exchange_->pending_bytes();
                    Reply reply(204);
                    if (form) {
                      form_ = *std::move(form);
                    } else {
                      reply = std::move(form.error());
                    }
                    co_await send(writer, std::move(reply));
                  });
    });
    Dispatcher dispatcher(service);
    form_ = {};
    exchange_ =
        std::make_unique<FakeExchange>("POST", "/x", "Content-Type: " + std::string(type) + "\n");
    exchange_->awaiting_content();
    exchange_->serve(dispatcher);
    Bytes rest(content);
    while (!rest.empty() && exchange_->holds()) {
      const Bytes next = rest.substr(0, piece);
      rest.remove_prefix(next.size());
      exchange_->streamed(std::string(next), rest.empty());
    }
    return *exchange_;
  }

  FormLimits limits_;
  Form form_;
  std::size_t held_ = 0;  // by the request, when the form had been read
  std::unique_ptr<FakeExchange> exchange_;
};

TEST_F(FormTest, a_form_is_its_parts_however_it_comes) {
  const std::string content = part("a", "1") +
                              part("f", "file\r\n--content",
                                   "; filename=\"x.txt\"\r\n"
                                   "Content-Type: text/csv") +
                              part("a", "2") + "--B--\r\n";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{13}, SIZE_MAX}) {
    EXPECT_EQ(upload(content, piece).status, 204u) << piece;
    ASSERT_EQ(form_.parts.size(), 3u);
    EXPECT_EQ(form_.find("a")->text, "1");
    EXPECT_EQ(form_.find("a")->content_type, "text/plain");
    EXPECT_FALSE(form_.find("a")->has_filename);
    const FormPart& file = *form_.find("f");
    EXPECT_TRUE(file.has_filename);
    EXPECT_EQ(file.filename, "x.txt");
    EXPECT_EQ(file.content_type, "text/csv");
    EXPECT_EQ(file.text, "file\r\n--content");
    EXPECT_EQ(form_.parts[2].text, "2");
    EXPECT_EQ(form_.find("b"), nullptr);
  }
}

TEST_F(FormTest, what_is_large_goes_to_a_file_without_a_name) {
  limits_.part_memory_bytes_max = 1000;
  limits_.memory_bytes_max = 1500;
  std::string large(100'000, ' ');
  for (std::size_t at = 0; at < large.size(); ++at) large[at] = static_cast<char>('a' + at % 23);
  const std::string content = part("large", large) + part("small", std::string(900, 'x')) +
                              part("second", std::string(900, 'y')) + "--B--";
  EXPECT_EQ(upload(content, 777).status, 204u);
  ASSERT_EQ(form_.parts.size(), 3u);
  const FormPart& file = form_.parts[0];
  EXPECT_TRUE(file.in_file());
  EXPECT_EQ(file.size, large.size());
  EXPECT_EQ(file.text, "");
  EXPECT_TRUE(*file.content() == large);
  EXPECT_FALSE(form_.parts[1].in_file());
  EXPECT_TRUE(form_.parts[2].in_file());  // together they would be too much
  EXPECT_EQ(*form_.parts[2].content(), std::string(900, 'y'));
}

TEST_F(FormTest, a_thousand_parts_in_a_file_hold_one_descriptor_and_may_outlive_their_form) {
  limits_.memory_bytes_max = 0;
  std::string content;
  for (int index = 0; index < 1000; ++index) {
    content += part("p", "content " + std::to_string(index));
  }
  const std::ptrdiff_t before = count_descriptors();
  EXPECT_EQ(upload(content + "--B--", 333).status, 204u);
  EXPECT_EQ(count_descriptors(), before + 1);
  ASSERT_EQ(form_.parts.size(), 1000u);
  for (std::size_t index = 0; index < 1000; ++index) {
    EXPECT_EQ(*form_.parts[index].content(), "content " + std::to_string(index));
  }
  FormPart kept = form_.parts[500];
  form_ = {};
  EXPECT_EQ(*kept.content(), "content 500");
  kept = {};
  EXPECT_EQ(count_descriptors(), before);
}

TEST_F(FormTest, a_form_that_was_read_counts_with_its_heads_until_the_handler_ends) {
  std::string content;
  for (int index = 0; index < 900; ++index) content += part("p", "");
  EXPECT_EQ(upload(content + "--B--", 333).status, 204u);
  ASSERT_EQ(form_.parts.size(), 900u);
  EXPECT_GE(held_, 900 * sizeof(FormPart));
}

TEST_F(FormTest, as_many_forms_have_a_file_as_may_and_one_more_is_503_until_one_goes) {
  limits_.memory_bytes_max = 0;
  limits_.files_max = 2;
  const std::string content = part("a", "1") + "--B--";
  std::vector<Form> held;
  for (int index = 0; index < 2; ++index) {
    EXPECT_EQ(upload(content).status, 204u);
    held.push_back(std::move(form_));
  }
  EXPECT_EQ(upload(content).status, 503u);
  EXPECT_EQ(SpillFile::count_open(), 2u);
  held.pop_back();
  EXPECT_EQ(upload(content).status, 204u);
}

TEST_F(FormTest, no_more_forms_have_a_file_than_a_quarter_of_the_descriptors_of_the_process) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  limits_.memory_bytes_max = 0;
  limits_.files_max = 1000;
  std::vector<Form> held;
  while (held.size() < 60 && upload(part("a", "1") + "--B--").status == 204u) {
    held.push_back(std::move(form_));
  }
  EXPECT_EQ(held.size(), 25u);
  EXPECT_EQ(exchange_->status, 503u);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(FormTest, forms_without_a_limit_of_their_own_have_that_of_the_process) {
  const std::size_t before = SpillFile::files_max();
  SpillFile::set_files_max(1);
  limits_.memory_bytes_max = 0;
  const std::string content = part("a", "1") + "--B--";
  EXPECT_EQ(upload(content).status, 204u);
  const Form held = std::move(form_);
  EXPECT_EQ(upload(content).status, 503u);
  limits_.files_max = 2;
  EXPECT_EQ(upload(content).status, 204u);
  SpillFile::set_files_max(before);
}

TEST_F(FormTest, each_limit_is_met_by_the_last_byte_that_fits) {
  limits_.bytes_max = 150;
  const std::string first = part("a", std::string(100, 'x'));
  EXPECT_EQ(upload(first + part("b", std::string(50, 'y')) + "--B--").status, 204u);
  EXPECT_EQ(upload(first + part("b", std::string(51, 'y')) + "--B--").status, 413u);
  limits_ = {};
  limits_.part_memory_bytes_max = 100;
  limits_.memory_bytes_max = 150;
  upload(first + part("b", std::string(50, 'y')) + part("c", "z") + "--B--");
  ASSERT_EQ(form_.parts.size(), 3u);
  EXPECT_FALSE(form_.parts[0].in_file() || form_.parts[1].in_file());
  EXPECT_TRUE(form_.parts[2].in_file()) << "the form has 150 bytes in memory";
  upload(part("a", std::string(101, 'x')) + "--B--");
  EXPECT_TRUE(form_.parts.at(0).in_file());
}

TEST_F(FormTest, the_texts_of_heads_and_of_the_last_part_count) {
  const std::string name(2000, 'n'), file(2000, 'f'), type(2000, 't');
  const std::string content =
      part(name, "", "; filename=\"" + file + "\"\r\nContent-Type: text/" + type);
  limits_.memory_bytes_max = 1 << 20;
  upload(content + "--B--");
  ASSERT_EQ(form_.parts.size(), 1u);
  EXPECT_GE(held_, 6000u);
  const std::size_t with_head = held_;
  upload(content + part("a", std::string(30'000, 'x')) + "--B--");
  EXPECT_GE(held_, with_head + 30'000u);
}

TEST_F(FormTest, a_part_whose_file_has_lost_its_end_is_no_content) {
  limits_.memory_bytes_max = 0;
  upload(part("a", "0123456789") + "--B--");
  FormPart& part = form_.parts.at(0);
  ASSERT_TRUE(part.in_file());
  part.size = 11;  // one byte more than was written
  EXPECT_EQ(part.content().error().code(), Code::data_loss);
  const TestFolder files;
  const Result<Folder> folder = Folder::open(files.path());
  EXPECT_FALSE(part.save_to(*folder, "f"));
  EXPECT_FALSE(std::filesystem::exists(files.path("f")));
}

TEST_F(FormTest, each_limit_is_an_answer) {
  limits_.part.part_bytes_max = 100;
  limits_.part.parts_max = 3;
  limits_.bytes_max = 150;
  const std::string fits = part("a", std::string(100, 'x'));
  EXPECT_EQ(upload(fits + "--B--").status, 204u);
  EXPECT_EQ(upload(part("a", std::string(101, 'x')) + "--B--").status, 413u);
  EXPECT_EQ(upload(fits + fits + "--B--").status, 413u);
  const std::string small = part("a", "1");
  EXPECT_EQ(upload(small + small + small + small + "--B--").status, 413u);
  limits_.part_memory_bytes_max = 10;
  limits_.folder = "/nowhere/at/all";
  EXPECT_EQ(upload(fits + "--B--").status, 503u);
}

TEST_F(FormTest, what_is_no_form_is_refused) {
  EXPECT_EQ(upload("a=1", SIZE_MAX, "application/x-www-form-urlencoded").status, 415u);
  EXPECT_EQ(upload("a=1", SIZE_MAX, "multipart/form-data").status, 415u);
  EXPECT_EQ(upload("no form").status, 400u);
  EXPECT_EQ(upload(part("a", "1")).status, 400u);
  EXPECT_EQ(upload("--B\r\nno head\r\n\r\n").status, 400u);
}

TEST_F(FormTest, a_part_is_saved_as_a_file_whether_it_is_in_memory_or_not) {
  // More than one piece of a copy, and no two places alike.
  std::string large;
  while (large.size() < 200'000) large += std::to_string(large.size()) + ",";
  for (const std::size_t memory : {std::size_t{1} << 20, std::size_t{16}}) {
    limits_.memory_bytes_max = limits_.part_memory_bytes_max = memory;
    upload(part("first", "one two three four five") + part("f", large) + "--B--\r\n");
    ASSERT_EQ(form_.parts.size(), 2u);
    EXPECT_EQ(form_.parts[1].in_file(), memory == 16);
    const TestFolder files;
    const Result<Folder> folder = Folder::open(files.path());
    for (const FormPart& each : form_.parts) {
      const SaveResult saved = each.save_to(*folder, each.name, {.sync = true});
      ASSERT_TRUE(saved);
      EXPECT_EQ(saved->size, each.size);
      std::ifstream kept(files.path(each.name), std::ios::binary);
      EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(kept), {}) == *each.content());
    }
    EXPECT_TRUE(*form_.parts[1].content() == large);
    EXPECT_EQ(form_.parts[1].save_to(*folder, "../f").error().status(), 400u);
    EXPECT_EQ(form_.parts[1].save_to(*folder, "g", {.bytes_max = 9}).error().status(), 413u);
    EXPECT_FALSE(std::filesystem::exists(files.path("g")));
  }
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
