#pragma once

#include <csignal>

namespace paddock {

/// Has SIGCHLD do what it does by default. For a program that starts others: inherited as ignored, the kernel forgets how a
/// child ended, and nobody can wait for it.
inline void see_children_end() {
  ::signal(SIGCHLD, SIG_DFL);
}

} // namespace paddock
