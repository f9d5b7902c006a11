#include "workspace/expected_identity.hpp"

#include "k8s/objects.hpp"
#include "workspace/reads.hpp"

#include <nlohmann/json.hpp>

namespace paddock::workspace {

namespace {

/// The uid of a Sandbox that owns `object` and is not `owner`.
std::optional<std::string> other_owner(const nlohmann::json& object, const sandbox_uid& owner) {
  auto other = std::optional<std::string>{};
  const auto* all = find(object, {"metadata", "ownerReferences"});
  if (all == nullptr || !all->is_array())
    return other;
  for (const auto& x : *all) {
    const auto uid = text_at(x, {"uid"});
    if (text_at(x, {"kind"}) != "Sandbox" || !uid)
      continue;
    if (*uid == owner.text())
      return std::nullopt;
    other = uid;
  }
  return other;
}

} // namespace

session without_object(const session& x) {
  auto got = session{};
  got.epoch = x.epoch;
  return got;
}

session of_expected(const session& x, const std::optional<sandbox_uid>& expect) {
  if (!expect || x.sandbox == expect)
    return x;
  auto got = x.sandbox ? without_object(x) : x;
  got.sandbox = expect;
  return got;
}

failure sandbox_absent(const id& which, const sandbox_uid& expected) {
  return identity_mismatch{which.text(), which.sandbox_name(), "sandbox-absent", expected.text(), std::nullopt};
}

result<void> check_expected_sandbox(const id& which, const sandbox_uid& expected, const nlohmann::json& sandbox) {
  const auto actual = k8s::read_sandbox(sandbox).uid;
  if (actual == expected)
    return {};
  return tl::unexpected{failure{identity_mismatch{which.text(), which.sandbox_name(), "sandbox-uid", expected.text(),
                                                  actual ? std::optional{actual->text()} : std::nullopt}}};
}

result<void> check_expected_claim(const id& which, const sandbox_uid& owner, const std::string& entry, const claim_uid& expected,
                                  const nlohmann::json& claim) {
  const auto actual = text_at(claim, {"metadata", "uid"});
  if (actual != expected.text())
    return tl::unexpected{
      failure{identity_mismatch{which.text(), which.sandbox_name(), "volume-claim-uid", expected.text(), actual, entry}}};
  if (auto other = other_owner(claim, owner))
    return tl::unexpected{
      failure{identity_mismatch{which.text(), which.sandbox_name(), "volume-claim-owner", owner.text(), std::move(other), entry}}};
  return {};
}

} // namespace paddock::workspace
