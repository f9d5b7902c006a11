// Feeds a fuzz target with its seeds, one after another and without libFuzzer, so that every compiler and every preset holds them
// against it. Names each before it is fed: the last name is that of the one that broke something.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

namespace fs = std::filesystem;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  auto seeds = std::vector<fs::path>{};
  auto ec = std::error_code{};
  for (const auto& entry : fs::directory_iterator{argv[1], ec})
    seeds.push_back(entry.path());
  if (ec || seeds.empty()) {
    std::fprintf(stderr, "no seed in %s\n", argv[1]);
    return 1;
  }
  std::sort(seeds.begin(), seeds.end());
  for (const auto& seed : seeds) {
    std::fprintf(stderr, "%s\n", seed.c_str());
    auto in = std::ifstream{seed, std::ios::binary};
    const auto bytes = std::string{std::istreambuf_iterator<char>{in}, {}};
    if (!in) {
      std::fputs("cannot be read\n", stderr);
      return 1;
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  return 0;
}
