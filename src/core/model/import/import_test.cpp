// Imports by example. The Slurm texts are our own, based on the manual pages of 22.05 to 24.05.
#include <gmock/gmock.h>

#include "base/test_data.hpp"
#include "base/text_file.hpp"
#include "core/model/cluster_file.hpp"
#include "core/model/import/alibaba_nodes.hpp"
#include "core/model/import/gpu_specs.hpp"
#include "core/model/import/host_list.hpp"
#include "core/model/import/kubernetes_nodes.hpp"
#include "core/model/import/slurm_nodes.hpp"

namespace goban::core::model {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string corpus(const std::string& name) {
  return base::read_text_file(GOBAN_SOURCE_DIR "/tests/corpus/" + name).value();
}

SiteNodes slurm(const std::string& name) {
  auto site = parse_slurm_nodes(corpus("slurm_nodes/" + name), name);
  EXPECT_TRUE(site) << (site ? "" : site.error().text());
  return site.value_or(SiteNodes{});
}

std::string slurm_error(const std::string& text) {
  const auto site = parse_slurm_nodes(text, "f");
  return site ? "fine" : site.error().text();
}

ImportedCluster build(SiteNodes site, const ClusterImportOptions& options = {}) {
  auto built = build_site_cluster(std::move(site), options);
  EXPECT_TRUE(built) << (built ? "" : built.error().text());
  return std::move(*built);
}

std::vector<std::string> node_names(const Cluster& cluster) {
  std::vector<std::string> names;
  for (const Node& node : cluster.nodes()) names.push_back(node.name);
  return names;
}

const TopologyLevel* level(const Cluster& cluster, std::string_view name) {
  const auto found = std::ranges::find(cluster.levels(), name, &TopologyLevel::name);
  return found == cluster.levels().end() ? nullptr : &*found;
}

TEST(AlibabaNodes, ModelsBecomeResourceTypes) {
  auto site = parse_alibaba_nodes(corpus("alibaba_nodes/four.csv"), "four.csv");
  ASSERT_TRUE(site) << site.error().text();
  const ImportedCluster built = build(std::move(*site), {.model_types = true});
  const Cluster& cluster = built.cluster;
  EXPECT_THAT(node_names(cluster), ElementsAre("n2", "n3", "n9", "n10"));
  EXPECT_EQ(cluster.num_gpus(), 21U);  // 1 + 4 + 8 + 8
  EXPECT_EQ(cluster.nodes()[0].host.cores, 128);
  ASSERT_EQ(cluster.resource_types().size(), 1U + 4U + 8U);
  const ResourceType& type = cluster.resource_type(cluster.find_resource_type("A100-SXM4-80GBx3"));
  EXPECT_EQ(type.gpus, 3);
  EXPECT_EQ(type.max_instances, 4);  // two on each node
  EXPECT_THAT(type.nodes, ElementsAre(false, false, true, true));
  const auto again = parse_cluster(to_toml(cluster), "again.toml");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->resource_type(again->find_resource_type("A10x1")).nodes,
            (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(to_toml(*again), to_toml(cluster));
}

TEST(AlibabaNodes, ErrorsNameLineAndField) {
  const auto error = [](std::string_view text) {
    const auto site = parse_alibaba_nodes(text, "f.csv");
    return site ? "fine" : site.error().text();
  };
  EXPECT_THAT(
      error(corpus("alibaba_nodes/bad_count.csv")),
      HasSubstr("f.csv:2:5: gpu_capacity_num: 'many' is not a whole number (give 0 to 255)"));
  EXPECT_THAT(error("gpu_model,cpu_num,node_name\n"), HasSubstr("gpu_capacity_num"));
  EXPECT_THAT(error("gpu_model,gpu_capacity_num,cpu_num,node_name\n"), HasSubstr("no nodes"));
}

TEST(SlurmGres, EveryDocumentedFormIsRead) {
  const auto gres = [](std::string_view text) {
    const auto gpus = parse_slurm_gres(text);
    return gpus ? std::tuple(gpus->count, gpus->type, gpus->sockets)
                : std::tuple(int64_t{-1}, gpus.error().text(), int64_t{-1});
  };
  using T = std::tuple<int64_t, std::string, int64_t>;
  EXPECT_EQ(gres("gpu:a100:4(S:0-1)"), T(4, "a100", 2));
  EXPECT_EQ(gres("gpu:4"), T(4, "", 0));
  EXPECT_EQ(gres("gpu"), T(1, "", 0));
  EXPECT_EQ(gres("gres/gpu:2"), T(2, "", 0));
  EXPECT_EQ(gres("nic:2,gpu:a100:2(S:0),gpu:v100:1(S:0-1),gpu:a100:1"), T(4, "a100+v100", 2));
  EXPECT_EQ(gres("gpu:tesla:no_consume:4"), T(4, "tesla", 0));
  EXPECT_EQ(gres("gpu:no_consume:4"), T(4, "", 0));
  EXPECT_EQ(gres("gpu:a100:4(S:0,2-3)"), T(4, "a100", 3));
  EXPECT_EQ(gres("gpu:1g.5gb:7(S:0)"), T(7, "1g.5gb", 1));
  EXPECT_EQ(gres("(null)"), T(0, "", 0));
  EXPECT_EQ(gres(""), T(0, "", 0));
  EXPECT_EQ(gres("craynetwork:4"), T(0, "", 0));
  EXPECT_EQ(gres("gpu:a100"),
            T(-1,
              "\"gpu:a100\" has no valid number of GPUs (generic resources have the form "
              "gpu:a100:4(S:0-1))",
              -1));
}

TEST(SlurmTres, TypedEntriesNameThePlainCount) {
  const auto both = parse_slurm_tres("cpu=8,mem=1G,gres/gpu=4,gres/gpu:a100=4,gres/nic=1");
  EXPECT_EQ(both->count, 4);
  EXPECT_EQ(both->type, "a100");
  EXPECT_EQ(parse_slurm_tres("gres/gpu:a100=3,gres/gpu:v100=1")->count, 4);
  EXPECT_EQ(parse_slurm_tres("cpu=8")->count, 0);
  EXPECT_FALSE(parse_slurm_tres("gres/gpu=x"));
}

TEST(SlurmStates, DownAndDrainedNodesAreNotUsable) {
  for (const char* state : {"IDLE", "MIXED", "ALLOCATED+CLOUD", "IDLE+POWERED_DOWN", "IDLE+PLANNED",
                            "RESERVED", "IDLE+POWER_DOWN"}) {
    EXPECT_TRUE(slurm_state_usable(state)) << state;
  }
  for (const char* state : {"DOWN", "DOWN*", "IDLE+DRAIN", "DRAINED", "MIXED+DRAIN", "FAIL",
                            "FUTURE", "INVAL", "DOWN+NOT_RESPONDING"}) {
    EXPECT_FALSE(slurm_state_usable(state)) << state;
  }
}

TEST(HostList, RangesAreExpanded) {
  EXPECT_THAT(*expand_host_list("g[001-003,7],login1"),
              ElementsAre("g001", "g002", "g003", "g7", "login1"));
  EXPECT_THAT(*expand_host_list("r[1-2]n[09-10]x"),
              ElementsAre("r1n09x", "r1n10x", "r2n09x", "r2n10x"));
  EXPECT_THAT(*expand_host_list(""), IsEmpty());
  for (const char* bad :
       {"g[1", "g[3-1]", "g[a-b]", "g[1-99999999]", "g[]", "g[1-]", "a[1-999]b[1-999]"}) {
    EXPECT_FALSE(expand_host_list(bad)) << bad;
  }
}

TEST(SlurmNodes, TextOfScontrolShowNode) {
  const SiteNodes site = slurm("show_node.txt");
  ASSERT_EQ(site.nodes.size(), 2u);
  const SiteNode& first = site.nodes[0];
  EXPECT_EQ(first.name, "g001");
  EXPECT_EQ(first.num_gpus, 4);
  EXPECT_EQ(first.gpu_model, "A100-SXM4-80GB");
  EXPECT_EQ(first.sockets, 2);
  EXPECT_EQ(first.host.cores, 128);
  EXPECT_EQ(first.host.mem_bytes, int64_t{515000} << 20);
  EXPECT_EQ(first.host.ssd_bytes, int64_t{800000} << 20);
  EXPECT_THAT(first.partitions, ElementsAre("gpu", "long"));
  EXPECT_TRUE(first.usable);
  EXPECT_FALSE(site.nodes[1].usable);
  EXPECT_EQ(site.nodes[1].state, "DOWN*+DRAIN");

  const ImportedCluster all = build(site, {.name = "mine", .socket_islands = true});
  EXPECT_EQ(all.cluster.num_gpus(), 8u);
  EXPECT_EQ(level(all.cluster, "island")->num_domains(), 4u);
  EXPECT_EQ(all.cluster.gpu_models()[0].mem_bytes, int64_t{80} << 30);
  EXPECT_EQ(all.cluster.gpu_models()[0].power_max_w, 400);
  EXPECT_THAT(all.notes, Contains(HasSubstr("g002 (DOWN*+DRAIN)")));
  EXPECT_THAT(all.notes, Contains(HasSubstr("partitions (gpu, long)")));
  const ImportedCluster usable = build(site, {.name = "mine", .only_usable = true});
  EXPECT_THAT(node_names(usable.cluster), ElementsAre("g001"));
}

TEST(SlurmNodes, JsonOf2205HasAStateAndFlags) {
  const SiteNodes site = slurm("show_node_2205.json");
  ASSERT_EQ(site.nodes.size(), 2u);
  EXPECT_EQ(site.nodes[0].num_gpus, 4);
  EXPECT_EQ(site.nodes[0].gpu_model, "v100+t4");
  EXPECT_EQ(site.nodes[0].state, "IDLE+DRAIN");
  EXPECT_FALSE(site.nodes[0].usable);
  EXPECT_EQ(site.nodes[1].num_gpus, 4) << "from tres";
  EXPECT_EQ(site.nodes[1].gpu_model, "v100");
  EXPECT_THAT(site.notes, Contains(HasSubstr("g1 has GPUs of several types")));
  const ImportedCluster built = build(site);
  EXPECT_THAT(built.notes,
              Contains(HasSubstr("GPU model v100: memory and power limit are unknown")));
}

TEST(SlurmNodes, JsonOf2405HasListsAndWrappedNumbers) {
  const SiteNodes site = slurm("show_node_2405.json");
  ASSERT_EQ(site.nodes.size(), 2u);
  EXPECT_TRUE(site.nodes[0].usable) << "it sleeps";
  EXPECT_FALSE(site.nodes[1].usable);
  EXPECT_EQ(site.nodes[1].host.cores, 192);
  EXPECT_THAT(site.notes, Contains(HasSubstr("1 node in state FUTURE")));
  const ImportedCluster built = build(site);
  EXPECT_THAT(node_names(built.cluster), ElementsAre("n9", "n10"));
  EXPECT_EQ(built.cluster.gpu_models()[0].power_max_w, 700);
}

TEST(SlurmNodes, SinfoListsNodesByPartition) {
  const SiteNodes site = slurm("sinfo_2311.json");
  const ImportedCluster built = build(site);
  EXPECT_THAT(node_names(built.cluster), ElementsAre("a01", "a02", "b1"));
  EXPECT_EQ(built.cluster.num_gpus(), 24u);
  EXPECT_EQ(built.cluster.nodes()[0].host.cores, 32);
  EXPECT_THAT(built.notes, Contains(HasSubstr("sinfo[0].memory ranges from 128000 to 129000")));
  EXPECT_THAT(built.notes, Contains(HasSubstr("partitions (debug, inference)")));
}

// Recorded from Debian's slurmctld 22.05.8 with nodes that do not exist.
TEST(SlurmNodes, RealOutputOf2205) {
  SiteNodes text = slurm("real_2205_show_node.txt");
  SiteNodes json = slurm("real_2205_sinfo.json");
  for (SiteNodes* site : {&text, &json}) {
    ASSERT_EQ(site->nodes.size(), 7u);
    EXPECT_EQ(site->nodes[0].num_gpus, 4);
    EXPECT_EQ(site->nodes[0].gpu_model, "A100-SXM4-40GB");
    EXPECT_EQ(site->nodes[0].host.mem_bytes, int64_t{256000} << 20);
    EXPECT_TRUE(site->nodes[0].usable);
    EXPECT_FALSE(site->nodes[1].usable) << site->nodes[1].state;
    EXPECT_THAT(site->nodes[0].partitions, ElementsAre("gpu", "all"));
    ASSERT_TRUE(add_slurm_topology(corpus("slurm_nodes/real_2205_topology.txt"), "t", *site));
  }
  const ImportedCluster a = build(text);
  EXPECT_EQ(to_toml(a.cluster), to_toml(build(json).cluster));
  EXPECT_EQ(a.cluster.num_gpus(), 32u);
  EXPECT_EQ(level(a.cluster, "rack")->num_domains(), 3u);
}

TEST(SlurmNodes, ProblemsNameTheirPlace) {
  EXPECT_EQ(slurm_error("\nNodeName=x CPUTot=1e3 Gres=gpu:1\n"),
            "f:2: CPUTot: \"1e3\" must be an integer (pass the output of scontrol unmodified)");
  EXPECT_EQ(slurm_error("NodeName=x\n  Gres=gpu:many\n"),
            "f:2: Gres: \"gpu:many\" has no valid number of GPUs (generic resources have the form "
            "gpu:a100:4(S:0-1))");
  EXPECT_EQ(slurm_error("slurm_load_node error\n"),
            "f:1: \"slurm_load_node\" is unexpected (records begin with NodeName=)");
  EXPECT_THAT(slurm_error("{\"nodes\": [{\"name\": \"a\", \"cpus\": -1}]}"),
              HasSubstr("f: nodes[0].cpus: must be a number"));
  EXPECT_THAT(slurm_error("{\"nodes\": [{\"name\": \"a\", \"gres\": \"gpu:x\"}]}"),
              HasSubstr("f: nodes[0].gres: \"gpu:x\" has no valid number"));
  EXPECT_THAT(slurm_error("{\n\"nodes\": [\n"), HasSubstr("f:3:1: invalid JSON: "));
  EXPECT_THAT(slurm_error("{}"), HasSubstr("contains neither a list nodes nor a list sinfo"));
  EXPECT_THAT(slurm_error(""), HasSubstr("contains no nodes"));
  const auto cpu_only = build_site_cluster(*parse_slurm_nodes("NodeName=x CPUTot=4", "f"), {});
  EXPECT_THAT(cpu_only.error().text(), HasSubstr("no node has GPUs"));
  const auto twice = build_site_cluster(
      *parse_slurm_nodes("NodeName=x Gres=gpu:1\nNodeName=x Gres=gpu:2", "f"), {});
  EXPECT_THAT(twice.error().text(), HasSubstr("f:2: node x is listed twice"));
  const auto large = build_site_cluster(*parse_slurm_nodes("NodeName=x Gres=gpu:256", "f"), {});
  EXPECT_THAT(large.error().text(), HasSubstr("f:1: gpus: node x has 256 GPUs"));
}

TEST(SlurmTopology, LeafSwitchesAreRacksAndTheirParentsZones) {
  std::string text;
  for (int i = 1; i <= 9; ++i) text += "NodeName=g" + std::to_string(i) + " Gres=gpu:2\n";
  SiteNodes site = *parse_slurm_nodes(text, "f");
  const auto status = add_slurm_topology(
      "# a tree\n"
      "SwitchName=s0 Nodes=g[1-2]\nSwitchName=s1 Nodes=g[3-4]\nSwitchName=s2 Nodes=g[5-8],old1\n"
      "SwitchName=t0 Switches=s[0-1]\nSwitchName=t1 Switches=s2\nSwitchName=root Switches=t[0-1]\n",
      "topology.conf", site);
  ASSERT_TRUE(status) << status.error().text();
  const ImportedCluster built = build(site);
  EXPECT_EQ(level(built.cluster, "rack")->num_domains(), 4u);
  EXPECT_EQ(level(built.cluster, "zone")->num_domains(), 3u);
  EXPECT_THAT(built.notes,
              Contains(HasSubstr("rack of some nodes is unknown; they share one: g9")));
  EXPECT_THAT(built.notes,
              Contains(HasSubstr("1 nodes of topology.conf are not in the node list")));
}

TEST(SlurmTopology, OneLayerAndBlocksGiveRacksOnly) {
  for (const char* kind : {"SwitchName", "BlockName"}) {
    SiteNodes site = *parse_slurm_nodes(
        "NodeName=g1 Gres=gpu:2\nNodeName=g2 Gres=gpu:2\nNodeName=g3 Gres=gpu:2\n", "f");
    const std::string text = std::string(kind) + "=a Nodes=g[1,3]\n" + kind + "=b Nodes=g2\n";
    ASSERT_TRUE(add_slurm_topology(text, "t", site));
    const ImportedCluster built = build(site);
    EXPECT_THAT(node_names(built.cluster), ElementsAre("g1", "g3", "g2")) << "racks together";
    EXPECT_EQ(level(built.cluster, "rack")->num_domains(), 2u);
    EXPECT_EQ(level(built.cluster, "zone"), nullptr);
  }
  SiteNodes site;
  EXPECT_EQ(
      add_slurm_topology("SwitchName=a Nodes=g[2-1]\n", "t", site).error().text(),
      "t:1: Nodes: \"2-1\" is not a valid range (a host list has the form g[001-004,7],login1)");
  EXPECT_THAT(add_slurm_topology("SwitchName=a Nodes=g1\nSwitchName=b Nodes=g1\n", "t", site)
                  .error()
                  .text(),
              HasSubstr("node g1 is below two switches"));
}

TEST(KubernetesNodes, ListsWithTopologyLabels) {
  const auto site = parse_kubernetes_nodes(corpus("kubernetes_nodes/list.json"), "f");
  ASSERT_TRUE(site) << site.error().text();
  ASSERT_EQ(site->nodes.size(), 3u);
  const SiteNode& first = site->nodes[0];
  EXPECT_EQ(first.num_gpus, 8);
  EXPECT_EQ(first.host.cores, 63) << "63500m";
  EXPECT_EQ(first.host.mem_bytes, int64_t{1056000000} << 10);
  EXPECT_EQ(first.host.ssd_bytes, 1'000'000'000'000);
  EXPECT_EQ(first.gpu_mem_bytes, int64_t{81559} << 20);
  EXPECT_EQ(first.rack, "r1");
  EXPECT_EQ(first.zone, "b2");
  EXPECT_EQ(first.site, "eu/eu-1");
  EXPECT_EQ(site->nodes[1].state, "Ready,SchedulingDisabled");
  EXPECT_FALSE(site->nodes[1].usable);
  EXPECT_EQ(site->nodes[2].state, "NotReady");
  const ImportedCluster built = build(*site);
  EXPECT_EQ(built.cluster.num_gpus(), 16u);
  EXPECT_EQ(level(built.cluster, "rack")->num_domains(), 3u) << "r1 of b1 is not r1 of b2";
}

TEST(KubernetesNodes, QuantitiesAndProblems) {
  EXPECT_EQ(*parse_kubernetes_quantity("64"), 64);
  EXPECT_EQ(*parse_kubernetes_quantity("500m"), 0);
  EXPECT_EQ(*parse_kubernetes_quantity("512Gi"), int64_t{512} << 30);
  EXPECT_EQ(*parse_kubernetes_quantity("129M"), 129'000'000);
  EXPECT_EQ(*parse_kubernetes_quantity("1e3"), 1000);
  for (const char* bad : {"", "lots", "-1", "1Zi", "nan", "1e300"}) {
    EXPECT_FALSE(parse_kubernetes_quantity(bad)) << bad;
  }
  const auto error = [](const std::string& text) {
    const auto site = parse_kubernetes_nodes(text, "f");
    return site ? "fine" : site.error().text();
  };
  EXPECT_EQ(
      error(corpus("kubernetes_nodes/bad_quantity.json")),
      "f: Node.status.allocatable.cpu: \"lots\" is not a quantity (such as 64, 500m or 512Gi)");
  EXPECT_THAT(error(corpus("kubernetes_nodes/pods.json")), HasSubstr("items[0].kind: \"Pod\""));
  EXPECT_THAT(error("[1, 2"), HasSubstr("f:1:6: invalid JSON: "));
  EXPECT_THAT(error("{}"), HasSubstr("contains no nodes"));
}

TEST(KubernetesNodes, ARecordedNodeOfARealCluster) {
  const auto path = base::test_data("k8s-samples/node.json");
  if (!path) GTEST_SKIP() << path.error().text();
  const auto site = parse_kubernetes_nodes(base::read_text_file(*path).value(), "node.json");
  ASSERT_TRUE(site) << site.error().text();
  const ImportedCluster built = build(*site);
  EXPECT_EQ(built.cluster.num_gpus(), 8u);
  EXPECT_EQ(built.cluster.gpu_models()[0].name, "NVIDIA-A100-SXM4-80GB");
  EXPECT_EQ(level(built.cluster, "zone")->num_domains(), 1u);
}

TEST(GpuSpecs, NamesOfSlurmAndKubernetesAreKnown) {
  EXPECT_EQ(find_gpu_spec("NVIDIA-A100-SXM4-80GB")->power_max_w, 400);
  EXPECT_EQ(find_gpu_spec("Tesla V100-SXM2-16GB")->mem_bytes, int64_t{16} << 30);
  EXPECT_EQ(find_gpu_spec("nvidia_h100_80gb_hbm3")->power_max_w, 700);
  EXPECT_EQ(find_gpu_spec("a100")->mem_bytes, 0) << "40 or 80 GB: the name does not say";
  EXPECT_EQ(find_gpu_spec("mi300x"), nullptr);
}

}  // namespace
}  // namespace goban::core::model
