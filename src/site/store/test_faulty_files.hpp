// For tests: SQLite's files with injected faults. The n-th change of a file (a write, truncation or
// deletion) fails, or the process exits in the middle of it.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <memory>
#include <new>
#include <sqlite3.h>
#include <sys/types.h>
#include <unistd.h>

namespace goban::site::store {

enum class FileFault : uint8_t { None, Kill, Fail };

/// While it exists, SQLite opens its files through it. One at a time; not for several threads with
/// several connections. Nothing is synced: other processes see what a killed process wrote.
class FaultyFiles {
 public:
  FaultyFiles() {
    state() = {.below = sqlite3_vfs_find(nullptr)};
    vfs_ = *state().below;
    vfs_.zName = "goban-faulty";
    vfs_.pNext = nullptr;
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + state().below->szOsFile;
    vfs_.xOpen = &open;
    vfs_.xDelete = &remove;
    sqlite3_vfs_register(&vfs_, 1);
  }
  FaultyFiles(const FaultyFiles&) = delete;
  FaultyFiles& operator=(const FaultyFiles&) = delete;
  ~FaultyFiles() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(state().below, 1);
  }

  /// From now on the `at`-th change fails; of a write, the first `permille` of its bytes are
  /// written.
  void arm(FileFault fault, int64_t at, int permille = 0) {
    state().fault = fault;
    state().at = at;
    state().permille = permille;
    state().changes = 0;
  }
  /// Changes since arm().
  [[nodiscard]] int64_t changes() const { return state().changes; }

 private:
  struct State {
    sqlite3_vfs* below = nullptr;
    FileFault fault = FileFault::None;
    int64_t at = 0;
    int64_t changes = 0;
    int permille = 0;
  };
  struct File {
    sqlite3_file base;
    [[nodiscard]] sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };
  static State& state() {
    static State the_state;
    return the_state;
  }
  static File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
  static sqlite3_file* below(sqlite3_file* file) { return of(file).real(); }

  /// True if this is the change that fails.
  static bool is_hit() {
    State& s = state();
    return s.fault != FileFault::None && ++s.changes == s.at;
  }
  static int hit() {
    if (state().fault == FileFault::Kill) (void)raise(SIGKILL);
    return SQLITE_FULL;
  }

  static int open(sqlite3_vfs* /*self*/, const char* name, sqlite3_file* file, int flags,
                  int* out) {
    sqlite3_vfs* const under = state().below;
    File& mine = *new (file) File{};
    const int code = under->xOpen(under, name, mine.real(), flags, out);
    static const sqlite3_io_methods the_methods = methods();
    mine.base.pMethods = code == SQLITE_OK ? &the_methods : nullptr;
    return code;
  }
  static int remove(sqlite3_vfs* /*self*/, const char* name, int sync) {
    if (is_hit()) return hit();
    return state().below->xDelete(state().below, name, sync);
  }
  static int write(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 offset) {
    sqlite3_file* const real = below(file);
    if (!is_hit()) return real->pMethods->xWrite(real, data, bytes, offset);
    const int part = static_cast<int>(int64_t{bytes} * state().permille / 1000);
    if (part > 0) (void)real->pMethods->xWrite(real, data, part, offset);
    return hit();
  }
  static int cut(sqlite3_file* file, sqlite3_int64 size) {
    if (is_hit()) return hit();
    return below(file)->pMethods->xTruncate(below(file), size);
  }

  static sqlite3_io_methods methods() {
    using F = sqlite3_file;
    sqlite3_io_methods m = {};
    m.iVersion = 2;
    m.xClose = [](F* f) { return below(f)->pMethods->xClose(below(f)); };
    m.xRead = [](F* f, void* to, int bytes, sqlite3_int64 offset) {
      return below(f)->pMethods->xRead(below(f), to, bytes, offset);
    };
    m.xWrite = &write;
    m.xTruncate = &cut;
    m.xSync = [](F*, int) { return SQLITE_OK; };
    m.xFileSize = [](F* f, sqlite3_int64* size) {
      return below(f)->pMethods->xFileSize(below(f), size);
    };
    m.xLock = [](F* f, int kind) { return below(f)->pMethods->xLock(below(f), kind); };
    m.xUnlock = [](F* f, int kind) { return below(f)->pMethods->xUnlock(below(f), kind); };
    m.xCheckReservedLock = [](F* f, int* held) {
      return below(f)->pMethods->xCheckReservedLock(below(f), held);
    };
    m.xFileControl = [](F* f, int operation, void* argument) {
      return below(f)->pMethods->xFileControl(below(f), operation, argument);
    };
    m.xSectorSize = [](F* f) { return below(f)->pMethods->xSectorSize(below(f)); };
    m.xDeviceCharacteristics = [](F* f) {
      return below(f)->pMethods->xDeviceCharacteristics(below(f));
    };
    m.xShmMap = [](F* f, int page, int bytes, int extend, void volatile** out) {
      return below(f)->pMethods->xShmMap(below(f), page, bytes, extend, out);
    };
    m.xShmLock = [](F* f, int offset, int n, int flags) {
      return below(f)->pMethods->xShmLock(below(f), offset, n, flags);
    };
    m.xShmBarrier = [](F* f) { below(f)->pMethods->xShmBarrier(below(f)); };
    m.xShmUnmap = [](F* f, int remove_it) {
      return below(f)->pMethods->xShmUnmap(below(f), remove_it);
    };
    return m;
  }

  sqlite3_vfs vfs_{};
};

}  // namespace goban::site::store
