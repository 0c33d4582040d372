#include "site/store/client_library.hpp"

#include <gmock/gmock.h>

namespace goban::site::store {
namespace {

using testing::HasSubstr;

TEST(ClientLibrary, FindsFunctions) {
  auto library = ClientLibrary::load("libz.so.1", "install zlib1g");
  ASSERT_TRUE(library) << library.error().message;
  unsigned long (*checksum)(unsigned long, const unsigned char*, unsigned) = nullptr;
  library->find(checksum, "crc32");
  ASSERT_NE(checksum, nullptr);
  EXPECT_EQ(checksum(0, reinterpret_cast<const unsigned char*>("123456789"), 9), 0xcbf43926);
  EXPECT_TRUE(library->complete());
}

TEST(ClientLibrary, NamesAMissingLibraryAndItsRemedy) {
  const auto library = ClientLibrary::load("libgoban-no-such.so.9", "install no-such");
  ASSERT_FALSE(library);
  EXPECT_THAT(library.error().message, HasSubstr("libgoban-no-such.so.9"));
  EXPECT_EQ(library.error().remedy, "install no-such");
}

TEST(ClientLibrary, NamesTheFirstMissingFunction) {
  auto library = ClientLibrary::load("libz.so.1", "install another");
  ASSERT_TRUE(library);
  int (*none)(int) = nullptr;
  library->find(none, "goban_no_such");
  library->find(none, "goban_none_either");
  EXPECT_EQ(none, nullptr);
  const auto status = library->complete();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "'libz.so.1' has no function 'goban_no_such'");
  EXPECT_EQ(status.error().remedy, "install another");
}

}  // namespace
}  // namespace goban::site::store
