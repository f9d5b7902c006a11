#!/usr/bin/env python3
"""kubectl against the embedded cluster: who am I, may I, roles and bindings, the fence that is shipped, and what a policy says that cannot
be evaluated."""
import contextlib, json, os, pathlib, shutil, subprocess, sys, tempfile, unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "system"))
from harness import BIN, wait_for  # noqa: E402

DEPLOY = pathlib.Path(__file__).parents[2] / "deploy" / "egress"
KUBECTL = os.environ.get("PADDOCK_KUBECTL") or shutil.which("kubectl")


@contextlib.contextmanager
def cluster():
    with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
        kubeconfig = pathlib.Path(folder) / "kubeconfig"
        server = subprocess.Popen([BIN / "paddock-cluster", "--listen", "127.0.0.1:0", "--kubeconfig-out", kubeconfig, "--quiet"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            wait_for("the kubeconfig", lambda: server.poll() is not None or kubeconfig.exists() and kubeconfig.read_text().endswith("\n"))
            yield kubeconfig
        finally:
            server.terminate()
            server.communicate(timeout=20)


@unittest.skipUnless(KUBECTL, "there is no kubectl on this machine")
class Operators(unittest.TestCase):
    def run_in(self, kubeconfig, *words, fails=False, stdin=None):
        got = subprocess.run([KUBECTL, "--kubeconfig", kubeconfig, "--cache-dir", kubeconfig.parent / "cache", *words], input=stdin,
                             capture_output=True, text=True, timeout=60)
        self.assertEqual(got.returncode != 0, fails, f"kubectl {' '.join(words)}: {got.stdout}{got.stderr}")
        return (got.stdout + got.stderr).strip()

    def ask(self, kubeconfig, path, what):
        """The answer to what is created only to ask something."""
        return json.loads(self.run_in(kubeconfig, "create", "--raw", path, "-f", "-", stdin=json.dumps(what)))["status"]

    def test_the_kubeconfig_is_an_administrators(self):
        with cluster() as kubeconfig:
            me = self.ask(kubeconfig, "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                          {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"})
            self.assertEqual(me["userInfo"]["groups"], ["system:masters", "system:authenticated"])
            anything = {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
                        "spec": {"resourceAttributes": {"verb": "*", "group": "*", "resource": "*"}}}
            self.assertEqual(self.ask(kubeconfig, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", anything), {"allowed": True})

    def test_a_wrong_token_is_nobodys(self):
        with cluster() as kubeconfig:
            told = self.run_in(kubeconfig, "--token=wrong", "get", "--raw", "/api/v1/namespaces/default/pods", fails=True)
            self.assertIn("You must be logged in to the server", told)

    def test_roles_and_bindings_are_made_and_read(self):
        with cluster() as kubeconfig:
            role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "reader"},
                    "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]}
            binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "reader"},
                       "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
                       "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann"}]}
            for one in (role, binding):
                self.run_in(kubeconfig, "create", "--validate=false", "-f", "-", stdin=json.dumps(one))
            review = {"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
                      "spec": {"user": "ann", "resourceAttributes": {"verb": "list", "resource": "pods", "namespace": "default"}}}
            self.assertEqual(self.ask(kubeconfig, "/apis/authorization.k8s.io/v1/subjectaccessreviews", review),
                             {"allowed": True, "reason": 'RBAC: allowed by RoleBinding "reader/default" of Role "reader" to User "ann"'})
            self.assertIn("rolebinding.rbac.authorization.k8s.io/reader", self.run_in(kubeconfig, "get", "rolebindings", "-o", "name"))
            self.assertIn("clusterrole.rbac.authorization.k8s.io/cluster-admin", self.run_in(kubeconfig, "get", "clusterroles", "-o", "name"))

    def test_the_shipped_fence_is_taken_and_says_that_it_can_be_evaluated(self):
        with cluster() as kubeconfig:
            self.run_in(kubeconfig, "create", "namespace", "platform")
            for file in ("fence.yaml", "permitted-hosts.yaml"):
                self.run_in(kubeconfig, "create", "--validate=false", "-f", str(DEPLOY / file))
            for policy in ("namzu-per-sandbox-egress", "namzu-per-sandbox-egress-hosts"):
                read = json.loads(self.run_in(kubeconfig, "get", "validatingadmissionpolicies", policy, "-o", "json"))
                self.assertEqual(read["status"], {"observedGeneration": 1, "typeChecking": {}})

    def test_a_policy_that_cannot_be_evaluated_says_so_and_refuses(self):
        with cluster() as kubeconfig:
            policy = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "sizes"},
                      "spec": {"matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                                                                       "resources": ["configmaps"]}]},
                               "validations": [{"expression": "quantity(object.data.size).isLessThan(quantity('1Gi'))"}]}}
            binding = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
                       "metadata": {"name": "sizes"}, "spec": {"policyName": "sizes", "validationActions": ["Deny"]}}
            for one in (policy, binding):
                self.run_in(kubeconfig, "create", "--validate=false", "-f", "-", stdin=json.dumps(one))
            read = json.loads(self.run_in(kubeconfig, "get", "validatingadmissionpolicies", "sizes", "-o", "json"))
            warning, = read["status"]["typeChecking"]["expressionWarnings"]
            self.assertEqual(warning["fieldRef"], "spec.validations[0].expression")
            self.assertIn("outside the supported subset", warning["warning"])
            sized = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"size": "1Mi"}}
            told = self.run_in(kubeconfig, "create", "--validate=false", "-f", "-", stdin=json.dumps(sized), fails=True)
            self.assertIn("ValidatingAdmissionPolicy 'sizes' with binding 'sizes' denied request: expression "
                          "'quantity(object.data.size).isLessThan(quantity('1Gi'))' resulted in error: ", told)


if __name__ == "__main__":
    unittest.main()
