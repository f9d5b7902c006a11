#pragma once

#include <nlohmann/json.hpp>

#include <iostream>
#include <string>

namespace paddock::bench {

/// Prints one figure as scripts/bench wants it: one JSON object on one line. It holds when it is not above its bar.
inline void report(const std::string& name, double value, const std::string& unit, double bar) {
  std::cout << nlohmann::json{{"name", name}, {"value", value}, {"unit", unit}, {"bar", bar}, {"holds", value <= bar}}.dump() << std::endl;
}

} // namespace paddock::bench
