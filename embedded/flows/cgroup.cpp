#include "embedded/flows/cgroup.hpp"

#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>
#include <utility>

namespace paddock::embedded {

namespace fs = std::filesystem;

namespace {

using namespace std::chrono_literals;

constexpr auto period = 100'000; // microseconds of cpu.max
constexpr auto most_cores = 1e6;
constexpr auto most_bytes = 1e18;

bool write_to(const fs::path& file, const std::string& text) {
  auto out = std::ofstream{file};
  out << text;
  out.flush();
  return out.good();
}

std::string read_from(const fs::path& file) {
  std::string result;
  auto in = std::ifstream{file};
  std::getline(in, result);
  return result;
}

/// Where this process stands in the v2 hierarchy, or nothing.
std::optional<fs::path> own_cgroup() {
  auto in = std::ifstream{"/proc/self/cgroup"};
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("0::/"))
      for (const auto* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"})
        if (auto error = std::error_code{}; fs::exists(fs::path{mount} / "cgroup.controllers", error))
          return fs::path{mount} / line.substr(4);
  return std::nullopt;
}

/// False: it is busy still.
bool end(const fs::path& cgroup) {
  write_to(cgroup / "cgroup.kill", "1");
  auto error = std::error_code{};
  for (const auto& entry : fs::directory_iterator{cgroup, error})
    if (entry.is_directory(error))
      end(entry.path());
  // A cgroup goes by rmdir, with its files.
  fs::remove(cgroup, error);
  return error != std::errc::device_or_resource_busy;
}

/// As `end`, and waits for what was killed to leave it, a second at most.
void end_and_wait(const fs::path& cgroup) {
  for (auto tries = 0; !end(cgroup) && tries < 50; ++tries)
    std::this_thread::sleep_for(20ms);
}

} // namespace

cgroup_tree cgroup_tree::open(const std::string& family) {
  if (auto own = own_cgroup())
    return below(*own, family);
  cgroup_tree result;
  result.fault_ = "limits of cpu and memory are not enforced: there is no cgroup v2";
  return result;
}

cgroup_tree cgroup_tree::below(const fs::path& parent, const std::string& family) {
  cgroup_tree result;
  auto refuse = [&](const std::string& why) { result.fault_ = "limits of cpu and memory are not enforced: " + why; };
  auto controllers = " " + read_from(parent / "cgroup.controllers") + " ";
  if (controllers.find(" cpu ") == std::string::npos || controllers.find(" memory ") == std::string::npos) {
    refuse(parent.string() + " has no cpu and memory controllers");
    return result;
  }
  auto root = parent / ("paddock-" + family);
  auto error = std::error_code{};
  if (fs::exists(root, error))
    end_and_wait(root);
  fs::create_directory(root, error);
  if (error) {
    refuse("cannot make " + root.string() + ": " + error.message());
    return result;
  }
  result.root_ = root;
  for (const auto& level : {parent, root})
    if (!write_to(level / "cgroup.subtree_control", "+cpu +memory")) {
      refuse("cannot enable the controllers of " + level.string() + " (it needs a delegated cgroup without processes of its own)");
      break;
    }
  return result;
}

cgroup_tree::cgroup_tree(cgroup_tree&& other) noexcept : root_(std::exchange(other.root_, {})), fault_(std::move(other.fault_)) {
}

cgroup_tree::~cgroup_tree() {
  if (!root_.empty())
    end_and_wait(root_);
}

std::optional<fs::path> cgroup_tree::make(const std::string& name, double cpu, double memory) {
  cpu = cpu <= most_cores ? cpu : 0;
  memory = memory <= most_bytes ? memory : 0;
  if (!fault_.empty() || (cpu <= 0 && memory <= 0))
    return std::nullopt;
  auto result = root_ / name;
  auto error = std::error_code{};
  fs::create_directory(result, error);
  if (cpu > 0)
    write_to(result / "cpu.max", std::to_string(std::max(1000LL, std::llround(cpu * period))) + " " + std::to_string(period));
  if (memory > 0)
    write_to(result / "memory.max", std::to_string(static_cast<std::uint64_t>(memory)));
  return result;
}

bool cgroup_tree::remove(const fs::path& cgroup) {
  return end(cgroup);
}

} // namespace paddock::embedded
