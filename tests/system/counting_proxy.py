"""A proxy in front of the API server for one host: it counts what the verbs of that host ask, and can have the host die at one request."""
import http.client, http.server, json, os, pathlib, ssl, tempfile, threading, urllib.parse


class CountingProxy:
    """Speaks plain HTTP to the host and TLS, as the administrator, to the server. What the host's WATCH asks passes and does not count.
    `instead` gives what the host is told in place of an answer's content. A context manager."""

    def __init__(self, instead=lambda content: content):
        self.instead = instead
        self.lock = threading.Lock()
        self.requests = []  # of the verbs, such as `PATCH sandbox`, since `arm`
        self.fatal, self.over, self.written = None, False, False
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def relay(self):
                proxy.relay(self)

            do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = relay

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="paddock-test-")
        self.kubeconfig = pathlib.Path(self.folder.name) / "kubeconfig"
        url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "proxy", "clusters": [{"name": "proxy", "cluster": {"server": url}}],
            "users": [{"name": "nobody", "user": {}}], "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": "nobody"}}]}))
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
        self.folder.cleanup()

    def arm(self, fatal=None, applied=False, die=None):
        """Counts from here on. At request number `fatal` (from 0) calls `die`: before the server sees it, or once the server has answered
        and before the host hears of it. From then on nothing passes."""
        with self.lock:
            self.requests, self.fatal, self.applied, self.die, self.over, self.written = [], fatal, applied, die, False, False

    def point(self):
        """Where the host died, such that deaths at one point leave the same behind: the reads after a verb's write are one."""
        if not self.over:
            return "once it is answered"
        last = self.requests[self.fatal]
        if not self.written:
            return f"before `{last}`"
        return f"after `{last}`, unanswered" if self.applied else "while it waits"

    def relay(self, client):
        client.close_connection = True
        body = client.rfile.read(int(client.headers.get("Content-Length", 0)))
        url = urllib.parse.urlsplit(client.path)
        parts = url.path.strip("/").split("/")
        of_watch = client.command == "GET" and parts[-1] == "sandboxes"
        with self.lock:
            if self.over:
                return
            fatal = not of_watch and self.fatal == len(self.requests)
            if not of_watch:
                self.requests.append(f"{client.command} {kind_of(parts, client.command)}")
            if fatal and not self.applied:
                self.end()
            if self.over:
                return
        server = urllib.parse.urlsplit(os.environ["KUBE_SERVER"])
        upstream = http.client.HTTPSConnection(server.hostname, server.port, timeout=120,
                                               context=ssl.create_default_context(cafile=os.environ["KUBE_CA"]))
        try:
            headers = {k: v for k, v in client.headers.items() if k.lower() not in ("host", "connection", "authorization")}
            upstream.request(client.command, client.path, body or None, {**headers, "Authorization": "Bearer " + os.environ["KUBE_TOKEN"]})
            answer = upstream.getresponse()
            if "watch=" in url.query:
                self.stream(client, answer)
                return
            content = self.instead(answer.read())
            with self.lock:
                self.written = self.written or client.command != "GET" and answer.status < 300
                if fatal:
                    self.end()
                if self.over:
                    return
            client.send_response(answer.status)
            for name in ("Content-Type", "Retry-After"):
                if answer.headers[name]:
                    client.send_header(name, answer.headers[name])
            client.send_header("Content-Length", str(len(content)))
            client.send_header("Connection", "close")
            client.end_headers()
            client.wfile.write(content)
        except (OSError, http.client.HTTPException):
            pass  # the host is gone, or the cluster is
        finally:
            upstream.close()

    def end(self):
        self.over = True
        self.die()

    @staticmethod
    def stream(client, answer):
        client.send_response(answer.status)
        client.send_header("Content-Type", answer.headers["Content-Type"])
        client.send_header("Connection", "close")
        client.end_headers()
        while piece := answer.read1(65536):
            client.wfile.write(piece)
            client.wfile.flush()


def kind_of(parts, method):
    """`sandbox` of the path of one, `pods` of that of all; a POST makes one."""
    kind, *name = parts[parts.index("namespaces") + 2:]
    one = {"sandboxes": "sandbox", "sandboxtemplates": "template", "pods": "pod", "persistentvolumeclaims": "claim"}.get(kind, kind)
    return one if name or method == "POST" else kind

