#include "live/staging/removal.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "base/files.hpp"
#include "base/printable.hpp"
#include "live/staging/copy_io.hpp"
#include "live/staging/copy_notes.hpp"

namespace goban::live::staging {

namespace {

namespace fs = std::filesystem;
using base::Descriptor;
using base::Status;

Status remove_all(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (!error) return {};
  return base::failed(fmt::format("cannot remove {}: {}", base::printable(path), error.message()));
}

}  // namespace

Status remove_copied(const Tree& tree, const std::string& notes) {
  if (completed(notes).empty()) return {};
  const auto files = read_copied_files(notes);
  if (!files) return base::failure(files.error());
  for (const TreeEntry& entry : tree.entries) {
    const std::string path = in_tree(tree.root, entry.path);
    if (entry.kind == TreeEntry::Kind::Link) ::unlink(path.c_str());
    const auto copied = files->find(entry.path);
    if (entry.kind != TreeEntry::Kind::File || copied == files->end()) continue;
    struct stat facts{};
    const bool is_same = ::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
                         facts.st_size == copied->second.bytes &&
                         mtime_of(facts) == copied->second.mtime_ns;
    if (is_same && ::unlink(path.c_str()) != 0 && errno != ENOENT) {
      return passing_error("cannot remove", path);
    }
  }
  // Folders, innermost first: only empty ones go.
  for (auto entry = tree.entries.rbegin(); entry != tree.entries.rend(); ++entry) {
    if (entry->kind == TreeEntry::Kind::Folder) ::rmdir(in_tree(tree.root, entry->path).c_str());
  }
  if (tree.is_folder) ::rmdir(tree.root.c_str());
  return {};
}

Status remove_copy(const std::string& copy, const std::string& notes) {
  // Who still copies it would make what is removed.
  const Descriptor lock(::open((notes + "/lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  constexpr int kTries = 100;
  for (int i = 0; lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0; ++i) {
    if (i == kTries) return base::failed("another process still copies the same data");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  // The mark goes first: what is left of the copy is not taken for a complete
  // one.
  forget_completed(notes);
  if (auto status = remove_all(copy); !status) return status;
  return remove_all(notes);
}

void remove_part(const std::string& to, const std::string& notes) {
  const CopiedPart part = read_copied_part(notes);
  if (part.chunk_bytes > 0) ::unlink(part_name(notes, in_tree(to, part.path)).c_str());
}

}  // namespace goban::live::staging
