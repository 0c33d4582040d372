#include "site/records/software_name.hpp"

#include <gtest/gtest.h>

namespace goban::site::records {
namespace {

TEST(SoftwareName, FoldersOfUsersGo) {
  for (const std::string_view path :
       {"/home/ann/images/x.sif", "~ann/x.sif", "~/images/x.sif", "./x.sif", "../ann/x.sif",
        "file:///home/ann/x.sif", "/home/ann/x.sif/", "docker-archive:/home/ann/x.sif"}) {
    EXPECT_EQ(without_folders(path), "x.sif") << path;
  }
  EXPECT_EQ(without_folders("oci:/home/ann/x:1"), "x:1");
  EXPECT_EQ(without_folders("/"), "");
}

TEST(SoftwareName, RegistriesAndModulesStay) {
  for (const std::string_view name :
       {"docker://nvcr.io/nvidia/pytorch:20.03", "nvcr.io#nvidia/pytorch", "localhost:5000/a/b:1",
        "cuda/12", "x.sif", "gcc", "oras://ghcr.io/ann/x:1", ""}) {
    EXPECT_EQ(without_folders(name), name);
  }
}

}  // namespace
}  // namespace goban::site::records
