#pragma once

#include "base/tagged.hpp"

namespace paddock {

/// `metadata.uid` of a Sandbox: which object, as opposed to which name.
using sandbox_uid = tagged<struct sandbox_uid_tag>;

/// `metadata.uid` of a PersistentVolumeClaim.
using claim_uid = tagged<struct claim_uid_tag>;

} // namespace paddock
