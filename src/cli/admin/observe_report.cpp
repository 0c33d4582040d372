#include "cli/admin/observe_report.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include "base/clock.hpp"
#include "base/date_time.hpp"
#include "base/files.hpp"
#include "base/output_file.hpp"
#include "base/spawn.hpp"
#include "cli/shell/command.hpp"
#include "cli/shell/notes.hpp"
#include "cli/shell/progress.hpp"
#include "cli/shell/terminal_style.hpp"
#include "site/cluster_import.hpp"
#include "study/study.hpp"

namespace goban::cli {

base::Status print_into(const std::vector<std::string>& words, const std::string& path,
                        std::vector<std::string> environment, const std::string& install,
                        const std::string& remedy) {
  const base::Descriptor out(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!out) {
    return base::failed(fmt::format("cannot write {}: {}", path, std::strerror(errno)),
                        "name another folder with --out");
  }
  const char* search = std::getenv("PATH");
  environment.push_back(fmt::format("PATH={}", search != nullptr ? search : "/usr/bin:/bin"));
  environment.emplace_back("LC_ALL=C");
  environment.emplace_back("TZ=UTC");
  const pid_t pid =
      base::spawn(words, {.environment = environment, .out = out.get(), .err = STDERR_FILENO});
  if (pid == 0) {
    return base::failed(fmt::format("cannot run {}: {}", words.front(), std::strerror(errno)),
                        install);
  }
  const int status = base::wait_for(pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return base::failed(fmt::format("{} failed", words.front()), remedy);
}

base::Result<std::string> cluster_of_nodes(const std::string& from, const std::string& nodes,
                                           const std::string& out) {
  site::NodeSources sources;
  sources.from = from;
  sources.files = {nodes};
  const auto imported = site::import_cluster(sources);
  if (!imported) return base::failure(imported.error());
  std::string path = out + "/cluster.toml";
  if (const auto written = base::write_file(path, imported->toml); !written) {
    return base::failure(written.error());
  }
  return path;
}

int write_observe_report(const ObserveReport& report) {
  study::StudyOptions options;
  options.files.cluster = report.cluster;
  options.files.jobs = report.jobs;
  options.files.reading.format = report.format;
  options.files.rejects = report.out + "/rejects.txt";
  options.policies = report.policies;
  options.backtest = report.site_policy;
  options.html = fmt::format("{}/observe-{}.html", report.out, base::date_text(base::wall_ns()));
  study::add_site_policy(options);
  catch_interrupts();
  ProgressBar progress;
  const auto study = study::Study::load(std::move(options), progress);
  if (!study) return report_error(study.error());
  print_notes(study->notes());
  const auto comparison = study->run(progress);
  if (!comparison) return report_error(comparison.error());
  fmt::print("What {} did, as {} simulates it, and what others would have done:\n\n{}",
             report.system, report.site_policy,
             study::results::comparison_table(*comparison, output_style().width));
  if (comparison->backtest) {
    fmt::print("\n{}", study::results::backtest_text(*comparison->backtest));
  }
  fmt::print("Page: {}\n", study->options().html);
  return 0;
}

}  // namespace goban::cli
