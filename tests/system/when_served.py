#!/usr/bin/env python3
"""when_served.py COMMAND...: runs the command once the API server of `realcluster/up` serves every custom resource it has been given.

For a moment after a CustomResourceDefinition is made a real server answers its resources with 404 or with 429 "storage is
(re)initializing", which is not what the tests are about."""
import os, pathlib, sys, time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from real_api import api  # noqa: E402

BOUND = 30


def served(path):
    try:
        return api("GET", path) is not None
    except AssertionError:
        return False


end = time.monotonic() + BOUND
for definition in api("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")["items"]:
    spec = definition["spec"]
    for version in (x["name"] for x in spec["versions"] if x["served"] and x["storage"]):
        path = f"/apis/{spec['group']}/{version}/{spec['names']['plural']}?limit=1"
        while not served(path):
            if time.monotonic() > end:
                sys.exit(f"when_served: {path} is not served within {BOUND} s")
            time.sleep(0.05)  # between two looks at a fact, never instead of one
os.execvp(sys.argv[1], sys.argv[1:])
