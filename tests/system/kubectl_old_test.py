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

    # It shows them always.
    def test_managers_are_shown_where_that_is_asked_for(self):
        self.k("create", "configmap", "c", "--from-literal=a=b")
        self.assertIn("manager: kubectl-create", self.k("get", "configmap", "c", "-o", "yaml"))

    # It leaves its own entry where it is.
    def test_apply_by_the_server_takes_over_from_kubectl(self):
        self.k("apply", "-f", "-", stdin=kubectl_test.CONFIG % "red")
        self.k("apply", "--server-side", "-f", "-", stdin=kubectl_test.CONFIG % "blue")
        self.assertEqual(self.read("configmap", "settings")["data"], {"colour": "blue"})

    # It explains from /openapi/v2, and checks fields by it.
    def test_explain(self):
        self.k("explain", "sandbox.spec", fails=True)

    def test_fields_are_checked_before_anything_is_made(self):
        wrong = kubectl_test.SANDBOX.replace("{name: main,", "{nonsense: 1, name: main,")
        self.assertIn("Warning: unknown field", self.k("create", "-f", "-", stdin=wrong))


if __name__ == "__main__":
    unittest.main()
