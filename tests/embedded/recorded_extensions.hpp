#pragma once

#include "base/time.hpp"
#include "embedded/pod_facts.hpp"

#include <nlohmann/json.hpp>

#include <fstream>

namespace paddock::embedded::test {

/// What the real controllers of templates, pools and claims were seen to do.
inline const nlohmann::json& recorded() {
  static const auto all = [] {
    auto file = std::ifstream{PADDOCK_TEST_RECORDINGS "/extensions.json"};
    return nlohmann::json::parse(file);
  }();
  return all;
}

inline time_source::wall_clock::time_point at(int hour, int minute, int second) {
  using namespace std::chrono;
  return sys_days{year{2026} / 11 / 29} + hours{hour} + minutes{minute} + seconds{second};
}

/// The template of the recordings when the first members were made.
inline nlohmann::json first_template() {
  return recorded().at("template").at("labelled");
}

} // namespace paddock::embedded::test
