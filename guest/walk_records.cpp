#include "guest/walk_records.hpp"

#include "guest/envelope.hpp"
#include "guest/execution_request.hpp"
#include "guest/paths.hpp"

namespace paddock::guest {

std::vector<walk_entry> walk_reader::push(std::string_view bytes) {
  auto result = std::vector<walk_entry>{};
  while (!bytes.empty() && !fault_) {
    if (last_ != last_record::none) {
      fail("something follows the last record");
      break;
    }
    auto end = bytes.find('\n');
    if (!take(bytes.substr(0, end)))
      break;
    if (end == std::string_view::npos)
      break;
    bytes.remove_prefix(end + 1);
    read_line(result);
    line_.clear();
    units_ = 0;
  }
  if (fault_)
    line_ = {};
  return result;
}

// Adds to the line. False: it is too long.
bool walk_reader::take(std::string_view bytes) {
  // A unit has at most three bytes; bytes that are not UTF-8 may count for nothing, so they are bounded by themselves.
  if (bytes.size() <= 3 * max_line - line_.size()) {
    for (auto x : bytes) {
      auto byte = static_cast<unsigned char>(x);
      units_ += byte >= 0xf0 ? 2u : (byte & 0xc0) != 0x80 ? 1u : 0u;
    }
    if (units_ <= max_line) {
      line_ += bytes;
      return true;
    }
  }
  fail("a line is longer than " + std::to_string(max_line) + " characters");
  return false;
}

void walk_reader::read_line(std::vector<walk_entry>& into) {
  auto record = parse_payload(line_);
  if (!record || !record->is_object())
    return fail("a line is not a JSON object");
  auto text_at = [&](const char* name) -> const std::string* {
    auto at = record->find(name);
    return at != record->end() && at->is_string() ? at->get_ptr<const std::string*>() : nullptr;
  };
  const auto* type = text_at("type");
  if (type != nullptr && *type == "done") {
    last_ = last_record::done;
    return;
  }
  if (type != nullptr && *type == "error") {
    const auto* message = text_at("message");
    if (message == nullptr)
      return fail("an error record has no message");
    last_ = last_record::error;
    reported_.text = *message;
    if (const auto* code = text_at("code"))
      reported_.code = *code;
    return;
  }
  if (type == nullptr || *type != "entry")
    return fail("a record has no known type");
  const auto* path = text_at("path");
  // A path that is not normalised could leave the root by its `..`.
  if (path == nullptr || !path->starts_with('/') || normalised(*path) != *path || !within(root_, *path))
    return fail("the path of an entry is not under the root");
  auto size = record->find("size");
  auto bytes = size != record->end() && size->is_number() ? offset_of(*size) : std::nullopt;
  if (!bytes)
    return fail("the size of an entry is not a non-negative safe integer");
  if (left_ == 0)
    return fail("there are more entries than were asked for");
  --left_;
  into.push_back({*path, *bytes});
}

void walk_reader::fail(std::string text) {
  fault_ = walk_failure{"the guest's walk broke its form: " + std::move(text), std::nullopt};
}

tl::expected<void, walk_failure> walk_reader::finish(int exit_code, bool truncated, bool timed_out) const {
  auto failed = [](std::string text) { return tl::unexpected{walk_failure{std::move(text), std::nullopt}}; };
  if (fault_)
    return tl::unexpected{*fault_};
  if (last_ == last_record::error)
    return tl::unexpected{reported_};
  if (timed_out)
    return failed("the walk ran out of time");
  if (truncated)
    return failed("the output of the walk is truncated");
  if (!line_.empty())
    return failed("the last line of the walk is unfinished");
  if (exit_code != 0)
    return failed("the walk ended with exit code " + std::to_string(exit_code));
  if (last_ != last_record::done)
    return failed("the walk ended without saying that it is done");
  return {};
}

} // namespace paddock::guest
