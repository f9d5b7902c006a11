#pragma once

#include <string>

namespace paddock {

/// `paddock-cluster kubelet` and `paddock-cluster controllers`: the same code as in the embedded cluster, for an API server
/// that a kubeconfig names.
struct agent_command {
  std::string kubeconfig;
  std::string context; // empty: the current one
  std::string node;    // of the kubelet; empty: this machine's name
  std::string data_dir;
  std::string guest;
  std::string run;  // of the controllers: their names with commas between; `all`; empty: those beside a controller manager
  std::string home; // the namespace of the claim controller's configuration
  bool quiet = false;
};

/// Runs it until a signal; answers the exit code.
int run_kubelet(const agent_command& given);
int run_controllers(const agent_command& given);

} // namespace paddock
