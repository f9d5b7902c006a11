#include "workspace/inventory.hpp"

#include "k8s/fenced_write.hpp"
#include "k8s/objects.hpp"

#include <string_view>

namespace paddock::workspace {

namespace {

constexpr std::string_view prefix = "namzu-ws-";
constexpr auto template_label = "/spec/podTemplate/metadata/labels/sandbox.namzu.ai~1template";

} // namespace

std::optional<summary> summarise(const nlohmann::json& sandbox) {
  const auto seen = k8s::read_sandbox(sandbox);
  const auto made_from = k8s::text_at(sandbox, template_label);
  if (!seen.name || !seen.name->starts_with(prefix) || !made_from)
    return std::nullopt;
  auto got = summary{};
  got.workspace = seen.name->substr(prefix.size());
  got.sandbox_name = *seen.name;
  got.template_name = *made_from;
  got.mode = k8s::to_string(seen.mode);
  got.created_at = seen.created;
  if (const auto at = seen.annotations.find(std::string{k8s::mode_changed_annotation}); at != seen.annotations.end() && !at->second.empty())
    got.mode_changed_at = at->second;
  got.holder_epoch = k8s::read_fence(sandbox).epoch;
  got.sandbox = seen.uid.value_or(sandbox_uid{});
  return got;
}

std::vector<summary> summarise_all(const std::optional<nlohmann::json>& list) {
  auto got = std::vector<summary>{};
  for (const auto& x : k8s::items_of(list))
    if (auto row = summarise(x))
      got.push_back(std::move(*row));
  return got;
}

} // namespace paddock::workspace
