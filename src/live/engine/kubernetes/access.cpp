#include "live/engine/kubernetes/access.hpp"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include "base/gzip.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/text_file.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using base::Result;

constexpr size_t kFileMost = size_t{1} << 20;

/// A kubeconfig while it is read; the first problem stays.
class Kubeconfig {
 public:
  explicit Kubeconfig(std::string path) : path_(std::move(path)) {}

  base::Status status() const { return status_; }

  void refuse(const std::string& field, std::string message, std::string remedy = {}) {
    if (status_) {
      status_ = base::bad_data({path_, 0, 0, field}, std::move(message), std::move(remedy));
    }
  }

  /// The entry of `list` with this name: its member `what`.
  YAML::Node named(const YAML::Node& root, const char* list, const char* what,
                   const std::string& name) {
    for (const YAML::Node& entry : entries_of(root, list)) {
      if (entry.IsMap() && text(entry, "name") == name && entry[what].IsDefined() &&
          entry[what].IsMap()) {
        return entry[what];
      }
    }
    refuse(list, fmt::format("has no {} {}", what, base::quoted(name)));
    return YAML::Node(YAML::NodeType::Map);
  }

  /// Empty if there is no such list.
  static std::vector<YAML::Node> entries_of(const YAML::Node& from, const char* name) {
    const YAML::Node list = from[name];
    std::vector<YAML::Node> out;
    if (!list.IsDefined() || !list.IsSequence()) return out;
    for (size_t i = 0; i < list.size(); ++i) out.push_back(list[i]);
    return out;
  }

  static std::string text(const YAML::Node& from, const char* name) {
    const YAML::Node value = from[name];
    return value.IsDefined() && value.IsScalar() ? value.Scalar() : std::string();
  }

  /// The text of `name`-data, or of the file `name`.
  std::string pem(const YAML::Node& from, const std::string& name) {
    const std::string data = text(from, (name + "-data").c_str());
    if (!data.empty()) {
      auto plain = base::from_base64(data);
      if (!plain) refuse(name + "-data", "is not base64");
      return plain.value_or("");
    }
    const std::string file = text(from, name.c_str());
    if (file.empty()) return {};
    auto read = base::read_text_file(beside(file), kFileMost);
    if (!read && status_) status_ = base::failure(read.error());
    return read.value_or("");
  }

  std::string beside(const std::string& file) const {
    return (std::filesystem::path(path_).parent_path() / file).string();
  }

 private:
  std::string path_;
  base::Status status_{};
};

void read_plugin(Kubeconfig& file, const YAML::Node& exec, Access& access) {
  std::string command = Kubeconfig::text(exec, "command");
  if (command.empty()) return file.refuse("exec.command", "is missing");
  if (command.find('/') != command.npos) command = file.beside(command);
  access.plugin.push_back(std::move(command));
  for (const YAML::Node& argument : Kubeconfig::entries_of(exec, "args")) {
    if (argument.IsScalar()) access.plugin.push_back(argument.Scalar());
  }
  for (const YAML::Node& variable : Kubeconfig::entries_of(exec, "env")) {
    if (!variable.IsMap()) continue;
    access.plugin_environment.push_back(Kubeconfig::text(variable, "name") + "=" +
                                        Kubeconfig::text(variable, "value"));
  }
}

void read_user(Kubeconfig& file, const YAML::Node& user, Access& access) {
  access.certificate = file.pem(user, "client-certificate");
  access.key = file.pem(user, "client-key");
  access.token = Kubeconfig::text(user, "token");
  const std::string token_file = Kubeconfig::text(user, "tokenFile");
  if (!token_file.empty()) access.token_file = file.beside(token_file);
  if (user["exec"].IsDefined() && user["exec"].IsMap()) read_plugin(file, user["exec"], access);
  if (access.certificate.empty() != access.key.empty()) {
    file.refuse("user", "has a client certificate without its key, or a key without certificate");
  }
  if (access.certificate.empty() && access.token.empty() && access.token_file.empty() &&
      access.plugin.empty()) {
    file.refuse("user", "has no credentials that Goban knows",
                "known: client-certificate and client-key, token, tokenFile, exec");
  }
}

}  // namespace

Result<Access> access_from_kubeconfig(std::string_view text, const std::string& path,
                                      const std::string& context) {
  Kubeconfig file(path);
  Access access;
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    if (!root.IsMap()) return base::bad_data({path, 0, 0, ""}, "is not a kubeconfig");
    const std::string chosen =
        context.empty() ? Kubeconfig::text(root, "current-context") : context;
    const YAML::Node place = file.named(root, "contexts", "context", chosen);
    const YAML::Node cluster =
        file.named(root, "clusters", "cluster", Kubeconfig::text(place, "cluster"));
    access.server = Kubeconfig::text(cluster, "server");
    while (access.server.ends_with('/')) access.server.pop_back();
    if (!access.server.starts_with("https://")) {
      file.refuse("server", "does not begin with https://",
                  "Goban speaks to API servers by TLS only");
    }
    const std::string skips = Kubeconfig::text(cluster, "insecure-skip-tls-verify");
    if (!skips.empty() && skips != "false") {
      file.refuse("insecure-skip-tls-verify", "is not supported",
                  "name the CA with certificate-authority");
    }
    access.ca = file.pem(cluster, "certificate-authority");
    read_user(file, file.named(root, "users", "user", Kubeconfig::text(place, "user")), access);
  } catch (const YAML::Exception& problem) {
    return base::bad_data({path, problem.mark.line + 1, problem.mark.column + 1, ""}, problem.msg);
  }
  if (auto status = file.status(); !status) return base::failure(status.error());
  return access;
}

Result<Access> access_in_cluster(const std::string& folder) {
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
  if (host == nullptr || port == nullptr) {
    return base::failed("not running in a pod of a Kubernetes cluster",
                        "outside of it, name a kubeconfig: [kubernetes] kubeconfig = \"PATH\"");
  }
  const bool is_v6 = std::string_view(host).find(':') != std::string_view::npos;
  Access access{
      .server = fmt::format(fmt::runtime(is_v6 ? "https://[{}]:{}" : "https://{}:{}"), host, port)};
  auto ca = base::read_text_file(folder + "/ca.crt", kFileMost);
  if (!ca) return base::failure(ca.error());
  access.ca = std::move(*ca);
  access.token_file = folder + "/token";
  return access;
}

Result<std::string> token_of_plugin(std::string_view out) {
  const auto document = base::parse_json(out, "exec plug-in");
  if (!document) return base::failed("the exec plug-in did not print an ExecCredential");
  const auto* status = base::find_member(*document, "status");
  std::string token = status == nullptr ? "" : base::text_of(*status, "token");
  if (token.empty()) return base::failed("the exec plug-in's ExecCredential has no token");
  return token;
}

}  // namespace goban::live::engine::kubernetes
