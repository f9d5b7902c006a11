// An object before the first line break, a patch after it. What a patch gives is the same each time, nests no deeper than an object
// may and can be written and read again; a merge patch that was applied has nothing left to change.

#include "embedded/patch.hpp"
#include "tests/fuzz/require.hpp"

#include <cstdint>
#include <string_view>

using namespace paddock::embedded;
using paddock::require;

namespace {

void check_same(const api_result<json>& one, const api_result<json>& two) {
  require(one.has_value() == two.has_value());
  if (!one) {
    require(one.error().message == two.error().message && one.error().code >= 400);
    return;
  }
  require(*one == *two);
  require(nesting(*one) <= max_nesting);
}

void check_merge(const json& object, const json& patch) {
  const auto once = apply_merge_patch(object, patch);
  check_same(once, apply_merge_patch(object, patch));
  require(apply_merge_patch(once, patch) == once);
  if (!patch.is_object())
    return;
  for (const auto& [key, value] : patch.items())
    require(value.is_null() ? !once.contains(key) : once.contains(key));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 16 * 1024)
    return 0;
  const auto text = std::string_view{reinterpret_cast<const char*>(data), size};
  const auto end = text.find('\n');
  const auto object = parse_json(text.substr(0, end));
  if (!object || !object->is_object() || end == std::string_view::npos)
    return 0;
  const auto body = text.substr(end + 1);
  if (const auto patch = parse_merge_patch(body))
    check_merge(*object, *patch);
  const auto patch = parse_json_patch(body);
  if (!patch)
    return 0;
  const auto before = *object;
  const auto once = apply_json_patch(*object, *patch);
  check_same(once, apply_json_patch(*object, *patch));
  require(before == *object);
  if (once) {
    const auto read = parse_json(encode_json(*once));
    require(read && *read == *once);
  }
  return 0;
}
