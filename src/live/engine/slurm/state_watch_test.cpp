#include "live/engine/slurm/state_watch.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "base/test_folder.hpp"

namespace goban::live::engine::slurm {
namespace {

constexpr base::TimeNs kLater_ns = StateWatch::kPatience_ns + base::kSecond;

void write(const std::string& path) { std::ofstream(path) << path; }

/// Written anew under its name, as slurmctld does.
void replace(const std::string& path) {
  write(path + ".new");
  std::filesystem::rename(path + ".new", path);
}

TEST(StateWatch, SeesWhatIsWritten) {
  const base::TestFolder folder;
  write(folder.path() + "/job_state");
  std::filesystem::create_directory(folder.path() + "/hash.3");
  StateWatch watch;
  EXPECT_FALSE(watch.has_changed()) << "no folder";
  watch.watch(folder.path());
  EXPECT_FALSE(watch.has_changed());
  EXPECT_FALSE(watch.is_of_use()) << "it has shown nothing yet";
  replace(folder.path() + "/job_state");
  EXPECT_TRUE(watch.has_changed());
  watch.mark();
  EXPECT_FALSE(watch.has_changed());
  EXPECT_TRUE(watch.is_of_use());
  std::filesystem::create_directory(folder.path() + "/hash.3/job.13");
  EXPECT_TRUE(watch.has_changed()) << "the script of a new job";
  watch.watch(folder.path());
  EXPECT_TRUE(watch.is_of_use()) << "the same folder as before";
  watch.watch("/absent");
  EXPECT_FALSE(watch.is_of_use());
  EXPECT_FALSE(watch.has_changed());
}

TEST(StateWatch, BelievesNoFolderThatMissesAChange) {
  const base::TestFolder folder;
  write(folder.path() + "/job_state");
  StateWatch watch;
  watch.watch(folder.path());
  replace(folder.path() + "/job_state");
  watch.mark();
  watch.asked(true, 0);
  watch.mark();
  watch.asked(false, kLater_ns);
  EXPECT_TRUE(watch.is_of_use()) << "the change was seen before the job was";
  watch.asked(true, kLater_ns);
  EXPECT_TRUE(watch.is_of_use()) << "it may be written late";
  replace(folder.path() + "/job_state");
  watch.mark();
  watch.asked(false, 3 * kLater_ns);
  EXPECT_TRUE(watch.is_of_use()) << "it was";
  watch.mark();
  watch.asked(true, 4 * kLater_ns);
  watch.mark();
  watch.asked(false, 5 * kLater_ns);
  EXPECT_FALSE(watch.is_of_use());
  replace(folder.path() + "/job_state");
  watch.mark();
  EXPECT_TRUE(watch.is_of_use());
}

TEST(StateWatch, KnowsTheFolderFromTheConfiguration) {
  EXPECT_EQ(state_folder("SrunPortRange           = 0-0\n"
                         "StateSaveLocation       = /var/spool/slurm ctld\nSuspendTime = NONE\n"),
            "/var/spool/slurm ctld");
  EXPECT_EQ(state_folder("StateSaveLocation = /var/%h\n"), "");
  EXPECT_EQ(state_folder("StateSaveLocation = (null)\n"), "");
  EXPECT_EQ(state_folder("SuspendTime = NONE"), "");
}

}  // namespace
}  // namespace goban::live::engine::slurm
