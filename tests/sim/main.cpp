// Runs seeds of the simulation (scripts/sim).

#include "tests/sim/simulation.hpp"

#include <caf/init_global_meta_objects.hpp>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>

using namespace paddock::sim;

namespace {

constexpr const char* usage = "usage: sim [--from SEED] [--seeds N] [--minutes M] [--bug NAME] [--history] [--bugs]\n";

struct options {
  std::uint64_t from = 1;
  std::uint64_t seeds = 2000;
  std::uint64_t minutes = 0; // 0: as long as it takes
  std::string bug;
  bool history = false;
  bool list = false;
};

bool read_number(const char* text, std::uint64_t& to) {
  const auto* end = text + std::strlen(text);
  const auto got = std::from_chars(text, end, to);
  return got.ec == std::errc{} && got.ptr == end;
}

bool read(int argc, char** argv, options& to) {
  for (auto i = 1; i < argc; ++i) {
    const auto name = std::string_view{argv[i]};
    const auto* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (name == "--history")
      to.history = true;
    else if (name == "--bugs")
      to.list = true;
    else if (value == nullptr)
      return false;
    else if (name == "--bug")
      to.bug = argv[++i];
    else if (auto* number = name == "--from"      ? &to.from
                            : name == "--seeds"   ? &to.seeds
                            : name == "--minutes" ? &to.minutes
                                                  : nullptr;
             number == nullptr || !read_number(argv[++i], *number))
      return false;
  }
  return true;
}

void print(const outcome& x) {
  for (const auto& line : x.history)
    std::printf("  %s\n", line.c_str());
}

} // namespace

int main(int argc, char** argv) {
  auto how = options{};
  if (!read(argc, argv, how)) {
    std::fputs(usage, stderr);
    return 2;
  }
  if (how.list) {
    for (const auto& x : planted_bugs())
      std::printf("%-28s %-52s %s\n", std::string{x.name}.c_str(), std::string{x.breaks}.c_str(), std::string{x.shows}.c_str());
    return 0;
  }
  const auto* bug = how.bug.empty() ? nullptr : find_bug(how.bug);
  if (!how.bug.empty() && bug == nullptr) {
    std::fprintf(stderr, "sim: there is no bug '%s' (--bugs lists them)\n", how.bug.c_str());
    return 2;
  }
  caf::core::init_global_meta_objects();
  const auto start = std::chrono::steady_clock::now();
  auto ran = std::uint64_t{0};
  for (auto seed = how.from; seed < how.from + how.seeds; ++seed) {
    if (how.minutes > 0 && std::chrono::steady_clock::now() - start > std::chrono::minutes{how.minutes})
      break;
    const auto got = run_seed(seed, bug);
    ++ran;
    if (!got.violations.empty()) {
      print(got);
      std::printf("seed %llu: %s: %s\n  once more: scripts/sim --from %llu --seeds 1%s%s\n", static_cast<unsigned long long>(seed),
                  got.violations.front().invariant.c_str(), got.violations.front().what.c_str(), static_cast<unsigned long long>(seed),
                  bug != nullptr ? " --bug " : "", how.bug.c_str());
      return 1;
    }
    if (how.history)
      print(got);
  }
  std::printf("%llu seeds from %llu: every invariant held\n", static_cast<unsigned long long>(ran),
              static_cast<unsigned long long>(how.from));
  return 0;
}
