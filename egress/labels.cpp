#include "egress/labels.hpp"

#include <algorithm>

namespace paddock::egress {

namespace {

bool is_lower(char x) {
  return (x >= 'a' && x <= 'z') || (x >= '0' && x <= '9');
}

bool is_any(char x) {
  return is_lower(x) || (x >= 'A' && x <= 'Z');
}

/// Begins and ends with one of `outer`, and holds only those and `also` between; at most `longest` characters.
bool is_word(std::string_view x, bool (*outer)(char), std::string_view also, std::size_t longest) {
  return !x.empty() && x.size() <= longest && outer(x.front()) && outer(x.back())
         && std::all_of(x.begin(), x.end(), [&](char c) { return outer(c) || also.find(c) != std::string_view::npos; });
}

constexpr std::size_t longest_name = 253;

} // namespace

bool is_profile(std::string_view text) {
  return is_word(text, is_lower, "-", 63);
}

bool is_label_key(std::string_view text) {
  auto slash = text.find('/');
  if (slash == std::string_view::npos)
    return is_word(text, is_any, "-_.", 63);
  return is_word(text.substr(0, slash), is_lower, "-.", longest_name) && is_word(text.substr(slash + 1), is_any, "-_.", 63);
}

result<label_map> pod_labels(const egress_config& config, const label_map& extra) {
  auto got = extra;
  if (auto profile = config.profile_label()) {
    if (extra.contains(profile->first))
      return tl::unexpected{
        illegal_profile{"profileLabelKey", profile->first, "is the key of another label that the pod is asked to carry"}};
    got.insert(*profile);
  }
  return got;
}

label_map selected_labels(const egress_config& config, const std::string& template_name) {
  auto got = label_map{{std::string{template_label_key}, template_name}};
  if (auto profile = config.profile_label())
    got.insert(*profile);
  return got;
}

label_map per_sandbox_labels(const egress_config& config, const std::string& object_name) {
  if (!config.per_sandbox)
    return {};
  return {{config.per_sandbox->label_key, object_name}};
}

label_map without_per_sandbox_label(const egress_config& config, label_map labels) {
  if (config.per_sandbox)
    labels.erase(config.per_sandbox->label_key);
  return labels;
}

result<std::string> named_object_name(const egress_config& config, const std::string& template_name) {
  if (config.network_policy_name)
    return *config.network_policy_name;
  auto name = template_name + (config.profile ? "-" + *config.profile : "") + "-egress";
  if (config.profile && name.size() > longest_name)
    return tl::unexpected{illegal_profile{"profile", *config.profile,
                                          "makes the name of the policy longer than 253 characters (" + name
                                            + "): shorten it or set config.egress.networkPolicyName"}};
  return name;
}

} // namespace paddock::egress
