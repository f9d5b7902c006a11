#!/usr/bin/env python3
"""paddock-cluster --data-dir on a disk that is full. It wants to mount one: skipped where nobody may."""
import durability_test
from harness import *


class FullDisk(SystemTest):
    def test_a_full_disk_refuses_writes_and_keeps_what_there_is(self):
        with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
            if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], capture_output=True).returncode != 0:
                self.skipTest("no file system can be mounted here")
            try:
                kept = []
                with durability_test.Cluster(folder) as cluster:
                    while True:
                        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{len(kept)}"}, "data": {"text": "x" * 100_000}}
                        status, answer = cluster.call("POST", durability_test.MAPS, body)
                        if status != 201:
                            break
                        kept.append(body["metadata"]["name"])
                    self.assertEqual(status, 500)
                    self.assertIn("full", answer["message"])
                    self.assertGreater(len(kept), 3)
                    self.assertEqual(cluster.call("GET", f"{durability_test.MAPS}/{kept[-1]}")[0], 200)
                    self.assertEqual(cluster.call("GET", f"{durability_test.MAPS}/m{len(kept)}")[0], 404)
                    cluster.kill()
                subprocess.run(["mount", "-o", "remount,size=12m", folder], check=True)
                with durability_test.Cluster(folder) as cluster:
                    self.assertEqual([x["metadata"]["name"] for x in cluster.call("GET", durability_test.MAPS)[1]["items"] if x["metadata"]["name"] in kept], sorted(kept))
                    self.assertEqual(cluster.call("POST", durability_test.MAPS, body)[0], 201)
            finally:
                subprocess.run(["umount", "-l", folder], check=True)


if __name__ == "__main__":
    main()
