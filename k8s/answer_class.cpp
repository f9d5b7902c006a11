#include "k8s/answer_class.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <limits>

namespace paddock::k8s {

using namespace std::chrono;

namespace {

constexpr std::size_t longest_cause = 4096;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

bool is_json(const std::optional<std::string>& type) {
  if (!type)
    return false;
  auto bare = std::string{trimmed(std::string_view{*type}.substr(0, type->find(';')))};
  std::ranges::transform(bare, bare.begin(), [](char x) { return x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x; });
  return bare == "application/json" || bare.ends_with("+json");
}

/// RFC 9110's three date forms; the locale of the process plays no part in the names.
std::optional<sys_seconds> http_date(std::string text) {
  constexpr auto months = std::array{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  auto name = std::array<char, 4>{};
  auto day_name = std::array<char, 16>{};
  auto zone = std::array<char, 4>{};
  int d = 0, y = 0, h = 0, m = 0, s = 0, used = 0;
  const auto whole = [&] { return used == static_cast<int>(text.size()); };
  auto ok = std::sscanf(text.c_str(), "%15[A-Za-z], %2d %3s %4d %2d:%2d:%2d %3s%n", day_name.data(), &d, name.data(), &y, &h, &m, &s,
                        zone.data(), &used)
              == 8
            && whole() && std::string_view{zone.data()} == "GMT";
  if (!ok) {
    used = 0;
    ok = std::sscanf(text.c_str(), "%15[A-Za-z], %2d-%3[A-Za-z]-%2d %2d:%2d:%2d %3s%n", day_name.data(), &d, name.data(), &y, &h, &m, &s,
                     zone.data(), &used)
           == 8
         && whole() && std::string_view{zone.data()} == "GMT";
    y += y < 70 ? 2000 : 1900;
  }
  if (!ok) {
    used = 0;
    ok =
      std::sscanf(text.c_str(), "%3s %3s %2d %2d:%2d:%2d %4d%n", day_name.data(), name.data(), &d, &h, &m, &s, &y, &used) == 7 && whole();
  }
  const auto month_at = std::ranges::find(months, std::string_view{name.data()});
  if (!ok || month_at == months.end() || h > 23 || m > 59 || s > 60 || h < 0 || m < 0 || s < 0)
    return std::nullopt;
  const auto date = year_month_day{year{y}, month{static_cast<unsigned>(month_at - months.begin()) + 1}, day{static_cast<unsigned>(d)}};
  if (!date.ok())
    return std::nullopt;
  return sys_days{date} + hours{h} + minutes{m} + seconds{s};
}

} // namespace

std::optional<milliseconds> retry_after(std::string_view text, time_source::wall_clock::time_point now) {
  text = trimmed(text);
  auto count = std::int64_t{0};
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (end == text.data() + text.size() && !text.empty() && (ec == std::errc{} || ec == std::errc::result_out_of_range)) {
    if (text.front() == '-' || count < 0)
      return milliseconds{0};
    constexpr auto most = std::numeric_limits<std::int32_t>::max(); // more is no plan
    if (ec != std::errc{} || count > most)
      count = most;
    return milliseconds{seconds{count}};
  }
  const auto at = http_date(std::string{text});
  if (!at)
    return std::nullopt;
  return std::max(milliseconds{0}, ceil<milliseconds>(*at - now));
}

result<std::optional<nlohmann::json>> classify(const call& asked, const raw_answer& got, time_source::wall_clock::time_point now) {
  const auto fail = [](auto x) { return tl::unexpected{failure{std::move(x)}}; };
  const auto status = got.status;
  if (status / 100 == 2) {
    if (status == 204 || got.body.empty() || !is_json(got.content_type))
      return std::optional<nlohmann::json>{};
    auto value = nlohmann::json::parse(got.body, nullptr, false);
    if (value.is_discarded())
      return fail(api_failure{api_failure::transport::connect, asked.method, asked.path, std::nullopt, std::nullopt, true,
                              "the body of a successful answer is not JSON"});
    return std::optional{std::move(value)};
  }
  if (status == 401 || status == 403)
    return fail(credential_failure{asked.method, asked.path, status});
  if (status == 404 || status == 410)
    return fail(already_gone{asked.method, asked.path, status});
  if (status == 409)
    return fail(conflict{asked.method, asked.path});
  if (status == 422 && asked.type == call::content::json_patch)
    return fail(patch_not_applied{asked.method, asked.path, status});
  auto other = api_failure{api_failure::transport::status, asked.method, asked.path, status, std::nullopt, true, got.body};
  if (other.cause.size() > longest_cause)
    other.cause.resize(longest_cause);
  if (got.retry_after && (status == 429 || status == 503))
    other.retry_after = retry_after(*got.retry_after, now);
  return fail(std::move(other));
}

} // namespace paddock::k8s
