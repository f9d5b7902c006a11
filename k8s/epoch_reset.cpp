#include "k8s/epoch_reset.hpp"

namespace paddock::k8s {

using nlohmann::json;

tl::expected<void, refusal> may_reset(const reading& seen, const named_epoch& named, std::uint64_t ours) {
  if (seen.uid != named.uid)
    return tl::unexpected{refusal{other_object{named.uid, seen.uid}}};
  if (seen.annotation != named.stored)
    return tl::unexpected{refusal{epoch_overtaken{ours, seen.annotation ? seen.epoch : std::nullopt, seen.annotation}}};
  return {};
}

tl::expected<call, std::string> compose_reset(std::string path, const named_epoch& named, std::uint64_t epoch, const reading& seen) {
  if (!seen.version)
    return tl::unexpected{path + ": the object has no resourceVersion to condition the write on"};
  const auto at = "/metadata/annotations/" + escape_pointer(epoch_annotation);
  return json_patch(std::move(path), json::array({
                                       {{"op", "test"}, {"path", "/metadata/uid"}, {"value", named.uid.text()}},
                                       {{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", *seen.version}},
                                       {{"op", "test"}, {"path", at}, {"value", named.stored}},
                                       {{"op", "add"}, {"path", at}, {"value", std::to_string(epoch)}},
                                     }));
}

} // namespace paddock::k8s
