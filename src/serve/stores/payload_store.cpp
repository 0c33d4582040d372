#include "serve/stores/payload_store.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "live/journal/file_calls.hpp"

namespace goban::serve::stores {

namespace {
constexpr std::string_view kPayloadPrefix = "payload-";
constexpr size_t kRandomBytes = 16;

/// Whether write() produces such names: "payload-" and 32 digits.
bool is_ours(std::string_view name) {
  return name.starts_with(kPayloadPrefix) &&
         name.size() == kPayloadPrefix.size() + 2 * kRandomBytes &&
         name.find_first_not_of("0123456789abcdef", kPayloadPrefix.size()) ==
             std::string_view::npos;
}

/// Creates the folder and the file in it; the pack makes them durable.
bool write_file(int root, const std::string& name, std::string_view payload) {
  if (::mkdirat(root, name.c_str(), S_IRWXU) != 0) return false;
  const base::Descriptor folder(
      ::openat(root, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return false;
  const base::Descriptor file(::openat(folder.get(), kPayloadFile,
                                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                       S_IRUSR | S_IWUSR));
  return file && base::write_all(file.get(), payload);
}

void remove_file(int root, const std::string& name) {
  ::unlinkat(root, (name + "/" + kPayloadFile).c_str(), 0);
  ::unlinkat(root, name.c_str(), AT_REMOVEDIR);
}

base::Status cannot_keep(const std::string& folder, int problem) {
  return base::failed(fmt::format("{}: cannot store the job: {}", folder, std::strerror(problem)),
                      problem == ENOSPC ? "free space on that disk" : "");
}

/// Whether the file has this text already.
bool is_there(const std::string& path, std::string_view payload) {
  const auto text = live::journal::read_whole(path);
  return text && *text == payload;
}
}  // namespace

base::Result<PayloadStore> PayloadStore::open(const std::string& folder,
                                              std::shared_ptr<PayloadUse> use,
                                              std::shared_ptr<DiskGuard> guard) {
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return base::failed(fmt::format("cannot create {}: {}", folder, std::strerror(errno)));
  }
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return base::failed(fmt::format("{}: {}", folder, std::strerror(errno)));
  }
  PayloadStore store(folder, descriptor, std::move(use));
  store.guard_ = std::move(guard);
  auto pack = PayloadPack::open(folder, [&](const std::string& name, std::string_view payload) {
    if (!is_ours(name)) return base::Status{};
    if (is_there(folder + "/" + name + "/" + kPayloadFile, payload)) return base::Status{};
    remove_file(descriptor, name);
    return write_file(descriptor, name, payload) ? base::Status{} : cannot_keep(folder, errno);
  });
  if (!pack) return base::failure(pack.error());
  store.pack_ = std::move(*pack);
  return store;
}

PayloadStore::PayloadStore(PayloadStore&& other) noexcept
    : folder_(std::move(other.folder_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      use_(std::move(other.use_)),
      guard_(std::move(other.guard_)),
      pack_(std::move(other.pack_)) {}

PayloadStore::~PayloadStore() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

base::Result<std::string> PayloadStore::write(std::string_view payload,
                                              const live::job::Owner& owner) const {
  if (guard_ != nullptr) {
    if (auto room = guard_->check(payload.size()); !room) return base::failure(room.error());
  }
  std::array<uint8_t, kRandomBytes> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return base::failed("cannot read random bytes from the system");
  }
  std::string name(kPayloadPrefix);
  for (const uint8_t byte : random) name += fmt::format("{:02x}", byte);
  if (auto counted = use_->add(owner, name, payload.size()); !counted) {
    return base::failure(counted.error());
  }
  if (!write_file(descriptor_, name, payload)) {
    const int problem = errno;
    discard(name);
    return base::failure(cannot_keep(folder_, problem).error());
  }
  if (auto safe = pack_->add(name, payload); !safe) {
    discard(name);
    return base::failure(safe.error());
  }
  return name;
}

void PayloadStore::discard(const std::string& name) const {
  if (!is_ours(name)) return;
  remove_file(descriptor_, name);
  use_->remove(name);
}

void PayloadStore::count(const std::string& name, uint32_t uid) const {
  const std::string file = name + "/" + kPayloadFile;
  struct stat facts{};
  if (::fstatat(descriptor_, file.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return;
  use_->count(uid, name, static_cast<size_t>(facts.st_size));
  // Its job may have been forgotten meanwhile.
  if (::faccessat(descriptor_, file.c_str(), F_OK, 0) != 0) use_->remove(name);
}

size_t PayloadStore::sweep(const std::map<std::string, uint32_t>& used) const {
  const int copy = ::openat(descriptor_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = copy < 0 ? nullptr : ::fdopendir(copy);
  if (entries == nullptr) return 0;
  std::vector<std::string> unused;
  while (const dirent* const entry = ::readdir(entries)) {
    if (is_ours(entry->d_name) && !used.contains(entry->d_name)) unused.emplace_back(entry->d_name);
  }
  ::closedir(entries);
  for (const std::string& name : unused) discard(name);
  for (const auto& [name, uid] : used) count(name, uid);
  return unused.size();
}

}  // namespace goban::serve::stores
