// The pack alone: it restores payloads whose own files were not synced before a power failure.
#include "serve/stores/payload_pack.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <thread>
#include <vector>

#include "serve/stores/payload_store.hpp"

namespace goban::serve::stores {
namespace {

namespace fs = std::filesystem;

struct PayloadPackTest : testing::Test {
  PayloadPackTest() {
    char pattern[] = "/tmp/goban_pack_XXXXXX";
    folder = ::mkdtemp(pattern);
  }
  ~PayloadPackTest() override { fs::remove_all(folder); }

  /// The payloads that opening the pack now restores.
  std::map<std::string, std::string> recovered(bool& fine) const {
    std::map<std::string, std::string> found;
    const auto pack = PayloadPack::open(folder, [&](const auto& name, auto payload) {
      found.emplace(name, payload);
      return base::Status{};
    });
    fine = pack.has_value();
    return found;
  }
  /// The present packs of the folder, to be put back later as if after a crash.
  void keep_packs() {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_regular_file()) fs::copy(entry, folder + "/kept-" + name_of(entry));
    }
  }
  void put_packs_back() {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = name_of(entry);
      if (name.starts_with("kept-")) fs::rename(entry, folder + "/" + name.substr(5));
    }
  }
  static std::string name_of(const fs::directory_entry& entry) {
    return entry.path().filename().string();
  }
  static PayloadPack::Restore nothing() {
    return [](const std::string&, std::string_view) { return base::Status{}; };
  }
  [[nodiscard]] size_t num_packs() const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
      count += name_of(entry).starts_with("pack-") ? 1 : 0;
    }
    return count;
  }

  static constexpr base::TimeNs kNever = 86'400 * base::kSecond;
  std::string folder;
};

TEST_F(PayloadPackTest, HoldsAllThatWasAddedUntilItIsSettled) {
  auto pack = PayloadPack::open(folder, nothing(), kNever).value();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 20; ++j) {
        const std::string name = "payload-" + std::to_string(20 * i + j);
        EXPECT_TRUE(pack->add(name, "{\"of\":" + std::to_string(j) + "}"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(pack->add("payload-last", "{}"));
  keep_packs();
  ASSERT_TRUE(pack->settle());
  EXPECT_EQ(num_packs(), 0U) << "scripts and environments remain only in their own files";
  ASSERT_TRUE(pack->add("payload-later", "{}"));
  pack.reset();
  EXPECT_EQ(num_packs(), 0U);
  put_packs_back();
  bool fine = false;
  const auto found = recovered(fine);
  EXPECT_TRUE(fine);
  EXPECT_TRUE(found.contains("payload-last"));
  EXPECT_EQ(found.contains("payload-later"), false);
  for (const auto& [name, payload] : found) EXPECT_TRUE(payload.starts_with("{")) << name;
  EXPECT_EQ(num_packs(), 0U);
}

TEST_F(PayloadPackTest, ATornEndIsLeftOutAndABrokenMiddleIsAnError) {
  auto pack = PayloadPack::open(folder, nothing(), kNever).value();
  const std::string file = folder + "/pack-1.log";
  std::vector<uintmax_t> sizes;
  for (const char* name : {"payload-a", "payload-b", "payload-c"}) {
    ASSERT_TRUE(pack->add(name, "{}"));
    sizes.push_back(fs::file_size(file));
  }
  keep_packs();
  pack.reset();
  put_packs_back();
  const auto read = [&] {
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string whole = read();
  ASSERT_EQ(whole.size(), sizes[2]);
  bool fine = false;
  for (uintmax_t bytes = 0; bytes <= whole.size(); ++bytes) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, bytes);
    size_t expected = 0;
    for (const uintmax_t size : sizes) expected += size <= bytes ? 1 : 0;
    EXPECT_EQ(recovered(fine).size(), expected) << bytes;
    EXPECT_TRUE(fine) << bytes;
  }
  std::string broken = whole;
  broken[sizes[0] + 12] ^= 1;
  std::ofstream(file, std::ios::binary) << broken;
  (void)recovered(fine);
  EXPECT_FALSE(fine);
}

// A power failure removed the payload's own file or left it empty.
TEST_F(PayloadPackTest, TheStoreBringsLostPayloadsBack) {
  const std::string text = "{\"i\":1}";
  std::vector<std::string> names;
  {
    const auto store = PayloadStore::open(folder).value();
    for (int i = 0; i < 3; ++i) names.push_back(store.write(text, {}).value());
  }
  auto pack = PayloadPack::open(folder, nothing(), kNever).value();
  for (const std::string& name : names) ASSERT_TRUE(pack->add(name, text));
  keep_packs();
  pack.reset();
  put_packs_back();
  ASSERT_EQ(num_packs(), 1U);
  fs::remove_all(folder + "/" + names[1]);
  std::ofstream(folder + "/" + names[2] + "/payload.json", std::ios::trunc).flush();
  const auto store = PayloadStore::open(folder).value();
  for (const std::string& name : {names[1], names[2]}) {
    std::ifstream in(folder + "/" + name + "/payload.json");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text) << name;
  }
}

}  // namespace
}  // namespace goban::serve::stores
