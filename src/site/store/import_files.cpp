#include "site/store/import_files.hpp"

#include <fmt/format.h>
#include <utility>

namespace goban::site::store {

base::Status import_files(const ImportRequest& request, base::Progress& progress,
                          const std::function<void(const ImportedFile&)>& imported) {
  auto jobs = JobStore::open(request.store, true, request.fiscal_month);
  if (!jobs) return base::failure(jobs.error());
  const size_t num_files = request.files.size() + request.software.size();
  for (size_t i = 0; i < num_files; ++i) {
    const bool is_jobs = i < request.files.size();
    ImportedFile each;
    each.file = is_jobs ? request.files[i] : request.software[i - request.files.size()];
    each.rejects = request.rejects;
    if (!each.rejects.empty() && num_files > 1) each.rejects += fmt::format(".{}", i + 1);
    JobImportOptions options{.reading = request.reading, .again = request.again};
    options.reading.rejects_path = each.rejects;
    options.reading.progress = [&progress](int64_t done, int64_t total) {
      progress.update(done, total);
    };
    {
      const base::Phase importing(progress, "importing");
      auto summary = is_jobs ? jobs->import_file(each.file, options)
                             : jobs->import_seen_file(each.file, options);
      if (!summary) return base::failure(summary.error());
      each.summary = std::move(*summary);
    }
    imported(each);
  }
  return {};
}

}  // namespace goban::site::store
