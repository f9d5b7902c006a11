#include "k8s/fenced_write.hpp"

#include <charconv>

namespace paddock::k8s {

using nlohmann::json;

namespace {

constexpr auto annotations_path = "/metadata/annotations";
constexpr auto mode_path = "/spec/operatingMode";

json test_of(std::string path, std::string value) {
  return json{{"op", "test"}, {"path", std::move(path)}, {"value", std::move(value)}};
}

json add_of(std::string path, json value) {
  return json{{"op", "add"}, {"path", std::move(path)}, {"value", std::move(value)}};
}

std::string annotation_pointer(std::string_view key) {
  return std::string{annotations_path} + "/" + escape_pointer(key);
}

std::vector<std::pair<std::string, std::string>> annotations_of(const sandbox_write& what, const holder& who,
                                                                time_source::wall_clock::time_point now) {
  auto got = std::vector<std::pair<std::string, std::string>>{};
  if (who.epoch)
    got.emplace_back(epoch_annotation, std::to_string(*who.epoch));
  if (what.mode)
    got.emplace_back(mode_changed_annotation, rfc3339_millis(now));
  got.insert(got.end(), what.more_annotations.begin(), what.more_annotations.end());
  return got;
}

/// The refusal of [W] 4.5 and 4.6 that comes before everything else.
std::optional<refusal> stranger(const std::optional<sandbox_uid>& expected, const reading& now) {
  if (expected && now.uid != expected)
    return other_object{*expected, now.uid};
  return std::nullopt;
}

} // namespace

// -- reading -----------------------------------------------------------------

std::optional<std::uint64_t> parse_epoch(std::string_view text) {
  auto value = std::uint64_t{0};
  const auto* end = text.data() + text.size();
  const auto [stop, ec] = std::from_chars(text.data(), end, value);
  const auto leading_zero = text.size() > 1 && text.front() == '0';
  if (text.empty() || ec != std::errc{} || stop != end || leading_zero || value > highest_epoch)
    return std::nullopt;
  return value;
}

reading read_fence(const json& object) {
  const auto seen = read_sandbox(object);
  auto got = reading{seen.uid, seen.resource_version, false, std::nullopt, 0, seen.mode};
  got.has_annotations =
    object.is_object() && object.contains(json::json_pointer{annotations_path}) && object["metadata"]["annotations"].is_object();
  if (auto it = seen.annotations.find(std::string{epoch_annotation}); it != seen.annotations.end()) {
    got.annotation = it->second;
    got.epoch = parse_epoch(it->second);
  }
  return got;
}

tl::expected<void, refusal> admit(const reading& seen, const holder& who) {
  if (auto no = stranger(who.uid, seen))
    return tl::unexpected{std::move(*no)};
  if (!who.epoch)
    return {};
  const auto lost = who.stamped && !seen.annotation;
  if (lost || !seen.epoch || *seen.epoch > *who.epoch)
    return tl::unexpected{refusal{epoch_overtaken{*who.epoch, lost ? std::nullopt : seen.epoch, seen.annotation}}};
  return {};
}

bool needs_stamp(const reading& seen, std::uint64_t ours) {
  return !seen.annotation || (seen.epoch && *seen.epoch < ours);
}

// -- composing ---------------------------------------------------------------

write_shape shape_of(const sandbox_write& what, const holder& who) {
  if (who.epoch || what.pod_template || what.only_if_suspended)
    return write_shape::json_patch;
  if (!what.mode)
    return write_shape::nothing;
  return who.uid || !what.more_annotations.empty() ? write_shape::json_patch : write_shape::merge_patch;
}

call compose_merge_patch(std::string path, operating_mode mode, time_source::wall_clock::time_point now) {
  return merge_patch(std::move(path), json{{"metadata", {{"annotations", {{mode_changed_annotation, rfc3339_millis(now)}}}}},
                                           {"spec", {{"operatingMode", to_string(mode)}}}});
}

std::string escape_pointer(std::string_view token) {
  auto got = std::string{};
  for (const auto x : token) {
    if (x == '~')
      got += "~0";
    else if (x == '/')
      got += "~1";
    else
      got += x;
  }
  return got;
}

tl::expected<json, std::string> patch_of(json tests, json changes) {
  if (tests.empty())
    return tl::unexpected{std::string{"a patch that changes something has to test something"}};
  for (auto& x : changes)
    tests.push_back(std::move(x));
  return tests;
}

tl::expected<call, std::string> compose(std::string path, const sandbox_write& what, const holder& who, const reading& seen,
                                        time_source::wall_clock::time_point now) {
  const auto writes = annotations_of(what, who, now);
  auto tests = json::array();
  auto version_tested = false;
  const auto test_version = [&] {
    if (!seen.version)
      return false;
    tests.push_back(test_of("/metadata/resourceVersion", *seen.version));
    version_tested = true;
    return true;
  };
  const auto unconditioned = [&] { return tl::unexpected{path + ": the object has no resourceVersion to condition the write on"}; };
  if (who.epoch && seen.annotation)
    tests.push_back(test_of(annotation_pointer(epoch_annotation), *seen.annotation));
  else if (who.epoch && !test_version())
    return unconditioned();
  if (who.uid)
    tests.push_back(test_of("/metadata/uid", who.uid->text()));
  if (what.only_if_suspended)
    tests.push_back(test_of(mode_path, "Suspended"));
  // Adding the whole map would erase one that was written meanwhile.
  if (!writes.empty() && !seen.has_annotations && !version_tested && !test_version())
    return unconditioned();
  auto changes = json::array();
  if (seen.has_annotations)
    for (const auto& [key, value] : writes)
      changes.push_back(add_of(annotation_pointer(key), value));
  else if (!writes.empty()) {
    auto map = json::object();
    for (const auto& [key, value] : writes)
      map[key] = value;
    changes.push_back(add_of(annotations_path, std::move(map)));
  }
  if (what.pod_template)
    changes.push_back(add_of("/spec/podTemplate", *what.pod_template));
  if (what.mode)
    changes.push_back(add_of(mode_path, to_string(*what.mode)));
  auto patch = patch_of(std::move(tests), std::move(changes));
  if (!patch)
    return tl::unexpected{path + ": " + patch.error()};
  return json_patch(std::move(path), std::move(*patch));
}

tl::expected<next_step, refusal> after_422(const sandbox_write& what, const holder& who, const reading& tested, const reading& now,
                                           unsigned sent) {
  if (auto no = stranger(who.uid, now))
    return tl::unexpected{std::move(*no)};
  if (what.only_if_suspended && now.mode != operating_mode::suspended) {
    if (auto ok = admit(now, who); !ok)
      return tl::unexpected{ok.error()};
    return next_step::yielded;
  }
  if (sent >= most_attempts || (what.pod_template && !who.epoch))
    return next_step::give_up;
  const auto moved = tested.annotation != now.annotation || tested.version != now.version || tested.has_annotations != now.has_annotations;
  return moved ? next_step::again : next_step::give_up;
}

// -- deleting ----------------------------------------------------------------

tl::expected<call, std::string> compose_delete(std::string path, const holder& who, const reading& seen) {
  if (!seen.version)
    return tl::unexpected{path + ": the object has no resourceVersion to condition the delete on"};
  auto conditions = json{{"resourceVersion", *seen.version}};
  if (who.uid)
    conditions["uid"] = who.uid->text();
  return remove(std::move(path), json{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", std::move(conditions)}});
}

tl::expected<next_step, refusal> after_conflict(const holder& who, const reading& first, const reading& now, unsigned sent) {
  if (auto no = stranger(who.uid ? who.uid : first.uid, now))
    return tl::unexpected{std::move(*no)};
  if (!who.epoch || sent >= most_attempts)
    return next_step::give_up;
  return now.mode == first.mode && now.annotation == first.annotation ? next_step::again : next_step::give_up;
}

// -- epochs ------------------------------------------------------------------

std::uint64_t first_of(const epoch_term& own) {
  return own.base + own.term * epochs_per_term;
}

tl::expected<std::uint64_t, epoch_overtaken> first_epoch(const epoch_term& own, const reading& stored) {
  const auto first = first_of(own);
  if (!stored.epoch || *stored.epoch >= first + epochs_per_term)
    return tl::unexpected{epoch_overtaken{first, stored.epoch, stored.annotation}};
  // No annotation is not the epoch 0 of a term: nobody has stamped.
  if (!stored.annotation || *stored.epoch < first)
    return first;
  return next_epoch(own, *stored.epoch);
}

tl::expected<std::uint64_t, epoch_overtaken> next_epoch(const epoch_term& own, std::uint64_t held) {
  if (held + 1 >= first_of(own) + epochs_per_term || held + 1 > highest_epoch)
    return tl::unexpected{epoch_overtaken{held, held, std::nullopt}};
  return held + 1;
}

} // namespace paddock::k8s
