#include "embedded/representation.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <vector>

namespace paddock::embedded {

namespace {

struct choice {
  std::string type;
  std::map<std::string, std::string, std::less<>> with;
  double weight = 1;

  [[nodiscard]] std::string text(std::string_view key) const {
    const auto found = with.find(key);
    return found == with.end() ? std::string{} : found->second;
  }
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

std::string_view take(std::string_view& rest, char end) {
  const auto at = std::min(rest.find(end), rest.size());
  const auto out = trimmed(rest.substr(0, at));
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return out;
}

choice read_choice(std::string_view text) {
  choice out;
  out.type = media_type(text);
  take(text, ';');
  while (!text.empty()) {
    auto one = take(text, ';');
    const auto key = std::string{take(one, '=')};
    out.with[key] = std::string{one};
  }
  if (const auto weight = out.text("q"); !weight.empty())
    out.weight = std::strtod(weight.c_str(), nullptr);
  return out;
}

/// The heaviest first, else in their order.
std::vector<choice> read_choices(std::string_view accept) {
  std::vector<choice> out;
  while (!accept.empty())
    out.push_back(read_choice(take(accept, ',')));
  std::stable_sort(out.begin(), out.end(), [](const choice& a, const choice& b) { return a.weight > b.weight; });
  return out;
}

std::optional<representation> served(const choice& x) {
  representation out;
  out.yaml = x.type == "application/yaml";
  if (x.type != "application/json" && x.type != "application/*" && x.type != "*/*" && !out.yaml)
    return std::nullopt;
  const auto as = x.text("as");
  if (as.empty())
    return out;
  const auto version = x.text("v");
  if (x.text("g") != "meta.k8s.io" || (version != "v1" && version != "v1beta1"))
    return std::nullopt;
  out.version = version;
  if (as == "Table")
    out.what = representation::form::table;
  else if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList")
    out.what = representation::form::metadata;
  else
    return std::nullopt;
  return out;
}

} // namespace

std::string media_type(std::string_view text) {
  std::string out;
  for (const char c : trimmed(text.substr(0, text.find(';'))))
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::optional<representation> negotiate(std::string_view accept, std::string_view include_object) {
  if (trimmed(accept).empty())
    return representation{};
  for (const auto& x : read_choices(accept)) {
    auto found = served(x);
    if (!found)
      continue;
    if (include_object == "None")
      found->beside = representation::rows::none;
    else if (include_object == "Object")
      found->beside = representation::rows::object;
    return found;
  }
  return std::nullopt;
}

bool wants_aggregated(std::string_view accept) {
  for (const auto& x : read_choices(accept)) {
    if (x.type != "application/json" && x.type != "*/*")
      continue;
    return x.text("as") == "APIGroupDiscoveryList" && x.text("g") == "apidiscovery.k8s.io" && x.text("v") == "v2";
  }
  return false;
}

} // namespace paddock::embedded
