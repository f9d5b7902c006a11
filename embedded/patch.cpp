#include "embedded/patch.hpp"

namespace paddock::embedded {

namespace {

/// The unescaped parts of a JSON pointer; nothing when it is none.
std::optional<std::vector<std::string>> pointer_parts(std::string_view text) {
  std::vector<std::string> out;
  if (text.empty())
    return out;
  if (text.front() != '/')
    return std::nullopt;
  while (!text.empty()) {
    text.remove_prefix(1);
    const auto end = std::min(text.find('/'), text.size());
    std::string part;
    for (std::size_t i = 0; i < end; ++i) {
      if (text[i] != '~') {
        part += text[i];
      } else if (i + 1 < end && (text[i + 1] == '0' || text[i + 1] == '1')) {
        part += text[++i] == '0' ? '~' : '/';
      } else {
        return std::nullopt;
      }
    }
    out.push_back(std::move(part));
    text.remove_prefix(end);
  }
  return out;
}

/// An index below `bound`, written without leading zeros.
std::optional<std::size_t> index_of(const std::string& text, std::size_t bound) {
  if (text.empty() || text.size() > 9 || (text.size() > 1 && text.front() == '0'))
    return std::nullopt;
  std::size_t out = 0;
  for (const char c : text) {
    if (c < '0' || c > '9')
      return std::nullopt;
    out = out * 10 + static_cast<std::size_t>(c - '0');
  }
  return out < bound ? std::optional{out} : std::nullopt;
}

json* step(json& at, const std::string& part) {
  if (at.is_object()) {
    auto found = at.find(part);
    return found == at.end() ? nullptr : &*found;
  }
  if (at.is_array()) {
    auto index = index_of(part, at.size());
    return index ? &at[*index] : nullptr;
  }
  return nullptr;
}

class patcher {
public:
  explicit patcher(json object) : object_(std::move(object)) {
  }

  /// False: the operation failed; the object is then of no use.
  bool apply(const json& operation) {
    const auto* op = member(operation, "op");
    const auto* path = member(operation, "path");
    if (op == nullptr || !op->is_string() || path == nullptr || !path->is_string())
      return false;
    const auto& what = op->get_ref<const std::string&>();
    auto to = pointer_parts(path->get_ref<const std::string&>());
    if (!to)
      return false;
    const auto* value = member(operation, "value");
    if (what == "test")
      return test(*to, value == nullptr ? json{} : *value);
    if (what == "remove")
      return remove(*to);
    if (what == "add" || what == "replace")
      return value != nullptr && put(*to, *value, what == "replace");
    if (what == "move" || what == "copy")
      return transfer(operation, *to, what == "move");
    return false;
  }

  json take() {
    return std::move(object_);
  }

private:
  json* walk(const std::vector<std::string>& path, std::size_t steps) {
    auto* at = &object_;
    for (std::size_t i = 0; i < steps && at != nullptr; ++i)
      at = step(*at, path[i]);
    return at;
  }

  bool test(const std::vector<std::string>& path, const json& value) {
    const auto* parent = path.empty() ? &object_ : walk(path, path.size() - 1);
    if (parent == nullptr || (!path.empty() && !parent->is_structured()))
      return false;
    const auto* found = walk(path, path.size());
    return found == nullptr ? value.is_null() && parent->is_object() : *found == value;
  }

  bool remove(const std::vector<std::string>& path) {
    if (path.empty())
      return false;
    auto* parent = walk(path, path.size() - 1);
    if (parent == nullptr || step(*parent, path.back()) == nullptr)
      return false;
    if (parent->is_object())
      parent->erase(path.back());
    else
      parent->erase(*index_of(path.back(), parent->size()));
    return true;
  }

  bool put(const std::vector<std::string>& path, json value, bool replace) {
    if (path.size() > max_nesting)
      return false;
    if (path.empty()) {
      object_ = std::move(value);
      return true;
    }
    auto* parent = walk(path, path.size() - 1);
    if (parent == nullptr)
      return false;
    if (parent->is_object()) {
      (*parent)[path.back()] = std::move(value);
      return true;
    }
    if (!parent->is_array())
      return false;
    if (replace) {
      auto* old = step(*parent, path.back());
      if (old == nullptr)
        return false;
      *old = std::move(value);
      return true;
    }
    if (path.back() == "-") {
      parent->push_back(std::move(value));
      return true;
    }
    auto index = index_of(path.back(), parent->size() + 1);
    if (!index)
      return false;
    parent->insert(parent->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
    return true;
  }

  bool transfer(const json& operation, const std::vector<std::string>& to, bool move) {
    const auto* text = member(operation, "from");
    if (text == nullptr || !text->is_string())
      return false;
    auto from = pointer_parts(text->get_ref<const std::string&>());
    if (!from)
      return false;
    const auto* found = walk(*from, from->size());
    if (found == nullptr)
      return false;
    if (move) {
      // Nothing can move into itself.
      if (from->empty() || (from->size() < to.size() && std::equal(from->begin(), from->end(), to.begin())))
        return false;
      if (*from == to)
        return true;
      auto value = std::move(*walk(*from, from->size()));
      return remove(*from) && put(to, std::move(value), false);
    }
    // Copies grow an object faster than its patch: both the sum and the depth are bounded before the next one.
    // Moves nest as deep as the patch is long, so the depth comes first: writing recurses.
    if (nesting(*found) + to.size() > max_nesting)
      return false;
    copied_ += found->dump(-1, ' ', false, json::error_handler_t::replace).size();
    if (copied_ > max_object_bytes)
      return false;
    return put(to, json(*found), false);
  }

  json object_;
  std::size_t copied_ = 0;
};

} // namespace

api_result<json> parse_json_patch(std::string_view body) {
  auto parsed = parse_json(body);
  if (!parsed)
    return tl::unexpected{bad_request("error decoding patch: " + parsed.error())};
  if (!parsed->is_array())
    return tl::unexpected{bad_request(std::string{"error decoding patch: json: cannot unmarshal "} + parsed->type_name()
                                      + " into Go value of type []handlers.jsonPatchOp")};
  if (parsed->size() > max_patch_operations)
    return tl::unexpected{api_status{413,
                                     "RequestEntityTooLarge",
                                     "Request entity too large: The allowed maximum operations in a JSON patch is "
                                       + std::to_string(max_patch_operations) + ", got " + std::to_string(parsed->size()),
                                     {}}};
  return std::move(*parsed);
}

api_result<json> parse_merge_patch(std::string_view body) {
  auto parsed = parse_json(body);
  if (!parsed)
    return tl::unexpected{bad_request("error decoding patch: " + parsed.error())};
  if (!parsed->is_object())
    return tl::unexpected{bad_request(std::string{"error decoding patch: json: cannot unmarshal "} + parsed->type_name()
                                      + " into Go value of type map[string]interface {}")};
  return std::move(*parsed);
}

api_result<json> apply_json_patch(json object, const json& patch) {
  patcher work{std::move(object)};
  for (const auto& operation : patch)
    if (!work.apply(operation))
      return tl::unexpected{failed_patch()};
  auto out = work.take();
  if (nesting(out) > max_nesting)
    return tl::unexpected{failed_patch()};
  return out;
}

json apply_merge_patch(json object, const json& patch) {
  object.merge_patch(patch);
  return object;
}

} // namespace paddock::embedded
