// For tests: database servers in temporary folders, run without root privileges (as `nobody` if
// started by root), and empty stores on each of them.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

#include "base/test_folder.hpp"
#include "site/store/sql.hpp"

namespace goban::site::store {

/// A source of empty databases for tests.
class TestServer {
 public:
  virtual ~TestServer() = default;
  /// Empty = ready; otherwise the reason why tests must be skipped.
  [[nodiscard]] virtual std::string missing() const = 0;
  /// The location of an empty database.
  [[nodiscard]] virtual std::string fresh() = 0;
};

class SqliteServer final : public TestServer {
 public:
  std::string missing() const override { return {}; }
  std::string fresh() override { return folder_.path() + "/s" + std::to_string(++count_) + ".db"; }

 private:
  base::TestFolder folder_;
  int count_ = 0;
};

/// A process that is stopped with the object, at the latest after ten minutes.
class ServerProcess : public TestServer {
 public:
  ~ServerProcess() override {
    pid_t pid = 0;
    if (std::ifstream(folder_.path() + "/pid") >> pid && pid > 0) {
      kill(pid, SIGTERM);
      for (int i = 0; i < 100 && kill(pid, 0) == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    }
  }
  std::string missing() const override { return missing_; }

  /// Where it listens; where a relay in front of it may listen; a location that uses the relay.
  [[nodiscard]] virtual std::string socket() const = 0;
  [[nodiscard]] virtual std::string relay_socket() const = 0;
  [[nodiscard]] virtual std::string relayed(std::string location) const = 0;

 protected:
  static std::string find_program(const std::string& pattern) {
    const std::string command = "ls " + pattern + " 2>/dev/null | tail -1";
    std::string out;
    if (FILE* pipe = popen(command.c_str(), "r")) {
      std::array<char, 256> line{};
      if (std::fgets(line.data(), line.size(), pipe) != nullptr) out = line.data();
      pclose(pipe);
    }
    while (out.ends_with('\n')) out.pop_back();
    return out;
  }
  /// Servers refuse to run as root.
  static std::string unprivileged() {
    return geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
  }
  bool run(const std::string& command) {
    if (std::system(("(" + command + ") >> " + folder_.path() + "/log 2>&1").c_str()) == 0) {
      return true;
    }
    std::ifstream log(folder_.path() + "/log");
    missing_ = "failed: " + command + "\n" +
               std::string(std::istreambuf_iterator<char>(log), std::istreambuf_iterator<char>());
    return false;
  }
  void start(const std::string& command) {
    run(unprivileged() + "timeout 600 " + command + " & echo $! > " + folder_.path() + "/pid");
  }
  bool wait_for(const std::string& location) {
    for (int i = 0; i < 300; ++i) {
      if (open_connection(location, false)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    missing_ = "the server did not start: " + open_connection(location, false).error().text();
    return false;
  }
  [[nodiscard]] std::string own_folder() {
    const std::string path = folder_.path() + "/data";
    std::filesystem::create_directory(path);
    if (geteuid() == 0 && chown(path.c_str(), 65534, 65534) != 0) missing_ = "chown";
    return path;
  }
  std::string new_database(const std::string& admin) {
    const std::string name = "goban" + std::to_string(++count_);
    auto connection = open_connection(admin, false);
    if (!connection || !(*connection)->execute("CREATE DATABASE " + name)) {
      throw std::runtime_error("CREATE DATABASE failed");
    }
    return name;
  }

  base::TestFolder folder_;
  std::string missing_;
  int count_ = 0;
};

class PostgreSqlServer final : public ServerProcess {
 public:
  PostgreSqlServer() {
    const std::string server = find_program("/usr/lib/postgresql/*/bin/postgres");
    if (server.empty()) {
      missing_ = "no PostgreSQL server (package postgresql)";
      return;
    }
    data_ = own_folder();
    const std::string bin = std::filesystem::path(server).parent_path().string();
    if (!run(unprivileged() + bin + "/initdb -D " + data_ +
             "/db -U goban --no-sync -E UTF8 --locale=C")) {
      return;
    }
    start(server + " -D " + data_ + "/db -k " + data_ + " -c listen_addresses= -c fsync=off");
    wait_for(uri("postgres"));
  }
  std::string fresh() override { return uri(new_database(uri("postgres"))); }
  std::string socket() const override { return data_ + kName; }
  std::string relay_socket() const override { return folder_.path() + kName; }
  std::string relayed(std::string location) const override {
    return location.replace(location.find(data_), data_.size(), folder_.path());
  }

 private:
  static constexpr const char* kName = "/.s.PGSQL.5432";
  [[nodiscard]] std::string uri(const std::string& database) const {
    return "postgresql:///" + database + "?user=goban&host=" + data_;
  }
  std::string data_;
};

class MariaDbServer final : public ServerProcess {
 public:
  MariaDbServer() {
    const std::string server = find_program("/usr/sbin/mariadbd");
    if (server.empty()) {
      missing_ = "no MariaDB server (package mariadb-server)";
      return;
    }
    data_ = own_folder();
    // Two of them that share a folder for temporary tables disturb each other.
    if (!run(unprivileged() + "env TMPDIR=" + data_ +
             " mariadb-install-db --no-defaults --datadir=" + data_ +
             "/db --auth-root-authentication-method=normal --skip-test-db")) {
      return;
    }
    start(server + " --no-defaults --datadir=" + data_ + "/db --socket=" + data_ +
          "/sock --skip-networking --tmpdir=" + data_ + " --pid-file=" + data_ +
          "/mpid --innodb-flush-log-at-trx-commit=2 --innodb-buffer-pool-size=256M");
    wait_for(uri("mysql"));
  }
  std::string fresh() override { return uri(new_database(uri("mysql"))); }
  std::string socket() const override { return data_ + "/sock"; }
  std::string relay_socket() const override { return folder_.path() + "/relay"; }
  std::string relayed(std::string location) const override {
    return location.replace(location.find(socket()), socket().size(), relay_socket());
  }

 private:
  [[nodiscard]] std::string uri(const std::string& database) const {
    return "mariadb://root@localhost/" + database + "?socket=" + data_ + "/sock";
  }
  std::string data_;
};

}  // namespace goban::site::store
