#pragma once

#include "base/time.hpp"
#include "k8s/list_request.hpp"
#include "k8s/watch_event.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <variant>

namespace paddock::k8s {

struct list_watch_options {
  selection what;
  std::size_t page = 500;
  /// The server is asked to end a watch after this and up to half as long again, by chance: watches that began together do
  /// not all come back together. It bounds how long a half-open connection stays unnoticed.
  std::chrono::seconds watch_for{60};
  std::chrono::seconds silence{15}; // beyond that end; a stream without a byte for longer is taken for half-open
  std::chrono::milliseconds first_pause{100};
  std::chrono::milliseconds longest_pause{30'000};
  std::chrono::milliseconds denied_pause{60'000}; // about so long where the answer is no, or the kind is not served
};

/// What a page or a watch failed of.
struct read_failure {
  unsigned status = 0; // 0: no answer, or one cut off
  std::optional<std::chrono::milliseconds> retry_after;
  std::string text; // for people; no secret
};

/// Reads a page.
struct list_step {
  list_request what;
};
/// Watches. Nothing for `silence`, or still open after `whole`: the connection is given up.
struct watch_step {
  watch_request what;
  std::chrono::seconds silence{0};
  std::chrono::seconds whole{0};
};
/// Does nothing for so long.
struct pause_step {
  std::chrono::milliseconds length{0};
};

/// Whether an answer says that there is no right, or no such kind: asking again soon changes nothing.
[[nodiscard]] bool is_denied(unsigned status);

/// Decides what a list+watch does next, from what became of the step before. It lists in pages, watches from the list's
/// version, and goes on from the last version that it heard (bookmarks included) whenever a watch ends. It lists again only
/// when the server has forgotten that version (410), or said what cannot be read. A failure is followed by a pause of full
/// jitter; the first 410 after a watch that brought something is not. A list that is older than what is known is not
/// believed, unless it comes three times in a row: then versions have begun again.
class list_watch {
public:
  using random = std::function<double()>; // in [0, 1)

  list_watch(list_watch_options how, random chance);

  using step = std::variant<list_step, watch_step, pause_step>;
  [[nodiscard]] step next();

  // -- what a page came to ----------------------------------------------------

  enum class listing {
    goes_on, // there is another page
    whole,   // the pages since the first one are the collection
    void_,   // the pages so far are worth nothing; the list begins again
  };
  struct page_verdict {
    listing what = listing::void_;
    bool anew = false; // of a whole list: versions have begun again
  };
  page_verdict page_came(const std::string& version, const std::string& more);
  /// The pages so far are worth nothing.
  void page_failed(const read_failure& why);

  // -- what a watch came to ---------------------------------------------------

  /// Whether the event is news: one from before the position was told already.
  [[nodiscard]] bool heard(const watch_event& x);
  /// The stream ended, or was cut, after `lasted`. False: that was at once, so it told nothing.
  bool watch_ended(time_source::clock::duration lasted);
  /// There was no stream, or it was cut without an answer.
  void watch_failed(const read_failure& why, time_source::clock::duration lasted);
  /// The stream said so.
  void watch_failed(const watch_fault& why);

  /// The version of everything told so far; empty before the first list.
  [[nodiscard]] const std::string& position() const noexcept {
    return position_;
  }

private:
  void list_again();
  void begin_page_one();
  void back_off(std::optional<std::chrono::milliseconds> at_least = {});
  void forgotten();
  void refused(unsigned status, std::optional<std::chrono::milliseconds> retry_after);
  void wait_denied();

  list_watch_options how_;
  random chance_;
  bool listing_ = true;
  std::string position_;
  std::optional<std::chrono::milliseconds> pause_;
  int failures_ = 0; // in a row; the exponent of the pause
  // Of the list under way.
  std::string more_;
  std::string list_version_;
  bool present_ = true; // asks for the present state, and not for one not older than the position
  int restarts_ = 0;
  int lagging_ = 0;
  // Of the watches since the last list.
  bool progress_ = false; // one of them brought something, or lasted
  int refusals_ = 0;      // in a row
};

} // namespace paddock::k8s
