"""The API server that `realcluster/up` or `clusters.embedded_cluster` started, as its administrator."""
import json, os, ssl, urllib.error, urllib.request


def api(method, path, body=None, kind="application/json"):
    """One request as the administrator; the answer, or None for 404. A body that is a text goes as it is."""
    data = body if body is None or isinstance(body, str) else json.dumps(body)
    request = urllib.request.Request(os.environ["KUBE_SERVER"] + path, method=method, data=data and data.encode())
    request.add_header("Authorization", "Bearer " + os.environ["KUBE_TOKEN"])
    request.add_header("Content-Type", kind)
    try:
        with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=os.environ["KUBE_CA"]), timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as why:
        if why.code == 404:
            return None
        raise AssertionError(f"{method} {path}: {why.code} {why.read().decode()}")
