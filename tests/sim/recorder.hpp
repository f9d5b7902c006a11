#pragma once

#include "tests/sim/network.hpp"
#include "workspace/ports.hpp"

namespace paddock::sim {

/// Stands between a WORKSPACE and the flows of its verbs: shows the judge each verb and its end, and lets a planted bug change
/// what goes in and out. Nobody resets or stamps an epoch or refreshes here: those go through unseen.
class recorder final : public workspace::transitions_port {
public:
  recorder(workspace::transitions_port& to, place& at, std::uint64_t& orders) : to_(to), at_(at), orders_(orders) {
  }
  void open(workspace::ticket name, workspace::id which, workspace::open_options how, workspace::session before, deadline until,
            then<workspace::opened> to) override;
  void take_up(workspace::ticket name, workspace::id which, workspace::session before, deadline until, then<workspace::done> to) override;
  void suspend(workspace::ticket name, workspace::id which, workspace::suspend_options how, workspace::session before, deadline until,
               then<workspace::done> to) override;
  void resume(workspace::ticket name, workspace::id which, workspace::open_options how, workspace::session before, deadline until,
              then<workspace::opened> to) override;
  void remove(workspace::ticket name, workspace::id which, workspace::remove_options how, workspace::session before, deadline until,
              then<workspace::done> to) override;
  void reset_epoch(workspace::ticket name, workspace::id which, workspace::epoch_reset what, workspace::session before, deadline until,
                   then<workspace::done> to) override;
  void stamp(workspace::ticket name, workspace::id which, workspace::session before, deadline until, then<workspace::stamped> to) override;
  void refresh(workspace::ticket name, workspace::id which, workspace::session before, deadline until, then<workspace::done> to) override;
  void reread(workspace::ticket name, workspace::id which, workspace::session now, deadline until,
              std::function<void(workspace::result<std::optional<workspace::found_pod>>)> to) override;
  void explain(workspace::ticket name, workspace::id which, std::string operation, workspace::session before, workspace::failure original,
               deadline until, then<workspace::done> to) override;
  void cancel(workspace::ticket name) override;
  void saw(workspace::ticket name, k8s::sighting x) override;

private:
  shared_verb begin(verb_kind kind, workspace::session& before, deadline& until);
  /// From now on something is read beside the verbs.
  void look();
  template <class T>
  then<T> ending(shared_verb x, workspace::id which, then<T> to);
  /// Whether a planted bug answers in the place of the flow.
  template <class T>
  bool answered(const shared_verb& x, const workspace::session& before, const then<T>& to, T with);

  workspace::transitions_port& to_;
  place& at_;
  std::uint64_t& orders_; // of the slot
  int looking_ = 0;       // reads beside the verbs
};

} // namespace paddock::sim
