#include "site/store/client_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace goban::site::store {

base::Result<ClientLibrary> ClientLibrary::load(const std::string& file,
                                                const std::string& remedy) {
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    return base::failed(fmt::format("cannot load the database's client library: {}", dlerror()),
                        remedy);
  }
  return ClientLibrary(handle, file, remedy);
}

void* ClientLibrary::address(const char* name) {
  void* const found = dlsym(handle_, name);
  if (found == nullptr && missing_.empty()) missing_ = name;
  return found;
}

base::Status ClientLibrary::complete() const {
  if (missing_.empty()) return {};
  return base::failed(fmt::format("'{}' has no function '{}'", file_, missing_), remedy_);
}

}  // namespace goban::site::store
