#include "core/knowledge/app_class.hpp"

#include <gtest/gtest.h>

namespace goban::core::knowledge {
namespace {

TEST(AppClass, ModelsOfTheSpec) {
  EXPECT_EQ(class_of_model("resnet50").letter(), 'A');
  for (const char* name : {"DCGAN", "BERT", "GPT2"}) EXPECT_EQ(class_of_model(name).letter(), 'B');
  EXPECT_EQ(class_of_model("vgg19").letter(), 'C');
  EXPECT_EQ(class_of_model("PointNet").letter(), 'D');
  EXPECT_EQ(class_of_model("my-model").letter(), 'A');
  EXPECT_EQ(class_of_model("").letter(), 'A');
}

TEST(AppClass, NamesAreExact) {
  EXPECT_EQ(base_seconds_of_model("resnet50"), 0.17540429367763434);
  for (const char* name : {"ResNet50", "resnet5", "resnet500", ""}) {
    EXPECT_FALSE(find_known_model(name)) << name;
    EXPECT_FALSE(base_seconds_of_model(name)) << name;
  }
  EXPECT_EQ(list_known_models(), "BERT, DCGAN, GPT2, PointNet, resnet50, vgg19");
}

TEST(AppClass, ClassesHaveLetters) {
  EXPECT_EQ(parse_app_class("C"), model::AppClass{2});
  for (const char* text : {"", "a", "AB", "1"}) EXPECT_FALSE(parse_app_class(text)) << text;
}

}  // namespace
}  // namespace goban::core::knowledge
