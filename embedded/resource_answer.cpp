#include "embedded/resource_answer.hpp"

#include <set>

namespace paddock::embedded {

namespace {

nlohmann::ordered_json success() {
  nlohmann::ordered_json out;
  out["kind"] = "Status";
  out["apiVersion"] = "v1";
  out["metadata"] = nlohmann::ordered_json::object();
  out["status"] = "Success";
  return out;
}

/// As it stands between the quotes of a header.
std::string quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)
      out += c;
  }
  return out;
}

} // namespace

api_answer make_answer(unsigned status, std::string text, std::string content_type) {
  if (!text.ends_with('\n'))
    text += '\n';
  return {status, {{"Content-Type", std::move(content_type)}}, std::move(text)};
}

api_answer page_not_found() {
  return {404, {{"Content-Type", "text/plain; charset=utf-8"}, {"X-Content-Type-Options", "nosniff"}}, "404 page not found\n"};
}

api_answer gone_answer(const resource_kind& kind, const stored_object& gone) {
  auto out = success();
  auto& details = out["details"];
  details["name"] = gone.text_at({"metadata", "name"});
  if (!kind.group.empty())
    details["group"] = kind.group;
  details["kind"] = kind.plural;
  details["uid"] = gone.text_at({"metadata", "uid"});
  return make_answer(200, encode_json(out));
}

api_answer done_answer(unsigned status) {
  auto out = success();
  out["code"] = status;
  return make_answer(status, encode_json(out));
}

void add_warnings(api_answer& out, const std::vector<std::string>& texts) {
  constexpr std::size_t most_together = 4096; // characters
  constexpr std::size_t most_each = 256;
  std::vector<std::string_view> told;
  std::set<std::string_view> seen;
  std::size_t together = 0;
  for (const std::string_view one : texts) {
    if (one.empty() || !seen.insert(one).second)
      continue;
    told.push_back(one);
    together += characters(one);
  }
  const bool cuts = together > most_together;
  together = 0;
  for (const auto whole : told) {
    if (together >= most_together)
      return;
    const auto one = cuts ? first_characters(whole, most_each) : whole;
    together += characters(one);
    out.headers.emplace_back("Warning", "299 - \"" + quoted(one) + "\"");
  }
}

} // namespace paddock::embedded
