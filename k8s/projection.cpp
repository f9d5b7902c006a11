#include "k8s/projection.hpp"

#include <algorithm>

namespace paddock::k8s {

using nlohmann::json;

namespace {

/// One token of a JSON pointer.
std::string unescaped(std::string_view token) {
  auto got = std::string{};
  for (auto at = std::size_t{0}; at < token.size(); ++at)
    if (token[at] == '~' && at + 1 < token.size())
      got += token[++at] == '1' ? '/' : '~';
    else
      got += token[at];
  return got;
}

} // namespace

projection::projection(std::initializer_list<std::string_view> pointers) {
  for (const auto* identity : {"/metadata/name", "/metadata/namespace", "/metadata/uid", "/metadata/resourceVersion"})
    add(members_, identity);
  for (const auto x : pointers)
    add(members_, x);
}

void projection::add(std::vector<member>& to, std::string_view pointer) {
  pointer.remove_prefix(1);
  const auto slash = pointer.find('/');
  auto name = unescaped(pointer.substr(0, slash));
  auto at = std::ranges::find(to, name, &member::name);
  if (at == to.end())
    at = to.insert(to.end(), member{std::move(name), {}});
  if (slash != std::string_view::npos)
    add(at->below, pointer.substr(slash));
}

json projection::take(const json& from, const std::vector<member>& what) {
  if (what.empty())
    return from;
  if (from.is_array()) {
    auto got = json::array();
    for (const auto& x : from)
      got.push_back(take(x, what));
    return got;
  }
  if (!from.is_object())
    return from;
  auto got = json::object();
  for (const auto& x : what)
    if (const auto found = from.find(x.name); found != from.end())
      got.emplace(x.name, take(*found, x.below));
  return got;
}

/// Makes the values of a list as its parser tells of them, but for those that are not read.
class projection::list_reader {
public:
  explicit list_reader(const std::vector<member>& of_items) : of_items_(of_items) {
  }
  json made;

  bool null() {
    return put(nullptr);
  }
  bool boolean(bool x) {
    return put(x);
  }
  bool number_integer(json::number_integer_t x) {
    return put(x);
  }
  bool number_unsigned(json::number_unsigned_t x) {
    return put(x);
  }
  bool number_float(json::number_float_t x, const std::string&) {
    return put(x);
  }
  bool string(std::string& x) {
    return put(std::move(x));
  }
  bool binary(json::binary_t&) {
    return false; // not in JSON
  }
  bool start_object(std::size_t) {
    return begin(json::object());
  }
  bool start_array(std::size_t) {
    return begin(json::array());
  }
  bool end_object() {
    return end();
  }
  bool end_array() {
    return end();
  }
  bool key(std::string& name) {
    if (left_out_ > 0)
      return true;
    const auto& [object, read] = open_.back();
    const auto found = std::ranges::find(*read, name, &member::name);
    skips_ = !read->empty() && found == read->end();
    if (skips_)
      return true;
    const auto items = open_.size() == 1 && name == "items";
    next_read_ = items ? &of_items_ : read->empty() ? &whole : &found->below;
    next_ = &(*object)[std::move(name)];
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception&) {
    return false;
  }

private:
  struct level {
    json* at;
    const std::vector<member>* read; // of each element of a list
  };
  static inline const std::vector<member> whole{};

  /// Where the next value stands; null: it is not read.
  json* place(json value) {
    if (left_out_ > 0 || std::exchange(skips_, false))
      return nullptr;
    if (open_.empty()) {
      made = std::move(value);
      return &made;
    }
    auto& [at, read] = open_.back();
    if (at->is_array()) {
      next_read_ = read;
      return &at->emplace_back(std::move(value));
    }
    *next_ = std::move(value);
    return next_;
  }
  bool put(json value) {
    place(std::move(value));
    return true;
  }
  bool begin(json empty) {
    if (auto* at = place(std::move(empty)))
      open_.push_back({at, next_read_});
    else
      ++left_out_;
    return true;
  }
  bool end() {
    if (left_out_ > 0)
      --left_out_;
    else
      open_.pop_back();
    return true;
  }

  const std::vector<member>& of_items_;
  std::vector<level> open_;
  json* next_ = nullptr;
  const std::vector<member>* next_read_ = &whole;
  bool skips_ = false;       // the next value
  std::size_t left_out_ = 0; // how deep within one that is not read
};

std::optional<json> projection::read_list(std::string_view text) const {
  auto reader = list_reader{members_};
  if (!json::sax_parse(text, &reader))
    return std::nullopt;
  return std::move(reader.made);
}

json projection::of(const json& object) const {
  return take(object, members_);
}

const projection& sandbox_projection() {
  static const auto it = projection{
    "/metadata/generation",
    "/metadata/creationTimestamp",
    "/metadata/deletionTimestamp",
    "/metadata/annotations/sandbox.namzu.ai~1holder-epoch",
    "/metadata/annotations/sandbox.namzu.ai~1operating-mode-changed-at",
    "/metadata/annotations/sandbox.namzu.ai~1pod-template-hash",
    "/spec/operatingMode",
    "/spec/volumeClaimTemplates/metadata/name",
    "/status/conditions/type",
    "/status/conditions/status",
    "/status/conditions/reason",
    "/status/conditions/message",
    "/status/conditions/observedGeneration",
    "/status/podIPs",
    "/status/selector",
    "/status/serviceFQDN",
  };
  return it;
}

} // namespace paddock::k8s
