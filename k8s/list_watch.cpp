#include "k8s/list_watch.hpp"

#include "k8s/objects.hpp"

#include <algorithm>

namespace paddock::k8s {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr int most_restarts = 2; // of a list whose token was forgotten; then it is read in one piece
constexpr int most_lagging = 3;  // lists in a row that are older than the position; the last is believed
constexpr int most_refusals = 5; // of watches from one version; then a list shows whether it is the version
constexpr int most_doublings = 16;
constexpr auto healthy = seconds{5};                    // a watch that lasted so long worked
constexpr auto longest_asked = milliseconds{3'600'000}; // of the pauses that a server may ask for

} // namespace

bool is_denied(unsigned status) {
  return status == 401 || status == 403 || status == 404;
}

list_watch::list_watch(list_watch_options how, random chance) : how_(std::move(how)), chance_(std::move(chance)) {
}

list_watch::step list_watch::next() {
  if (const auto length = std::exchange(pause_, std::nullopt))
    return pause_step{*length};
  if (listing_) {
    auto what = list_request{how_.what, restarts_ > most_restarts ? 0 : how_.page, more_, {}, list_request::match::unset};
    if (!present_) {
      what.version = position_;
      what.how = list_request::match::not_older_than;
    }
    return list_step{std::move(what)};
  }
  const auto spread = static_cast<double>(how_.watch_for.count()) / 2 * chance_();
  const auto timeout = how_.watch_for + seconds{static_cast<seconds::rep>(spread)};
  return watch_step{{how_.what, position_, true, timeout}, timeout + how_.silence, timeout + 2 * how_.silence};
}

// -- pages ------------------------------------------------------------------------

void list_watch::begin_page_one() {
  more_.clear();
  list_version_.clear();
}

void list_watch::list_again() {
  listing_ = true;
  present_ = position_.empty();
  restarts_ = 0;
  begin_page_one();
}

list_watch::page_verdict list_watch::page_came(const std::string& version, const std::string& more) {
  const auto first = more_.empty();
  if (first) {
    list_version_ = version;
    lagging_ = older_version(version, position_) ? lagging_ + 1 : 0;
  }
  if (lagging_ > 0 && lagging_ < most_lagging) {
    back_off();
    return {};
  }
  if (version != list_version_ || (!first && more == more_)) {
    // Pages of two versions are not one list, and a token that leads to itself has no end.
    ++restarts_;
    begin_page_one();
    back_off();
    return {};
  }
  more_ = more;
  if (!more.empty())
    return {listing::goes_on, false};
  const auto anew = older_version(list_version_, position_);
  position_ = std::exchange(list_version_, {});
  listing_ = false;
  progress_ = false;
  restarts_ = lagging_ = refusals_ = 0;
  return {listing::whole, anew};
}

void list_watch::page_failed(const read_failure& why) {
  if (restarts_ > most_restarts)
    restarts_ = 0; // in one piece it cannot be had either
  const auto of_token = !more_.empty() && (why.status == 410 || why.status == 400);
  const auto of_version = more_.empty() && !present_ && (why.status == 410 || why.status == 400 || why.status == 422 || why.status == 504);
  begin_page_one();
  if (of_token && ++restarts_ <= most_restarts)
    return;
  if (of_version) {
    present_ = true;
    return;
  }
  if (is_denied(why.status))
    return wait_denied();
  back_off(why.retry_after);
}

// -- watches ----------------------------------------------------------------------

bool list_watch::heard(const watch_event& x) {
  auto version = text_at(x.object, "/metadata/resourceVersion").value_or("");
  if (older_version(version, position_))
    return false;
  if (version != position_) {
    progress_ = true;
    failures_ = refusals_ = 0;
  }
  position_ = std::move(version);
  return true;
}

bool list_watch::watch_ended(time_source::clock::duration lasted) {
  if (lasted < healthy) {
    back_off();
    return false;
  }
  progress_ = true;
  failures_ = refusals_ = 0;
  return true;
}

void list_watch::watch_failed(const read_failure& why, time_source::clock::duration lasted) {
  if (why.status != 0)
    return refused(why.status, why.retry_after);
  watch_ended(lasted);
}

void list_watch::watch_failed(const watch_fault& why) {
  if (std::holds_alternative<watch_expired>(why))
    return forgotten();
  if (const auto* error = std::get_if<watch_refused>(&why))
    return refused(error->code, error->retry_after);
  list_again();
  back_off();
}

void list_watch::refused(unsigned status, std::optional<milliseconds> retry_after) {
  if (status == 410)
    return forgotten();
  if (status == 404)
    list_again();
  if (is_denied(status))
    return wait_denied();
  const auto of_version = status == 400 || status == 422;
  if (of_version || ++refusals_ >= most_refusals)
    list_again();
  back_off(retry_after);
}

void list_watch::forgotten() {
  const auto at_once = progress_;
  list_again();
  if (!at_once)
    back_off();
}

// -- pauses -----------------------------------------------------------------------

void list_watch::back_off(std::optional<milliseconds> at_least) {
  const auto doubled = how_.first_pause * (std::int64_t{1} << std::min(failures_, most_doublings));
  const auto most = std::min(how_.longest_pause, milliseconds{doubled});
  ++failures_;
  const auto jitter = milliseconds{static_cast<milliseconds::rep>(static_cast<double>(most.count()) * chance_())};
  pause_ = std::min(at_least.value_or(milliseconds{0}), longest_asked) + jitter;
}

void list_watch::wait_denied() {
  const auto length = static_cast<double>(how_.denied_pause.count()) * (0.5 + chance_());
  pause_ = milliseconds{static_cast<milliseconds::rep>(length)};
}

} // namespace paddock::k8s
