#include "audit/answer.hpp"

#include "audit/words.hpp"

namespace paddock::audit {

using nlohmann::json;

std::vector<std::string> apply_shipped(const std::string& file, const std::vector<adaptation>& all) {
  auto got = std::vector<std::string>{};
  for (const auto& x : all)
    if (x.shipped != x.wanted)
      got.push_back("# in " + file + " write " + x.wanted + " instead of " + std::string{x.shipped});
  got.push_back("kubectl apply -f " + file);
  return got;
}

json to_json(const std::vector<egress::ignored_manifest>& all) {
  auto got = json::array();
  for (const auto& x : all)
    got.push_back({{"file", x.place.file}, {"line", x.place.line}, {"kind", x.kind}, {"name", x.name}, {"reason", x.why}});
  return got;
}

void add_refusal(json& to, const egress::egress_error& why, const std::vector<std::string>& remedy) {
  to["reason"] = egress::reason_of(why);
  to["message"] = egress::to_string(why);
  to["details"] = egress::details_of(why);
  to["mend"] = remedy;
}

void append_lines(std::string& to, const std::vector<egress::ignored_manifest>& ignored, const std::vector<std::string>& remedy) {
  for (const auto& x : ignored)
    to += one_line(to_string(x.place) + ": ignored: " + x.kind + " " + x.name + ": " + x.why) + "\n";
  for (const auto& command : remedy)
    to += one_line((command.starts_with('#') ? "" : "to mend it: ") + command) + "\n";
}

} // namespace paddock::audit
