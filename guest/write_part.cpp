#include "guest/write_part.hpp"

#include "guest/envelope.hpp"
#include "guest/execution_request.hpp"

namespace paddock::guest {

using nlohmann::json;

namespace {

constexpr auto before = std::string_view{".namzu-write-"};
constexpr auto after = std::string_view{".part"};
constexpr auto longest_name = std::size_t{255};

bool literally_true(const json& part, const char* name) {
  auto at = part.find(name);
  return at != part.end() && at->is_boolean() && at->get<bool>();
}

} // namespace

tl::expected<const json*, std::string> part_of(const json& body) {
  auto at = body.find("part");
  if (at == body.end() || at->is_null())
    return nullptr;
  if (!at->is_object())
    return tl::unexpected{std::string{"write_part_invalid_shape"}};
  return &*at;
}

bool is_discard(const json& part) {
  return literally_true(part, "discard");
}

tl::expected<data_part, std::string> read_data_part(const json& part, bool has_content) {
  if (!has_content)
    return tl::unexpected{std::string{missing_path_or_content}};
  auto result = data_part{};
  if (auto at = part.find("offset"); at != part.end()) {
    auto offset = at->is_number() ? offset_of(*at) : std::nullopt; // a string is never taken for a number here ([G] 0)
    if (!offset)
      return tl::unexpected{"write_part_invalid_offset: " + to_text(*at)};
    result.offset = *offset;
  }
  if (!literally_true(part, "final"))
    return result;
  auto target = part.find("renameTo");
  if (target == part.end() || !target->is_string() || target->get_ref<const std::string&>().empty())
    return tl::unexpected{std::string{"write_part_missing_rename_target"}};
  result.rename_to = target->get<std::string>();
  return result;
}

bool is_temporary_name(std::string_view name) {
  return name.size() > before.size() + after.size() && name.starts_with(before) && name.ends_with(after);
}

std::string temporary_name(std::string_view target, std::string_view uuid) {
  auto room = longest_name - before.size() - 1 - uuid.size() - after.size();
  auto result = std::string{before};
  result.append(target.substr(0, room)).append(".").append(uuid).append(after);
  return result;
}

std::string offset_mismatch(std::optional<std::uint64_t> size, std::uint64_t offset) {
  return "write_part_offset_mismatch: temp file is " + (size ? std::to_string(*size) + " bytes" : std::string{"absent"})
         + ", part starts at offset " + std::to_string(offset);
}

std::string short_write(std::uint64_t written, std::uint64_t wanted, std::uint64_t size) {
  return "write_short_write: wrote " + std::to_string(written) + " of " + std::to_string(wanted) + " bytes, temp file is "
         + std::to_string(size) + " bytes";
}

std::string short_part(std::uint64_t written, std::uint64_t wanted, std::uint64_t offset, std::uint64_t size) {
  return "write_part_short_write: wrote " + std::to_string(written) + " of " + std::to_string(wanted) + " bytes at offset "
         + std::to_string(offset) + ", temp file is " + std::to_string(size) + " bytes";
}

} // namespace paddock::guest
