#include "live/staging/tree.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "base/printable.hpp"
#include "base/sha256.hpp"

namespace goban::live::staging {

namespace {

using base::Result;
using base::Status;

constexpr size_t kDepthMax = 256;
constexpr uint32_t kPermissions = 0777;

int64_t nanoseconds(const timespec& time) {
  constexpr int64_t kSecond = 1'000'000'000;
  return time.tv_sec * kSecond + time.tv_nsec;
}

/// A relative target that stays inside, whatever the links on its way are.
bool stays_inside(const std::string& path, const std::string& target) {
  if (target.empty() || target.starts_with('/')) return false;
  const std::filesystem::path whole =
      (std::filesystem::path(path).parent_path() / target).lexically_normal();
  return whole.begin() == whole.end() || *whole.begin() != "..";
}

class Lister {
 public:
  Lister(Tree& tree, const std::function<bool()>& go_on) : tree_(tree), go_on_(go_on) {}

  Status add(const std::string& path, size_t depth) {
    constexpr size_t kEntriesAtOnce = 256;
    if (++listed_ % kEntriesAtOnce == 0 && go_on_ && !go_on_()) {
      return base::failed("the listing was stopped");
    }
    const std::string whole = in_tree(tree_.root, path);
    struct stat facts{};
    if (::lstat(whole.c_str(), &facts) != 0) return vanished_or(whole);
    TreeEntry entry{.path = path, .mode = facts.st_mode & kPermissions};
    if (S_ISREG(facts.st_mode)) {
      if (::access(whole.c_str(), R_OK) != 0) return vanished_or(whole);
      entry.bytes = facts.st_size;
      entry.mtime_ns = nanoseconds(facts.st_mtim);
      tree_.bytes += entry.bytes;
      ++tree_.files;
    } else if (S_ISLNK(facts.st_mode)) {
      entry.kind = TreeEntry::Kind::Link;
      if (auto status = read_link(whole, entry); !status) return status;
    } else if (S_ISDIR(facts.st_mode)) {
      entry.kind = TreeEntry::Kind::Folder;
      if (depth > kDepthMax)
        return base::bad_data({}, "folders are nested too deep at " + shown(whole));
      if (!path.empty()) tree_.entries.push_back(entry);
      return add_folder(path, whole, depth);
    } else {
      return base::bad_data({}, shown(whole) + " is neither a file nor a folder nor a link",
                            "stage a folder without sockets, pipes and devices");
    }
    tree_.entries.push_back(std::move(entry));
    return {};
  }

 private:
  /// The requested path was there: what is missing now has been removed while it was listed.
  static Status vanished_or(const std::string& whole) {
    const bool has_vanished = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    return has_vanished ? passing_error("cannot read", whole) : path_error("cannot read", whole);
  }

  static std::string shown(const std::string& path) { return base::printable(path); }

  static Status read_link(const std::string& whole, TreeEntry& entry) {
    std::array<char, 4097> target{};
    const ssize_t length = ::readlink(whole.c_str(), target.data(), target.size());
    if (length < 0) return vanished_or(whole);
    entry.target.assign(target.data(), static_cast<size_t>(length));
    if (stays_inside(entry.path, entry.target)) return {};
    return base::bad_data(
        {}, fmt::format("{} is a symbolic link that leaves the staged folder", shown(whole)),
        "stage what it points to, or replace it by a copy");
  }

  Status add_folder(const std::string& path, const std::string& whole, size_t depth) {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(whole.c_str()), ::closedir);
    if (folder == nullptr) return vanished_or(whole);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* each = ::readdir(folder.get())) {
      const std::string name = each->d_name;
      if (name != "." && name != "..") names.push_back(name);
      errno = 0;
    }
    if (errno != 0) return path_error("cannot read", whole);
    std::ranges::sort(names);
    for (const std::string& name : names) {
      const bool has_control =
          std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
      if (has_control) {
        return base::bad_data({},
                              fmt::format("a name in {} contains a control character: {}",
                                          shown(whole), base::printable(name)),
                              "rename it");
      }
      const std::string below = path.empty() ? name : fmt::format("{}/{}", path, name);
      if (auto status = add(below, depth + 1); !status) {
        return status;
      }
    }
    return {};
  }

  Tree& tree_;
  const std::function<bool()>& go_on_;
  size_t listed_ = 0;
};

std::string version_of(const Tree& tree) {
  constexpr size_t kDigits = 32;
  base::Sha256Stream digest;
  const auto add = [&](std::string_view text) {
    digest.add(text);
    digest.add(std::string_view("\0", 1));
  };
  add(tree.root);
  for (const TreeEntry& entry : tree.entries) {
    add(entry.path);
    add(fmt::format("{} {} {} {}", static_cast<int>(entry.kind), entry.bytes, entry.mtime_ns,
                    entry.mode));
    add(entry.target);
  }
  return base::hex(digest.digest()).substr(0, kDigits);
}

}  // namespace

std::string in_tree(const std::string& root, const std::string& path) {
  return path.empty() ? root : root + "/" + path;
}

tl::unexpected<base::Error> path_error(std::string_view what, const std::string& path) {
  const int code = errno;
  std::string text = fmt::format("{} {}: {}", what, base::printable(path), std::strerror(code));
  const bool is_final = code == ENOENT || code == EACCES || code == EPERM || code == ENOTDIR ||
                        code == ELOOP || code == ENAMETOOLONG || code == EROFS;
  return is_final ? base::bad_data({}, std::move(text)) : base::failed(std::move(text));
}

tl::unexpected<base::Error> passing_error(std::string_view what, const std::string& path) {
  const int code = errno;
  return base::failed(fmt::format("{} {}: {}", what, base::printable(path), std::strerror(code)));
}

bool is_at_or_below(const std::string& path, const std::string& folder) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
  struct stat wanted{};
  if (error || ::stat(folder.c_str(), &wanted) != 0) return false;
  for (std::filesystem::path each = whole;; each = each.parent_path()) {
    struct stat facts{};
    const bool is_same = ::stat(each.c_str(), &facts) == 0 && facts.st_dev == wanted.st_dev &&
                         facts.st_ino == wanted.st_ino;
    if (is_same) return true;
    if (!each.has_relative_path()) return false;
  }
}

Result<Tree> list_tree(const std::string& path, const std::function<bool()>& go_on) {
  Tree tree;
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  if (real == nullptr) return path_error("cannot read", path);
  tree.root = real.get();
  struct stat facts{};
  if (::stat(tree.root.c_str(), &facts) != 0) return path_error("cannot read", tree.root);
  tree.is_folder = S_ISDIR(facts.st_mode);
  tree.mode = facts.st_mode & kPermissions;
  if (auto status = Lister(tree, go_on).add("", 0); !status) return base::failure(status.error());
  tree.version = version_of(tree);
  return tree;
}

}  // namespace goban::live::staging
