#!/usr/bin/env python3
"""The tests of kubectl with the one of Debian 12, which is 1.20. Ends with 77 when that is not there: scripts/setup unpacks it."""
import json, os, pathlib, sys, unittest

OLD = pathlib.Path(os.environ["PADDOCK_OLD_KUBECTL"])
if not OLD.exists():
    print(f"there is no {OLD}")
    sys.exit(77)
os.environ["PADDOCK_KUBECTL"] = str(OLD)

import kubectl_test  # noqa: E402
from harness import wait_for  # noqa: E402


class OldKubectl(kubectl_test.Kubectl):
    newer = False

    def test_it_is_the_old_one(self):
        self.assertTrue(json.loads(self.k("version", "-o", "json"))["clientVersion"]["gitVersion"].startswith("v1.20."))

    # It takes what has gone already for a mistake.
    def gone(self, what):
        wait_for(f"{what} has gone", lambda: self.k("get", what, "--ignore-not-found") == "")

    # It has no command for tokens.
    def token(self, account):
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        got = self.k("create", "--raw", f"/api/v1/namespaces/{self.space}/serviceaccounts/{account}/token", "-f", "-", stdin=json.dumps(asked))
        return json.loads(got)["status"]["token"]

    # It looks in /openapi/v2 whether a kind can be tried, and nothing is described there.
    def test_diff_and_dry_run(self):
        self.assertIn("doesn't support dry-run", self.k("diff", "-f", "-", stdin=kubectl_test.CONFIG % "red", fails=True))
        self.assertIn("doesn't support dry-run", self.k("apply", "--dry-run=server", "-f", "-", stdin=kubectl_test.CONFIG % "red", fails=True))


if __name__ == "__main__":
    unittest.main()
