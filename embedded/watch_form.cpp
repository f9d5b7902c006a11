#include "embedded/watch_form.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

constexpr std::size_t most_kept = 16;

} // namespace

const std::string& shown_objects::show(const watch_form& form, const std::string& text, bool first, watch_form::instant now) {
  const auto at = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch());
  const auto found = std::find_if(latest_.begin(), latest_.end(),
                                  [&](const shown& x) { return x.at == at && x.first == first && x.form == form.name && x.text == text; });
  if (found != latest_.end())
    return found->written;
  if (latest_.size() == most_kept)
    latest_.pop_front();
  return latest_.emplace_back(shown{form.name, text, first, at, form.write(text, first, now)}).written;
}

} // namespace paddock::embedded
