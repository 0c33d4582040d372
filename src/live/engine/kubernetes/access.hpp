// How to reach an API server: from a kubeconfig, or as a pod of the cluster.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::live::engine::kubernetes {

struct Access {
  std::string server{};       ///< https://HOST:PORT, without a slash at the end
  std::string ca{};           ///< PEM; empty: the system's
  std::string certificate{};  ///< PEM: of this client; empty: none
  std::string key{};          ///< PEM
  std::string token{};
  std::string token_file{};           ///< instead; read again, as it rotates
  std::vector<std::string> plugin{};  ///< instead: a program that prints an ExecCredential
  std::vector<std::string> plugin_environment{};  ///< NAME=value, beside that of this process
};

/// Reads a kubeconfig (YAML or JSON). `context`: empty = current-context. Files that it names are
/// read, relative to its folder. Errors: BadData naming file and field; Failed if a file cannot be
/// read; also where it asks not to verify the server's certificate, or for plain HTTP.
[[nodiscard]] base::Result<Access> access_from_kubeconfig(std::string_view text,
                                                          const std::string& path,
                                                          const std::string& context);

inline constexpr const char* kAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";
/// As a pod: from KUBERNETES_SERVICE_HOST and _PORT and the service account in `folder`. Errors:
/// Failed if this is no pod.
[[nodiscard]] base::Result<Access> access_in_cluster(const std::string& folder = kAccountFolder);

/// The token of an ExecCredential. Errors: BadData.
[[nodiscard]] base::Result<std::string> token_of_plugin(std::string_view out);

}  // namespace goban::live::engine::kubernetes
