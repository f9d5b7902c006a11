#include "apps/paddock/inventory.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iomanip>
#include <sstream>

namespace paddock::cli {

namespace {

std::string age_of(const std::optional<std::string>& at, time_source::wall_clock::time_point now) {
  return at ? cli::age_of(*at, now) : "-";
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

} // namespace

std::string age_of(const std::string& at, time_source::wall_clock::time_point now) {
  auto parts = std::tm{};
  auto in = std::istringstream{at};
  in >> std::get_time(&parts, "%Y-%m-%dT%H:%M:%S");
  if (in.fail())
    return "-";
  const auto then = time_source::wall_clock::from_time_t(::timegm(&parts));
  const auto seconds = std::max(std::chrono::duration_cast<std::chrono::seconds>(now - then), std::chrono::seconds{0}).count();
  if (seconds < 120)
    return std::to_string(seconds) + "s";
  if (seconds < 120 * 60)
    return std::to_string(seconds / 60) + "m";
  if (seconds < 48 * 3600)
    return std::to_string(seconds / 3600) + "h";
  return std::to_string(seconds / 86400) + "d";
}

void print_inventory(std::ostream& out, format how, const std::vector<workspace_view>& all, const std::string& node,
                     time_source::wall_clock::time_point now) {
  if (how == format::json) {
    auto items = nlohmann::json::array();
    for (const auto& x : all) {
      items.push_back(to_json(x));
      if (!x.state.empty())
        items.back()["node"] = node;
    }
    out << items.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    return;
  }
  if (how == format::name) {
    for (const auto& x : all)
      out << x.workspace << '\n';
    return;
  }
  auto rows = std::vector<std::vector<std::string>>{{"WORKSPACE", "AGE", "MODE", "SINCE", "STATE", "TEMPLATE", "EPOCH", "NODE"}};
  for (const auto& x : all)
    rows.push_back({x.workspace, age_of(x.created_at, now), or_dash(x.mode), age_of(x.mode_changed_at, now), or_dash(x.state),
                    or_dash(x.template_name), x.holder_epoch ? std::to_string(*x.holder_epoch) : "?", x.state.empty() ? "-" : node});
  print_table(out, rows);
}

} // namespace paddock::cli
