// A folder that one run at a time writes to.
#pragma once

#include <string>

#include "base/files.hpp"
#include "base/result.hpp"

namespace goban::train::trainer {

/// A lock on a file in the folder. It ends with the object, or with the process, however that ends.
class FolderLock {
 public:
  /// `option` gave the folder, which must exist. Errors: Failed, if another run holds the folder,
  /// with its process and machine, or if the folder is not writable. On a file system without locks
  /// warns and holds nothing.
  [[nodiscard]] static base::Result<FolderLock> take(const std::string& folder,
                                                     const std::string& option);

 private:
  explicit FolderLock(base::Descriptor file) : file_(std::move(file)) {}
  base::Descriptor file_;
};

}  // namespace goban::train::trainer
