#!/usr/bin/env python3
"""The pages below docs/ beside the programs: what `-o json` prints, which options an advice names, which tests a promise names."""
from clusters import *
from pages import DOCS, documents, names
from real_api import api

ID = "desk"
# What only another end of a command, or of a session, has.
RARE = {"signal", "exitCode", "timedOut", "lastInputAt", "lastOutputAt"}


class Documents(SystemTest):
    def printed(self, node):
        """Verb -> its document, of every verb that docs/json.md has but those of `policy`."""
        out = {}

        def say(verb, *words):
            out[verb] = node.json(*verb.split(), *words)
            return out[verb]

        say("open", ID)
        say("ls")
        say("identity", ID)
        running = say("exec --detach", ID, "--", "sleep", "1000")["executionId"]
        say("cancel", ID, running)
        self.good(node.run("cp", "-", f"{ID}:a", input=b"a"))
        ends = [node.json("sessions", ID, "--start", "s", "--", "sleep", "1000")]
        out["sessions"] = node.json("sessions", ID) + ends
        ends.append(node.json("sessions", ID, "--kill", "s"))
        out["sessions"] += ends
        self.good(node.run("exec", ID, "--detach", "--", "sleep", "1000"))
        self.assertEqual(set(say("quiesce", ID)["stopped"][0]), {"pid", "command", "signal"})
        say("flush", ID)
        pod = api("GET", f"{CORE}/pods/namzu-ws-{ID}")
        with tempfile.NamedTemporaryFile("w") as token:
            token.write(pod["metadata"]["uid"])
            token.flush()
            for words in (["health"], ["ls", "."], ["walk", "."]):
                got = subprocess.run([BIN / "paddock", "-o", "json", "guest", "--address", f"{pod['status']['podIP']}:1024", "--token-file",
                                      token.name, "--walker", BIN / "paddock-guest", *words], capture_output=True, timeout=BOUND)
                out["guest " + words[0]] = json.loads(self.good(got))
        api("PATCH", f"{AGENTS}/sandboxes/namzu-ws-{ID}", {"spec": {"operatingMode": "Suspended"}}, "application/merge-patch+json")
        say("refresh", ID)
        self.assertEqual([x["event"] for x in say("events", ID)], ["suspended-elsewhere"])
        say("resume", ID)
        say("get", ID)
        say("suspend", ID)
        uid = out["open"]["sandboxUid"]
        api("PATCH", f"{AGENTS}/sandboxes/namzu-ws-{ID}", {"metadata": {"annotations": {"sandbox.namzu.ai/holder-epoch": "latest"}}},
            "application/merge-patch+json")
        say("reset-epoch", ID, "--stored", "latest", "--uid", uid)
        say("rm", ID, "--delete-disk")
        api("POST", f"{EXTENSIONS}/sandboxwarmpools", {"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxWarmPool",
                                                       "metadata": {"name": "p"}, "spec": {"replicas": 0, "sandboxTemplateRef": {"name": "default"}}})
        say("task capacity", "--pool", "p")
        say("task release", "host=none")
        say("nodes")
        say("version")
        return out

    def test_what_is_printed_is_what_the_page_says(self):
        said = documents()
        with embedded_cluster(), host() as node:
            printed = self.printed(node)
            error = json.loads(node.run("-o", "json", "get", ID).stderr)
        with Node() as node:  # whose guests see the files of this machine
            self.good(node.run("open", ID))
            self.good(node.run("cp", "-", f"{ID}:a", input=b"a"))
            printed["ls-files"] = node.json("ls-files", f"{ID}:.")
        self.assertEqual(set(error), {"reason", "message", "details"})
        self.assertEqual(set(printed), {x for x in said if not x.startswith("policy ")})
        for verb, document in printed.items():
            members = {x for one in (document if isinstance(document, list) else [document]) for x in one}
            self.assertLessEqual(members, said[verb], verb)
        everything = {x for document in printed.values() for one in (document if isinstance(document, list) else [document]) for x in one}
        for verb in ("get", "sessions", "cancel", "ls-files", "rm", "flush", "nodes", "version", "guest health"):
            promised = {x for x in said[verb] if re.fullmatch(r"[a-z][A-Za-z]+", x)} - RARE
            self.assertEqual(promised - everything - {"terminal", "detached", "running", "exited", "suspending", "resuming"}, set(), verb)


class Advice(SystemTest):
    def test_every_option_that_an_advice_names_is_there(self):
        def helped(program, *verb):
            return subprocess.run([BIN / program, *verb, "--help"], capture_output=True, timeout=BOUND, check=True).stdout.decode()

        verbs = re.findall(r"^  ([a-z][a-z-]+)  ", helped("paddock").split("Subcommands:")[1], re.MULTILINE)
        self.assertGreater(len(verbs), 20)
        known = set(re.findall(r"--[a-z][a-z-]*", "".join([helped("paddockd"), helped("paddock"), *(helped("paddock", x) for x in verbs)])))
        named = {x for text in names((DOCS / "errors.md").read_text()) for x in re.findall(r"--[a-z][a-z-]*", text)}
        self.assertTrue(named)
        self.assertEqual(named - known, set())


class Guarantees(SystemTest):
    def test_every_test_that_the_page_names_is_there(self):
        named = {x for x in names((DOCS / "guarantees.md").read_text()) if x.startswith("tests/")}
        self.assertTrue(named)
        self.assertEqual([x for x in sorted(named) if not (DOCS.parent / x).is_file()], [])


if __name__ == "__main__":
    main()
