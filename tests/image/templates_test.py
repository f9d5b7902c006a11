#!/usr/bin/env python3
"""The pod templates of deploy/image before a real kube-apiserver: run it by `realcluster/up --agent-sandbox -- this`. Nothing is
kept: every write is a dry run of the server, with all its defaults, validation and admission."""
import json, pathlib, subprocess, unittest

IMAGE = pathlib.Path(__file__).resolve().parents[2] / "deploy/image"


def kubectl(*arguments, given=None):
    return subprocess.run(["kubectl", *arguments], input=given, capture_output=True, text=True, timeout=60)


class Templates(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        # What `restricted` would refuse is what this namespace refuses.
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        name = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "restricted", "labels": labels}}
        self.good(kubectl("apply", "-f", "-", given=json.dumps(name)))

    def good(self, got):
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertNotIn("unknown field", got.stderr)
        return got.stdout

    def template(self, name):
        """The template as the server would keep it."""
        return json.loads(self.good(kubectl("apply", "--dry-run=server", "--validate=strict", "-o", "json", "-f", str(IMAGE / name))))

    def pod(self, template, namespace):
        """The answer to a pod of this template."""
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {**template["spec"]["podTemplate"]["metadata"], "name": "one"},
                "spec": json.loads(json.dumps(template["spec"]["podTemplate"]["spec"]))}
        claims = template["spec"].get("volumeClaimTemplates", [])
        if claims:
            body["spec"]["volumes"] = [{"name": x["metadata"]["name"], "persistentVolumeClaim": {"claimName": x["metadata"]["name"]}} for x in claims]
        for claim in claims:
            whole = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **claim}
            self.good(kubectl("create", "--dry-run=server", "--validate=strict", "-n", namespace, "-f", "-", given=json.dumps(whole)))
        return kubectl("create", "--dry-run=server", "--validate=strict", "-o", "json", "-n", namespace, "-f", "-", given=json.dumps(body))

    def common(self, spec):
        (agent,) = spec["containers"]
        self.assertEqual(agent["ports"], [{"name": "agent", "containerPort": 1024, "protocol": "TCP"}])
        self.assertEqual(agent["resources"], {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}})
        env = {x["name"]: x.get("value", x.get("valueFrom")) for x in agent["env"]}
        self.assertEqual(env["NAMZU_AGENT_TCP_PORT"], "1024")
        self.assertEqual(env["NAMZU_AGENT_BIND_TOKEN"]["fieldRef"]["fieldPath"], "metadata.uid")
        self.assertEqual(env["NAMZU_WORKSPACE_ROOT"], "/workspace")
        return agent, env

    def test_a_task_is_unprivileged_and_the_strictest_namespace_takes_it(self):
        spec = json.loads(self.good(self.pod(self.template("pod-task.yaml"), "restricted")))["spec"]
        agent, env = self.common(spec)
        self.assertEqual((spec["terminationGracePeriodSeconds"], agent.get("lifecycle")), (5, None))
        who = spec["securityContext"]
        self.assertEqual([who[x] for x in ("runAsUser", "runAsGroup", "runAsNonRoot", "seccompProfile")], [1001, 1001, True, {"type": "RuntimeDefault"}])
        self.assertEqual(agent["securityContext"], {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}})
        self.assertNotIn("NAMZU_WORKSPACE_DEVICE", env)
        self.assertEqual([x["mountPath"] for x in agent["volumeMounts"]], ["/workspace"])

    def test_a_workspace_starts_privileged_on_a_block_device(self):
        template = self.template("pod-workspace.yaml")
        (claim,) = template["spec"]["volumeClaimTemplates"]
        self.assertEqual((claim["spec"]["volumeMode"], claim["spec"]["accessModes"]), ("Block", ["ReadWriteOnce"]))
        spec = json.loads(self.good(self.pod(template, "default")))["spec"]
        agent, env = self.common(spec)
        self.assertEqual(spec["terminationGracePeriodSeconds"], 30)
        self.assertEqual(agent["securityContext"], {"privileged": True, "runAsUser": 0, "runAsGroup": 0})
        self.assertEqual(agent["lifecycle"], {"preStop": {"exec": {"command": ["/usr/local/bin/paddock-entrypoint", "prestop"]}}})
        self.assertEqual(agent["volumeDevices"], [{"name": claim["metadata"]["name"], "devicePath": "/dev/namzu-workspace"}])
        self.assertEqual(env["NAMZU_WORKSPACE_DEVICE"], "/dev/namzu-workspace")
        # It is told apart: what a task's namespace takes, a workspace is not.
        refused = self.pod(template, "restricted")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("privileged", refused.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
