"""The clusters that a system test runs hosts beside: our own, in one program, or our kubelet and controllers on a real API server. In both
`real_api.api` speaks to it as its administrator."""
import base64, re, unittest.mock

from harness import *

CORE = "/api/v1/namespaces/default"
AGENTS = "/apis/agents.x-k8s.io/v1beta1/namespaces/default"
EXTENSIONS = "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default"
TOKEN_FROM_UID = [{"name": "NAMZU_AGENT_BIND_TOKEN", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}]
AGENT = {"name": "agent", "image": "none", "ports": [{"containerPort": 1024}], "env": TOKEN_FROM_UID}


def template(name, **spec):
    return {"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxTemplate", "metadata": {"name": name},
            "spec": {"podTemplate": {"spec": {"terminationGracePeriodSeconds": 5, "containers": [AGENT]}}, **spec}}


def workspace_template():
    made = template("default", networkPolicyManagement="Unmanaged")
    made["spec"]["podTemplate"]["spec"]["containers"] = [{**AGENT, "volumeDevices": [{"name": "workspace", "devicePath": "/dev/workspace"}]}]
    made["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "workspace"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "volumeMode": "Block", "resources": {"requests": {"storage": "1Gi"}}}}]
    return made


class Agent:
    """paddock-cluster kubelet or controllers. A context manager."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def __enter__(self):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([BIN / "paddock-cluster", *self.arguments, "--kubeconfig", os.environ["KUBECONFIG"], "--context", "admin"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log)
        if self.process.stdout.readline() != b"ready\n":
            raise AssertionError(f"{self.arguments}: {self.read_log()}")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(15)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.log.close()

    def read_log(self):
        self.log.seek(0)
        return self.log.read()


def host(kubeconfig=None, **options):
    """A node beside the cluster, where no policy closes the port of agents; `kubeconfig`: beside what stands before it. `_` in the name of
    an option is `-`."""
    return Node(config={"kubeconfig": str(kubeconfig or os.environ["KUBECONFIG"]), "agent-address": "pod-ip", "ingress": "unverified",
                        "ready-timeout": "30s", **{name.replace("_", "-"): value for name, value in options.items()}})


@contextlib.contextmanager
def embedded_cluster(*arguments):
    """paddock-cluster with everything in it. What `realcluster/up` says in the environment is said of this one, as long as it runs."""
    with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
        kubeconfig, ca = pathlib.Path(folder) / "kubeconfig", pathlib.Path(folder) / "ca.pem"
        with open(pathlib.Path(folder) / "log", "w") as log:
            process = subprocess.Popen([BIN / "paddock-cluster", "--kubeconfig-out", kubeconfig, *arguments], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=log)
            try:
                if not process.stdout.readline().startswith(b"ready "):
                    raise AssertionError(pathlib.Path(log.name).read_text())
                text = kubeconfig.read_text()
                ca.write_bytes(base64.b64decode(re.search(r'certificate-authority-data: "(.*)"', text)[1]))
                with unittest.mock.patch.dict(os.environ, KUBECONFIG=str(kubeconfig), KUBE_CA=str(ca),
                                              KUBE_SERVER=re.search(r'server: "(.*)"', text)[1],
                                              KUBE_TOKEN=re.search(r'token: "(.*)"', text)[1]):
                    yield
            finally:
                process.terminate()
                process.wait(BOUND)
                process.stdout.close()


@contextlib.contextmanager
def real_cluster():
    """Our kubelet and controllers on the API server that `realcluster/up` has started, and the template `default`."""
    from real_api import api
    with tempfile.TemporaryDirectory(prefix="paddock-test-") as data, Agent("kubelet", "--node", "node-a", "--data-dir", data), Agent("controllers"):
        api("POST", f"{EXTENSIONS}/sandboxtemplates", workspace_template())
        yield
