#pragma once

#include <string>

#include "base/result.hpp"

namespace goban::site::store {

/// The client library of a database, loaded when a store is on its server: without such stores, the
/// program runs where the library is not installed. It stays loaded until the program ends, since
/// what it uses (OpenSSL) keeps functions to call at the end.
class ClientLibrary {
 public:
  /// `remedy` says how to install it. Errors: Failed.
  [[nodiscard]] static base::Result<ClientLibrary> load(const std::string& file,
                                                        const std::string& remedy);

  /// Sets `out` to the function, or to null; see missing().
  template <typename Function>
  void find(Function*& out, const char* name) {
    out = reinterpret_cast<Function*>(address(name));
  }
  /// Errors: Failed, if a function was not found. `remedy` as above.
  [[nodiscard]] base::Status complete() const;

 private:
  ClientLibrary(void* handle, std::string file, std::string remedy)
      : handle_(handle), file_(std::move(file)), remedy_(std::move(remedy)) {}
  void* address(const char* name);

  void* handle_;
  std::string file_, remedy_;
  std::string missing_;  ///< the first function that the library lacks
};

}  // namespace goban::site::store
