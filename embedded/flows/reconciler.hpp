#pragma once

#include "embedded/flows/event_recorder.hpp"
#include "embedded/flows/list_watch.hpp"
#include "embedded/flows/work_queue.hpp"
#include "embedded/kubelet.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace paddock::embedded {

/// What every controller does: one pass a key whenever something of the key has changed, one after another, on one lane. A
/// pass that left something undone is made again after 100 ms doubling to 30 s; so is one that threw (an object of a shape that
/// nobody foresaw), and the log says of which key.
class reconciler {
public:
  /// No pass begins before the lists of `needs` are taken: until then a missing object says nothing.
  reconciler(boost::asio::any_io_executor lane, std::vector<informer*> needs, std::function<void(std::string)> log);
  virtual ~reconciler() = default;
  reconciler(const reconciler&) = delete;
  reconciler& operator=(const reconciler&) = delete;
  /// Runs until cancelled.
  boost::asio::awaitable<void> run();
  /// Where it tells of what happens to objects; nowhere until this is called.
  void tell_by(teller tell) {
    tell_ = std::move(tell);
  }

protected:
  struct outcome {
    bool done = true;                                      // false: to be tried again
    std::optional<time_source::clock::duration> revisit{}; // when done: look again after so long, a day at most
  };
  virtual boost::asio::awaitable<outcome> pass(std::string key) = 0;
  void look_at(std::string key);
  /// Logs what is wrong with a key; the same text again only after another one or after a pass that is done.
  void complain(const std::string& key, const std::string& text);

  void tell(const nlohmann::json& subject, happening what) const {
    if (tell_)
      tell_(subject, std::move(what));
  }

private:
  boost::asio::awaitable<outcome> careful_pass(std::string key);
  [[nodiscard]] bool listed() const;
  void lists_taken();

  std::vector<informer*> needs_;
  std::set<std::string> early_; // what has changed before the lists are taken
  work_queue queue_;
  std::map<std::string, back_off> waits_;
  std::map<std::string, std::string> said_;
  std::function<void(std::string)> log_;
  teller tell_;
};

/// `namespace/name`.
[[nodiscard]] std::string key_of(const nlohmann::json& object);
/// The namespace and name of such a key.
[[nodiscard]] std::pair<std::string, std::string> split_key(const std::string& key);

} // namespace paddock::embedded
